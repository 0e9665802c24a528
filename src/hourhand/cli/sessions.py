"""`hourhand sessions`: who is signed in with a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from hourhand.cli import completing, moments
from hourhand.cli.printing import AsJson, Column, note, print_json, print_table

app = typer.Typer(name="sessions", help="Look after sessions: who is signed in.", no_args_is_help=True)


@app.command("list")
def list_sessions(
    *, limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50, as_json: AsJson = False
) -> None:
    """List who is signed in, newest first."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.some("/sessions", limit)
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        note("Nobody is signed in. (A token needs no session.)")
        return
    print_table(
        (
            Column("ID", right=True),
            Column("NAME"),
            Column("BY", 5),
            Column("ADDRESS", 6),
            Column("LAST SEEN", 8),
            Column("SINCE", 4),
            Column("EXPIRES", 3),
        ),
        [
            (
                str(one["id"]),
                one["name"],
                "token" if one["user_id"] is None else "password",
                one["address"] or "",
                moments.ago(one["last_seen_at"]),
                moments.shown(one["created_at"]),
                moments.shown(one["expires_at"]),
            )
            for one in found["items"]
        ],
    )
    if found["next_cursor"]:
        note(f"These are the newest {limit}: there are more (--limit).")


@app.command()
def close(
    session_id: Annotated[
        int,
        typer.Argument(
            metavar="ID", min=1, help="The session's id.", show_default=False, autocompletion=completing.sessions
        ),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """End a session; whoever has it must sign in again."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        rest.delete(f"/sessions/{session_id}")
    if as_json:
        print_json({"id": session_id, "closed": True})
    else:
        typer.echo(f"Session {session_id} is closed.")
