"""`hourhand demo` and `hourhand serve --demo`: sample tasks to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from hourhand.cli import moments
from hourhand.cli.json_options import Json
from hourhand.cli.printing import AsJson, note, plural, print_facts, print_json

if TYPE_CHECKING:
    from hourhand.contracts.runner import Handler
    from hourhand.settings import Settings
    from hourhand.store import Store

app = typer.Typer(
    name="demo",
    short_help="Load sample tasks to look at, and remove them again.",
    help="Load sample tasks to look at, with a day of sample execution logs, and remove all of it again. They are in "
    "a group of their own, and nothing else in the store is touched.",
    no_args_is_help=True,
)
_NOBODY = "Nobody executes them: `hourhand serve` does by itself; else start `hourhand executor hourhand.demo.app:app`."


@app.command()
def load(*, as_json: AsJson = False) -> None:
    """Load the sample tasks; loaded twice is loaded once."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        loaded = rest.post("/demo")
    if as_json:
        print_json(loaded)
        return
    done = "is loaded" if loaded["new"] else "was loaded before"
    typer.echo(
        f"The demo {done}: {plural(loaded['tasks'], 'task')} in the group {loaded['group']!r}. "
        "Look at them with `hourhand task list`, `hourhand instance list`, `hourhand stats`."
    )
    for one in loaded["kept"]:
        note(f"{one['name']}: {one['reason']}")


@app.command()
def status(*, as_json: AsJson = False) -> None:
    """Show whether the demo is loaded, and whether somebody executes it."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        state = rest.get("/demo")
    if as_json:
        print_json(state)
    elif not state["loaded"]:
        typer.echo("The demo is not loaded; `hourhand demo load` loads it.")
    else:
        _print(state)


def _print(state: Json) -> None:
    counts = {name: str(state[name]) for name in ("tasks", "instances", "executors")}
    print_facts({"loaded": moments.shown(state["loaded_at"]), "group": state["group"], **counts})
    if not state["executors"]:
        note(_NOBODY)


@app.command()
def remove(*, as_json: AsJson = False) -> None:
    """Remove the sample tasks and all that they did; what runs of them is cancelled."""
    from hourhand.cli.rest import connected

    with connected(patient=True) as rest:
        removed = rest.delete("/demo")
    if as_json:
        print_json(removed)
        return
    typer.echo(
        f"The demo is removed: {plural(removed['tasks'], 'task')} and "
        f"{plural(removed['execution_logs'], 'execution log')} are gone, with all that belonged to them."
    )


def handlers() -> Mapping[tuple[str, str], Handler]:
    """What executes the sample tasks; imported once they are there."""
    from hourhand.demo.app import handlers as of_the_shop

    return of_the_shop()


async def at_start(store: Store, settings: Settings, address: str, *, wanted: bool) -> str | None:
    """Load the demo if it is wanted; if it is there, make it call the address that there is now, and say so."""
    if not wanted and not (await store.demo_state()).tasks:
        return None
    from hourhand.bootstrap.tokens import user_name
    from hourhand.demo.loading import load as load_demo
    from hourhand.demo.loading import refresh
    from hourhand.model.audit import Author
    from hourhand.settings import is_loopback

    reachable = address if is_loopback(settings.host) else None
    if wanted:
        somebody = Author(id="local", name=user_name())  # who asks by an option asks as well as who calls the API
        loaded = await load_demo(store.on_behalf(somebody), address=reachable)
        for name, reason in loaded.kept:
            note(f"the sample task {name!r} is not loaded: {reason}")
        state = loaded.state
    else:
        state = await refresh(store, address=reachable)
    return f"{plural(state.tasks, 'sample task')}; `hourhand demo remove` takes them away"
