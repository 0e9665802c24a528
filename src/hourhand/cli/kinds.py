"""`hourhand kinds`: what can be plugged in, and its parameters."""

from __future__ import annotations

from hourhand.cli.printing import AsJson, Column, print_json, print_table, text_of


def kinds(*, as_json: AsJson = False) -> None:
    """List runners, operations and notifiers, each with an example; --json has their parameters as JSON Schema."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.get("/kinds")
    if as_json:
        print_json(found)
        return
    print_table(
        (Column("ROLE", 8), Column("NAME"), Column("WHAT", 7), Column("EXAMPLE", 3)),
        [(one["role"], one["name"], one["description"], text_of(one["example"])) for one in found["items"]],
    )
