"""SDK: an app by its name, `module:app`."""

from __future__ import annotations

import difflib
import importlib
import sys
import traceback
from pathlib import Path
from types import ModuleType

from hourhand.model.errors import InvalidInput
from hourhand.sdk.app import App

_FIELD = "app"


def load_app(name: str) -> App:
    """Import the module, from the working folder too, and take the app from it; its handlers learn where they are."""
    module_name, colon, attribute = name.partition(":")
    if not colon or not module_name or not attribute:
        raise InvalidInput.one(
            _FIELD,
            name,
            f"{name!r} does not name an app: write MODULE:APP, such as billing:app for `app` in billing.py",
        )
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    module = _import(module_name, name)
    app = getattr(module, attribute, None)
    if app is None:
        raise InvalidInput.one(_FIELD, name, f"{module_name} has no {attribute!r}: {_hint(module, attribute)}")
    if not isinstance(app, App):
        raise InvalidInput.one(
            _FIELD, name, f"{attribute!r} of {module_name} is a {type(app).__name__}, not an App: {_hint(module)}"
        )
    for handler in app.handlers.values():
        handler.source = name
    return app


def _import(module_name: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except InvalidInput:
        raise  # one of its tasks was refused, and that says where
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise InvalidInput.one(
                _FIELD, name, f"there is no module {error.name!r} in {Path.cwd()} or on the Python path"
            ) from error
        raise _failed(module_name, name, error) from error
    except (Exception, SystemExit) as error:
        raise _failed(module_name, name, error) from error


def _failed(module_name: str, name: str, error: BaseException) -> InvalidInput:
    last = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    frames = [one for one in traceback.extract_tb(error.__traceback__) if "importlib" not in one.filename]
    where = f" ({frames[-1].filename}:{frames[-1].lineno})" if len(frames) > 1 else ""
    if isinstance(error, SyntaxError):
        where = f" ({error.filename}:{error.lineno})"
    return InvalidInput.one(_FIELD, name, f"{module_name} cannot be imported: {last}{where}")


def _hint(module: ModuleType, wanted: str = "") -> str:
    apps = [name for name, value in vars(module).items() if isinstance(value, App)]
    if apps:
        return f"its apps are: {', '.join(f'{module.__name__}:{name}' for name in apps)}"
    close = difflib.get_close_matches(wanted, [name for name in vars(module) if not name.startswith("_")], n=1)
    return f"did you mean {close[0]!r}?" if close else "it makes no App"
