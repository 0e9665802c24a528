"""YAML as the CLI writes it: short lists in one line, long texts as they are, everything quoted that needs it."""

from __future__ import annotations

from typing import Any

import yaml
from yaml.nodes import Node

_IN_ONE_LINE = 100


class _Dumper(yaml.SafeDumper):
    """Indents the items of lists, and repeats what occurs twice instead of naming it."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - PyYAML's own
        super().increase_indent(flow, False)  # noqa: FBT003 - PyYAML takes it by place

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's own
        return True


def _text(dumper: _Dumper, text: str) -> Node:
    """In lines where it has several, and nothing that YAML would fold or change in them."""
    plain = text.replace("\n", "").isprintable()
    style = ("|" if "\n" in text else None) if plain else '"'  # else a line break of another kind would become a space
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _list(dumper: _Dumper, items: list[Any]) -> Node:
    short = all(isinstance(one, str | int | float | bool) and "\n" not in str(one) for one in items)
    short = short and sum(len(str(one)) + 4 for one in items) < _IN_ONE_LINE
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=short)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)


def write_yaml(value: object) -> str:
    """One document."""
    written: str = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_IN_ONE_LINE + 20, default_flow_style=False
    )
    return written
