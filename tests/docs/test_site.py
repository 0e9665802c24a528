"""The site: it is built without a warning, no link leads nowhere, and nothing is loaded from another host."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "link": "href",
    "use": "href",
    "object": "data",
}
NOT_LOADED = {"canonical", "next", "prev", "alternate"}
MARKUP = re.compile(r"\| --- \||```|^(?:- |\d+\. )", re.MULTILINE)
"""What stands in a paragraph only when the page is read otherwise than it was meant."""


@dataclass
class Read(HTMLParser):
    """What a page links to, what it loads, which places it has, and what its paragraphs say."""

    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    paragraphs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._within = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        self.classes |= set(given.get("class", "").split())
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif LOADS.get(tag) in given and given.get("rel") not in NOT_LOADED:
            self.loaded.append(given[LOADS[tag]])
        if tag == "p":
            self.paragraphs.append("")
        self._within = tag == "p" or (self._within and tag not in ("pre", "td", "code"))

    def handle_endtag(self, tag: str) -> None:
        self._within = self._within and tag != "p"

    def handle_data(self, data: str) -> None:
        if self._within:
            self.paragraphs[-1] += data


def read(path: Path) -> Read:
    found = Read()
    found.feed(path.read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [str(Path(sys.executable).parent / "mkdocs"), "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Read]:
    return {path: read(path) for path in site.rglob("*.html")}


def within(site: Path, page: Path, link: str) -> tuple[Path, str] | None:
    """Return the file that a link leads to, and the place in it; None for one that leaves the site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    start = site if parts.path.startswith("/") else page.parent
    target = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else page
    return (target / "index.html" if target.is_dir() else target), unquote(parts.fragment)


def broken(site: Path, pages: dict[Path, Read]) -> Iterator[str]:
    for page, seen in pages.items():
        for link in seen.links:
            found = within(site, page, link)
            if found is None:
                continue
            target, place = found
            if not target.is_file():
                yield f"{page.relative_to(site)}: {link} leads nowhere"
            elif place and target in pages and place not in pages[target].places:
                yield f"{page.relative_to(site)}: {link} names a place that is not there"


def test_what_is_wrong_with_a_site_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text('<p id="here">right</p>')
    (tmp_path / "index.html").write_text(
        '<a href="other.html#here"></a><a href="other.html#there"></a><a href="gone/">a</a><a href="https://x.org">b</a>'
        '<script src="https://x.org/a.js"></script><link rel="canonical" href="https://x.org">'
        "<pre>| --- |</pre><p>as follows:\n- one</p>"
    )
    pages = {path: read(path) for path in tmp_path.glob("*.html")}
    assert list(broken(tmp_path, pages)) == [
        "index.html: other.html#there names a place that is not there",
        "index.html: gone/ leads nowhere",
    ]
    seen = pages[tmp_path / "index.html"]
    assert seen.loaded == ["https://x.org/a.js"]
    assert [bool(MARKUP.search(text)) for text in seen.paragraphs] == [True]


def test_every_page_of_the_documentation_is_in_the_site(site: Path) -> None:
    docs = ROOT / "docs"
    written = {path.relative_to(docs).with_suffix("") for path in docs.rglob("*.md")}
    for page in written:
        built = site / page.parent if page.name == "index" else site / page
        assert (built / "index.html").is_file(), page


def test_no_link_leads_nowhere(site: Path, pages: dict[Path, Read]) -> None:
    assert sum(len(seen.links) for seen in pages.values()) > 1_000
    assert list(broken(site, pages)) == []


def test_nothing_is_loaded_from_another_host(site: Path, pages: dict[Path, Read]) -> None:
    loaded = [(page, url) for page, seen in pages.items() for url in seen.loaded]
    assert len(loaded) > len(pages)
    assert [url for _, url in loaded if urlsplit(url).netloc] == []
    missing = [url for page, url in loaded if (found := within(site, page, url)) and not found[0].is_file()]
    assert missing == []
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import )['\"]?(?:https?:)?//[^)'\"]*", styles) == []


def test_no_page_makes_the_theme_load_mermaid_from_another_host(pages: dict[Path, Read]) -> None:
    assert [str(page) for page, seen in pages.items() if "mermaid" in seen.classes] == []


def test_lists_tables_and_code_are_read_as_such(site: Path, pages: dict[Path, Read]) -> None:
    odd = [
        f"{page.relative_to(site)}: {text[:80]!r}"
        for page, seen in pages.items()
        for text in seen.paragraphs
        if MARKUP.search(text)
    ]
    assert odd == []
