"""Operations: a backup of SQL Server, as a script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Step
from hourhand.operations.failures import Refused
from hourhand.operations.quoting import literal, quoted


def script_steps(config: Mapping[str, Any], database: str) -> list[Step]:
    """Written with checksums, and read back; the file's name has the moment at which the script is run."""
    if config["verify_restore"]:
        raise Refused("a trial restore needs the names of the backup's files: do it by hand", field="verify_restore")
    name = quoted(Dialect.SQLSERVER, database)
    folder = config["output_dir"]
    separator = "\\" if "\\" in folder else "/"
    start = literal(Dialect.SQLSERVER, f"{folder.rstrip(separator)}{separator}{database}-")
    start = start if start.startswith("N") else f"N{start}"
    packed = "NO_COMPRESSION" if config["compression"] == "none" else "COMPRESSION"
    return [
        Step(
            name=f"back {database} up, and read it back: one batch",
            phase="dump",
            sql=(
                f"DECLARE @file nvarchar(1000) = {start} + FORMAT(SYSUTCDATETIME(), 'yyyyMMddTHHmmssZ') + N'.bak';",
                f"BACKUP DATABASE {name} TO DISK = @file WITH CHECKSUM, COPY_ONLY, FORMAT, INIT, {packed}, STATS = 10;",
                "RESTORE VERIFYONLY FROM DISK = @file WITH CHECKSUM;",
            ),
            duration=Duration.BY_SIZE,
            transaction=False,
        )
    ]
