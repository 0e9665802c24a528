"""The texts that stand below the fields of a class."""

from __future__ import annotations

import ast
import inspect
import textwrap


def docstrings_of(kind: type) -> dict[str, str]:
    """Read the texts that stand below the fields of a class."""
    (found,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(found, ast.ClassDef)  # noqa: S101 - it is the source of a class
    told = {}
    for field, text in zip(found.body, found.body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(said))):
                told[name] = said
    return told
