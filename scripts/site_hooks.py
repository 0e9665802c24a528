"""What the site does with the pages of docs: the navigation, and what only readers of the repository can use."""

from __future__ import annotations

import os
import re
from html import escape, unescape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
PARTS = {"tutorial": "Tutorial", "howto": "How-to", "reference": "Reference", "explanation": "Explanation"}
PARTS |= {"adr": "Decisions"}
CHINESE = "README.zh-CN.md"
_LINE = re.compile(r"^## (?P<heading>.+)$|^- \[[^\]]+\]\((?P<page>[\w.-]+\.md)\)", re.MULTILINE)
_COMMENT = re.compile(r"^<!--.*?-->\n?", re.MULTILINE | re.DOTALL)
_MERMAID = re.compile(r"^```mermaid\n(?P<text>.*?)^```\n", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<to>(?!https?:|mailto:|#)[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
_LONG = re.compile(r"<code>([^<\n]{33,})</code>")
_CONSOLE = re.compile(r'<div class="language-console highlight">.*?<code>(?P<shown>.*?)</code>', re.DOTALL)
_FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Make the navigation of each part from the list on its first page, so that there is one list."""
    docs = Path(config.docs_dir)
    nav: list[Any] = [{"Home": "index.md"}]
    nav += [{title: _part(docs, name)} for name, title in PARTS.items() if (docs / name).is_dir()]
    nav += [{"中文": "zh.md"}] if (ROOT / CHINESE).is_file() else []
    config.nav = nav
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Take the page in Chinese, which is the repository's, along."""
    if (ROOT / CHINESE).is_file():
        text = _LINK.sub(_within_docs, (ROOT / CHINESE).read_text("utf-8")).replace("](docs/assets/", "](assets/")
        files.append(File.generated(config, "zh.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leave out what is for tests, put in the picture, and name files of the repository instead of linking to them."""
    if page.file.src_uri in ("index.md", "zh.md"):
        page.meta["hide"] = ["navigation"]  # they stand alone in theirs
    folder = Path(config.docs_dir) / Path(page.file.src_uri).parent
    known = {file.src_uri for file in files}

    def named(link: re.Match[str]) -> str:
        target = (folder / link["to"]).resolve()
        inside = os.path.relpath(target, config.docs_dir) in known
        if inside or not target.exists() or not target.is_relative_to(ROOT):
            return link[0]  # strict mode complains of what is nowhere
        return f"{link['text']} (`{target.relative_to(ROOT)}`)"

    markdown = _MERMAID.sub(lambda block: _picture(block["text"], page, config), markdown)
    parts = _FENCED.split(markdown)
    return "".join(
        part if part.lstrip().startswith("```") else _LINK.sub(named, _COMMENT.sub("", part)) for part in parts
    )


def on_page_content(html: str, **_: object) -> str:
    """Let long code in tables break anywhere, and let the button of a terminal copy what is typed into it."""
    return _CONSOLE.sub(_typed, _LONG.sub(r'<code class="long">\1</code>', html))


def _typed(block: re.Match[str]) -> str:
    lines = unescape(re.sub(r"<[^>]+>", "", block["shown"])).splitlines()
    typed = "\n".join(line[2:] for line in lines if line.startswith(("$ ", "> ")))
    return f'<div data-copy="{escape(typed)}" {block[0].removeprefix("<div ")}'


def _part(docs: Path, name: str) -> list[Any]:
    found: list[Any] = [f"{name}/index.md"]
    if name == "tutorial":  # its first page is the first lesson, and lists nothing
        return found + sorted(f"{name}/{path.name}" for path in (docs / name).glob("*.md") if path.name != "index.md")
    into = found
    for line in _LINE.finditer((docs / name / "index.md").read_text("utf-8")):
        if line["heading"]:
            into = []
            found.append({line["heading"]: into})
        else:
            into.append(f"{name}/{line['page']}")
    return [one for one in found if not isinstance(one, dict) or any(one.values())]


def _within_docs(link: re.Match[str]) -> str:
    to, anchor = link["to"], link["anchor"] or ""
    if to == "README.md":
        return f"[{link['text']}](index.md)"
    if to.startswith("docs/"):
        return f"[{link['text']}]({to.removeprefix('docs/')}{anchor})"
    return f"{link['text']} (`{to}`)" if (ROOT / to).exists() else link[0]


def _picture(text: str, page: Page, config: MkDocsConfig) -> str:
    if not text.startswith("stateDiagram-v2\n    [*] --> planned"):
        raise PluginError(f"{page.file.src_uri}: Mermaid is loaded from another host; draw it as text or as an SVG")
    drawn = (Path(config.docs_dir) / "assets" / "lifecycle.svg").read_text("utf-8").replace("\n", "")
    return f'<div class="lifecycle-frame">{drawn}</div>\n\n'
