"""Operations: the mirror of an online split or merge: a trigger by which shadows follow what is written meanwhile.

It mirrors the present state of the row's key rather than the values it was fired with: so neither the order in which
triggers fire nor another trigger that writes the same row can leave a shadow behind.
"""

# ruff: noqa: S608 - statements are put together from quoted names; values are parameters or literals

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hourhand.operations.catalog.table import Partition, Table
from hourhand.operations.partitions.bounds import Cell
from hourhand.operations.partitions.postgresql_facts import PG, require_key, within
from hourhand.operations.partitions.postgresql_look import PgFacts, mirror_name, old_name
from hourhand.operations.partitions.postgresql_steps import dollars, in_schema
from hourhand.operations.partitions.shapes import MoveConfig
from hourhand.operations.quoting import literal, quoted


@dataclass(frozen=True, slots=True)
class Piece:
    """What is made anew."""

    shadow: str
    """Its name until the swap."""
    sql: str
    """The same, as it is written in statements."""
    name: str
    """Its name from then on."""
    cell: Cell


@dataclass(frozen=True, slots=True)
class Change:
    """One split or merge."""

    config: MoveConfig
    table: Table
    facts: PgFacts
    olds: tuple[Partition, ...]
    """What is replaced."""
    pieces: tuple[Piece, ...]
    """By what."""
    key: tuple[str, ...]
    """What tells rows apart."""
    swapped: str
    """An expression: whether it has been."""

    @property
    def replaced(self) -> dict[str, str]:
        """What each of the old ones is called from the swap on."""
        return {one.name: old_name(one.name, self.pieces[-1].name, self.facts.kept) for one in self.olds}


def function_sql(table: Table, number: int) -> str:
    """The function of the so-manieth partition that is replaced."""
    return in_schema(table, mirror_name(table, number))


def mirror_function(table: Table, old: Partition, number: int, pieces: Sequence[Piece], key: Sequence[str]) -> str:
    """The function; as its owner, so that whoever writes to the table need not be allowed to write to a shadow."""
    body = f"""
#variable_conflict use_column
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
{_emptied(table, old, pieces)}
    RETURN NULL;
  END IF;
  IF TG_OP <> 'INSERT' THEN
{_routed(table, old, pieces, key, "OLD")}
  END IF;
  IF TG_OP = 'INSERT' THEN
{_routed(table, old, pieces, key, "NEW")}
  ELSIF TG_OP = 'UPDATE' THEN
    IF {_moved(table, key)} THEN
{_routed(table, old, pieces, key, "NEW")}
    END IF;
  END IF;
  RETURN NULL;
END
"""
    return (
        f"CREATE FUNCTION {function_sql(table, number)}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER "
        f"SET search_path = pg_catalog, pg_temp AS {dollars(body)}"
    )


def mirror_triggers(table: Table, old: Partition, number: int) -> list[str]:
    """The triggers; always enabled, so that they fire for what a subscription writes, too."""
    name, sql = mirror_name(table, number), table.partition_sql(old)
    rows, whole = quoted(PG, name), quoted(PG, truncate_trigger(table, number))
    function = function_sql(table, number)
    return [
        f"CREATE TRIGGER {rows} AFTER INSERT OR UPDATE OR DELETE ON {sql} FOR EACH ROW EXECUTE FUNCTION {function}()",
        f"CREATE TRIGGER {whole} AFTER TRUNCATE ON {sql} FOR EACH STATEMENT EXECUTE FUNCTION {function}()",
        f"ALTER TABLE {sql} ENABLE ALWAYS TRIGGER {rows}",
        f"ALTER TABLE {sql} ENABLE ALWAYS TRIGGER {whole}",
    ]


def truncate_trigger(table: Table, number: int) -> str:
    """The trigger that sees what no row's does."""
    return f"{mirror_name(table, number)}_t"


def must_mirror(table: Table, old: Partition, number: int) -> str:
    """Somebody may have dropped or disabled it meanwhile: then what was compared counts no longer."""
    message = f"the mirror of {old.name} is gone or disabled, so that its copy may be behind: start again"
    body = (
        "BEGIN IF (SELECT count(*) FROM pg_trigger "
        f"WHERE tgrelid = to_regclass({literal(PG, table.partition_sql(old))}) AND tgenabled = 'A' "
        f"AND tgname IN ({literal(PG, mirror_name(table, number))}, {literal(PG, truncate_trigger(table, number))})) "
        f"<> 2 THEN RAISE EXCEPTION USING MESSAGE = {literal(PG, message)}; END IF; END"
    )
    return f"DO {dollars(body)}"


def _emptied(table: Table, old: Partition, pieces: Sequence[Piece]) -> str:
    if len(pieces) > 1:
        return f"    TRUNCATE {', '.join(one.sql for one in pieces)};"
    return f"    DELETE FROM {pieces[0].sql} AS s WHERE {within(table, Cell(old.low, old.high), alias='s.')};"


def _moved(table: Table, key: Sequence[str]) -> str:
    column, _ = require_key(table)
    columns = [quoted(PG, one) for one in dict.fromkeys((*key, column))]
    new, old = (", ".join(f"{row}.{one}" for one in columns) for row in ("NEW", "OLD"))
    return f"ROW({new}) IS DISTINCT FROM ROW({old})"


def _routed(table: Table, old: Partition, pieces: Sequence[Piece], key: Sequence[str], row: str) -> str:
    """To the piece whose range the row is in."""
    column, type_ = require_key(table)
    if len(pieces) == 1:
        return _followed(table, old, pieces[0], key, row)
    low, high = pieces
    boundary = f"{row}.{quoted(PG, column)} < {literal(PG, high.cell.low)}::{type_}"
    return (
        f"    IF {boundary} THEN\n{_followed(table, old, low, key, row)}\n"
        f"    ELSE\n{_followed(table, old, high, key, row)}\n    END IF;"
    )


def _followed(table: Table, old: Partition, piece: Piece, key: Sequence[str], row: str) -> str:
    """Let the piece have of this key what the partition has now."""
    columns = [quoted(PG, one.name) for one in table.writable]
    keys = [quoted(PG, one) for one in key]
    at_old = " AND ".join(f"o.{one} = {row}.{one}" for one in keys)
    at_new = " AND ".join(f"s.{one} = {row}.{one}" for one in keys)
    rest = ", ".join(f"{one} = EXCLUDED.{one}" for one in columns)
    listed, source = ", ".join(columns), table.partition_sql(old)
    gone = f"DELETE FROM {piece.sql} AS s WHERE {at_new};"
    # A transaction that sees the past might not see the copy that it should delete. To insert in its place fails then,
    # as serializable transactions must be ready for; to delete would leave a row that comes back.
    blind = f"""
        IF NOT FOUND AND current_setting('transaction_isolation') <> 'read committed' THEN
          INSERT INTO {piece.sql} ({listed}) VALUES ({", ".join(f"{row}.{one}" for one in columns)})
            ON CONFLICT ({", ".join(keys)}) DO UPDATE SET {keys[0]} = EXCLUDED.{keys[0]};
          {gone}
        END IF;"""
    return f"""      INSERT INTO {piece.sql} ({listed})
        SELECT {", ".join(f"o.{one}" for one in columns)} FROM {source} AS o
        WHERE {at_old} AND {within(table, piece.cell, alias="o.")}
        ON CONFLICT ({", ".join(keys)}) DO UPDATE SET {rest};
      IF NOT FOUND THEN
        {gone}{blind if row == "OLD" else ""}
      END IF;"""
