"""Operations: a table's columns and rows as Arrow has them, and the text of CSV in between.

What Arrow has no exact type for is kept as the database writes it, as text: nothing is ever rounded.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from hourhand.model.data_source import Dialect
from hourhand.operations.failures import Refused

_TYPE = re.compile(r"([a-z0-9_ ]+?)\s*(?:\(\s*(\d+)\s*(?:,\s*(-?\d+)\s*)?\))?((?: [a-z ]+)?)")
_LONGEST_DECIMAL = 76
_LONGEST_SHORT_DECIMAL = 38
_POSTGRESQL = {
    "smallint": "int16", "integer": "int32", "bigint": "int64", "numeric": "decimal", "real": "float32",
    "double precision": "float64", "boolean": "bool", "date": "date", "timestamp without time zone": "timestamp",
    "timestamp with time zone": "timestamptz", "time without time zone": "time", "bytea": "bytes", "uuid": "uuid",
    "json": "json", "jsonb": "json", "text": "text", "character varying": "text", "character": "text",
}  # fmt: skip
_MARIADB = {
    "tinyint": "int16", "smallint": "int32", "mediumint": "int32", "int": "int64", "bigint": "int64", "year": "int16",
    "decimal": "decimal", "float": "float32", "double": "float64", "date": "date", "datetime": "timestamp",
    "timestamp": "timestamptz", "time": "interval", "uuid": "uuid", "json": "json", "char": "text", "varchar": "text",
    "tinytext": "text", "text": "text", "mediumtext": "text", "longtext": "text", "enum": "text", "set": "text",
    "inet4": "text", "inet6": "text", "binary": "bytes", "varbinary": "bytes", "tinyblob": "bytes", "blob": "bytes",
    "mediumblob": "bytes", "longblob": "bytes", "bit": "uint64",
}  # fmt: skip
_ARROW = {
    "int16": pa.int16(), "int32": pa.int32(), "int64": pa.int64(), "uint64": pa.uint64(), "float32": pa.float32(),
    "float64": pa.float64(), "bool": pa.bool_(), "date": pa.date32(), "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", tz="UTC"), "time": pa.time64("us"), "bytes": pa.binary(),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a column's values are kept."""

    name: str
    form: str
    """`int64`, `decimal`, `timestamptz`, `text` …; `other`: as the database writes it."""
    precision: int | None = None
    scale: int = 0

    @property
    def arrow(self) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Its type in Arrow."""
        if self.form == "decimal":
            return (pa.decimal128 if (self.precision or 0) <= _LONGEST_SHORT_DECIMAL else pa.decimal256)(
                self.precision, self.scale
            )
        return _ARROW.get(self.form, pa.string())


def form_of(dialect: Dialect, name: str, type_: str) -> Form:
    """The form of a column, by its type as the database writes it."""
    if dialect is Dialect.SQLITE:
        return _sqlite_form(name, type_)
    given = _TYPE.fullmatch(type_.lower())
    if given is None:
        return Form(name=name, form="other")
    base, tail = given[1], given[4].strip()
    if dialect is Dialect.POSTGRESQL:
        form = _POSTGRESQL.get(f"{base} {tail}".strip(), "other")
    else:
        form = _MARIADB.get(base, "other")
        if "unsigned" in tail and base in ("int", "bigint"):
            form = "uint64" if base == "bigint" else "int64"
    if form != "decimal":
        return Form(name=name, form=form)
    precision, scale = int(given[2] or 0), int(given[3] or 0)
    if not 0 < precision <= _LONGEST_DECIMAL or not 0 <= scale <= precision:
        return Form(name=name, form="numeric")  # of any length
    return Form(name=name, form="decimal", precision=precision, scale=scale)


def _sqlite_form(name: str, type_: str) -> Form:
    """By the declared type, as SQLite judges it; what is really stored is looked at when it is read."""
    upper = type_.upper()
    given = re.fullmatch(r"(?:NUMERIC|DECIMAL)\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)", upper)
    if given is not None and int(given[2]) <= int(given[1]) <= _LONGEST_DECIMAL:
        return Form(name=name, form="decimal", precision=int(given[1]), scale=int(given[2]))
    for part, form in (("INT", "int64"), ("BOOL", "int64"), ("REAL", "float64"), ("FLOA", "float64"),
                       ("DOUB", "float64"), ("BLOB", "bytes")):  # fmt: skip
        if part in upper:
            return Form(name=name, form=form)
    return Form(name=name, form="text")


def schema_of(forms: Sequence[Form]) -> Any:  # noqa: ANN401
    """Of the files."""
    return pa.schema([(form.name, form.arrow) for form in forms])


# Text: the CSV of PostgreSQL ------------------------------------------------------------------------------------------


def text_options(forms: Sequence[Form], *, header: bool, block: int = 1 << 25) -> dict[str, Any]:
    """How the text is read; what is quoted is never NULL."""
    types = {form.name: pa.string() if _is_decoded(form) else form.arrow for form in forms}
    return {
        "read_options": pa.csv.ReadOptions(
            column_names=[form.name for form in forms], skip_rows=0, skip_rows_after_names=int(header), block_size=block
        ),
        "parse_options": pa.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        "convert_options": pa.csv.ConvertOptions(
            column_types=types,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["t"],
            false_values=["f"],
        ),
    }


def from_text(text: bytes, forms: Sequence[Form]) -> Any:  # noqa: ANN401
    """Rows of CSV, without header, as a batch."""
    try:
        table = pa.csv.read_csv(pa.BufferReader(text), **text_options(forms, header=False, block=len(text) + 1))
        return decoded(table.combine_chunks().to_batches(), forms)
    except pa.ArrowInvalid as error:
        raise _unkept(error) from error


def decoded(batches: Iterable[Any], forms: Sequence[Form]) -> Any:  # noqa: ANN401
    """One batch of what was read from text, its bytes decoded."""
    found = list(batches)
    if not found:
        return pa.RecordBatch.from_pylist([], schema=schema_of(forms))
    (batch,) = found
    if not any(map(_is_decoded, forms)):
        return batch
    columns = [_decoded(column, form) for column, form in zip(batch.columns, forms, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema_of(forms))


def _is_decoded(form: Form) -> bool:
    """Whether Arrow does not read it from CSV itself."""
    return form.form == "bytes" or pa.types.is_decimal256(form.arrow)


def _decoded(column: Any, form: Form) -> Any:  # noqa: ANN401
    if form.form == "bytes":
        return pa.array([None if one is None else bytes.fromhex(one[2:]) for one in column.to_pylist()], pa.binary())
    return pc.cast(column, form.arrow) if _is_decoded(form) else column


def to_text(batch: Any, forms: Sequence[Form]) -> bytes:  # noqa: ANN401
    """A batch as rows of CSV, without header."""
    columns = [_text_column(column, form) for column, form in zip(batch.columns, forms, strict=True)]
    written = io.BytesIO()
    options = pa.csv.WriteOptions(include_header=False, quoting_style="needed")
    pa.csv.write_csv(pa.RecordBatch.from_arrays(columns, [form.name for form in forms]), written, options)
    return written.getvalue()


def csv_header(forms: Sequence[Form]) -> bytes:
    """The first line, as COPY writes it."""
    return ",".join('"' + form.name.replace('"', '""') + '"' for form in forms).encode() + b"\n"


def _text_column(column: Any, form: Form) -> Any:  # noqa: ANN401
    match form.form:
        case "bool":
            return pc.if_else(column, "t", "f")
        case "bytes":
            return pa.array([None if one is None else "\\x" + one.hex() for one in column.to_pylist()], pa.string())
    return column if column.type == pa.string() else pc.cast(column, pa.string())


# Rows: what drivers give and take -------------------------------------------------------------------------------------


def from_rows(rows: Sequence[Sequence[Any]], forms: Sequence[Form]) -> Any:  # noqa: ANN401
    """Rows of a driver as a batch; Refused names a column whose values are not what its type says."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(forms)
    made = []
    for values, form in zip(columns, forms, strict=True):
        try:
            made.append(pa.array([None if one is None else _value(one, form) for one in values], form.arrow))
        except (pa.ArrowException, OverflowError, TypeError, ValueError, ArithmeticError) as error:
            raise _unkept(error, form.name) from error
    return pa.RecordBatch.from_arrays(made, schema=schema_of(forms))


def _value(value: Any, form: Form) -> Any:  # noqa: ANN401, PLR0911 - one for each form
    """A driver's value as Arrow wants it; what is of another sort than its column is refused, not converted."""
    expected = _EXPECTED.get(form.form, str)
    if form.form == "bool" and value in (0, 1):
        return bool(value)
    if form.form == "uuid":
        return str(value)
    if not isinstance(value, expected):
        raise TypeError(f"{value!r} is no {form.form}")
    match form.form:
        case "decimal":
            return value if isinstance(value, Decimal) else Decimal(str(value))
        case "numeric":
            return str(value)
        case "float32" | "float64":
            return float(value)
        case "interval":
            return _clock(value)
    return value


_EXPECTED: dict[str, Any] = {
    **dict.fromkeys(("int16", "int32", "int64", "uint64"), int),
    **dict.fromkeys(("float32", "float64"), (int, float)),
    **dict.fromkeys(("decimal", "numeric"), (int, float, Decimal)),
    **dict.fromkeys(("date", "timestamp", "timestamptz", "time"), (date, datetime, time)),
    "bool": bool,
    "bytes": bytes,
    "interval": timedelta,
}


def _clock(value: timedelta) -> str:
    """`-838:59:59.000000`, as MariaDB writes it."""
    sign, value = ("-", -value) if value < timedelta() else ("", value)
    seconds, micro = divmod(value // timedelta(microseconds=1), 1_000_000)
    return f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{micro:06d}"


def to_rows(batch: Any, forms: Sequence[Form], dialect: Dialect) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401
    """A batch as parameters of statements."""
    columns = [_parameters(column, form, dialect) for column, form in zip(batch.columns, forms, strict=True)]
    return zip(*columns, strict=True)


def _parameters(column: Any, form: Form, dialect: Dialect) -> list[Any]:  # noqa: ANN401
    """SQLite has no types for times and decimals, and takes them as text."""
    plain = {"bool", "bytes", "float32", "float64", "int16", "int32", "int64", "uint64"}
    if form.form == "bool":
        return [None if one is None else int(one) for one in column.to_pylist()]
    if form.form in plain or column.type == pa.string():
        return list(column.to_pylist())
    if form.form == "timestamptz" and dialect is not Dialect.POSTGRESQL:
        column = pc.cast(column, pa.timestamp("us"))  # in UTC, as the session speaks
    return list(pc.cast(column, pa.string()).to_pylist())


def _unkept(error: Exception, column: str | None = None) -> Refused:
    where = f"column {column!r}: " if column else ""
    return Refused(
        f"{where}{error}: such a value cannot be kept exactly in a file; leave its rows out by `where`, or change them",
        field="where",
    )
