"""Operations: the checksum of rows that are in Arrow: the number that the database tells of them, column by column."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hourhand.operations.transfer import canonical
from hourhand.operations.transfer.canonical import ESCAPE, ESCAPED, NULL, SEPARATOR, Form
from hourhand.operations.transfer.checksum import Checksum

_WHOLE = (pa.int16(), pa.int32(), pa.int64(), pa.uint64())
_UNUSUAL = "[eEni]|^-0$"
"""A number's text that is not its canonical one: with an exponent, infinite, or a negative zero."""


def digest_batches(batches: Iterable[Any], forms: Sequence[Form]) -> Checksum:
    """Of all rows of some batches."""
    rows, total = 0, 0
    for batch in batches:
        rows += batch.num_rows
        total += digest_batch(batch, forms)
    return Checksum(rows, total)


def digest_batch(batch: Any, forms: Sequence[Form]) -> int:  # noqa: ANN401 - pyarrow has no types
    """The sum over its rows, as `canonical.row_digest` tells it of each."""
    columns = [_escaped(canonical_text(column, form), form) for column, form in zip(batch.columns, forms, strict=True)]
    joined = pc.binary_join_element_wise(*columns, SEPARATOR, null_handling="replace", null_replacement=NULL)
    md5, number = hashlib.md5, int.from_bytes
    # The first 15 digits are the first 8 bytes without their last 4 bits.
    return sum(
        number(md5(row, usedforsecurity=False).digest()[:8], "big") >> 4 for row in joined.cast(pa.binary()).to_pylist()
    )


def _escaped(text: Any, form: Form) -> Any:  # noqa: ANN401
    if form not in ESCAPED:
        return text
    return pc.replace_substring(pc.replace_substring(text, ESCAPE, ESCAPE * 2), SEPARATOR, ESCAPE + SEPARATOR)


def canonical_text(column: Any, form: Form) -> Any:  # noqa: ANN401, PLR0911 - one for each form
    """The canonical text of each value; what Arrow cannot do is done one by one."""
    kind = column.type
    match form:
        case Form.NUMBER if kind in _WHOLE:
            return pc.cast(column, pa.string())
        case Form.NUMBER if pa.types.is_boolean(kind):
            return pc.cast(pc.cast(column, pa.int8()), pa.string())
        case Form.NUMBER if pa.types.is_floating(kind):
            return _usual(pc.cast(pc.cast(column, pa.float64()), pa.string()))
        case Form.NUMBER if pa.types.is_decimal(kind):
            text = pc.cast(column, pa.string())
            return _usual(text if kind.scale <= 0 else _trimmed(text))
        case Form.MOMENT if pa.types.is_timestamp(kind):
            return _trimmed(pc.cast(pc.cast(column, pa.timestamp("us")), pa.string()))
        case Form.TIME if pa.types.is_time(kind):
            return _trimmed(pc.cast(column, pa.string()))
        case Form.DATE if pa.types.is_date(kind):
            return pc.cast(column, pa.string())
        case Form.TEXT if kind == pa.string():
            return column
        case Form.UUID if kind == pa.string():
            return pc.utf8_lower(column)
    return pa.array([canonical.to_text(form, value) for value in column.to_pylist()], pa.string())


def _trimmed(text: Any) -> Any:  # noqa: ANN401
    """Without the zeros behind the point; an exponent is left alone: it is seen to by `_usual`."""
    plain = pc.utf8_rtrim(pc.utf8_rtrim(text, "0"), ".")
    return pc.if_else(pc.match_substring(text, "E"), text, plain)


def _usual(text: Any) -> Any:  # noqa: ANN401
    unusual = pc.match_substring_regex(text, _UNUSUAL)
    if not pc.any(unusual).as_py():
        return text
    odd = [canonical.number(value) for value in text.filter(unusual).to_pylist()]
    return pc.replace_with_mask(text, pc.fill_null(unusual, fill_value=False), pa.array(odd, pa.string()))
