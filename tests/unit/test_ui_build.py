"""The build of the web UI: what it is made of, when it is stale, and that a failure leaves what was there."""

from __future__ import annotations

import gzip
import importlib.util
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = """
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
const out = process.argv[process.argv.indexOf("--outDir") + 1];
mkdirSync(`${out}/assets`, { recursive: true });
const source = readFileSync("src/main.ts", "utf-8");
writeFileSync(`${out}/assets/index-12345678.js`, source.repeat(100));
if (source.includes("WRONG")) { console.error("error: main.ts is WRONG"); process.exit(3); }
writeFileSync(`${out}/index.html`, "<div id=root></div>");
"""


def load() -> Any:
    """Load the program as hatchling does: its module is nowhere to be found."""
    spec = importlib.util.spec_from_file_location("hatch_build.py", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hatch_build = load()


@pytest.fixture
def ui(tmp_path: Path) -> Any:
    """Return a small UI of no packages, which a real npm builds."""
    package = {"name": "small", "version": "1.0.0", "type": "module", "scripts": {"build": "node build.mjs"}}
    lock = {"name": "small", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": {"name": "small"}}}
    (tmp_path / "ui" / "src").mkdir(parents=True)
    (tmp_path / "ui" / "package.json").write_text(json.dumps(package))
    (tmp_path / "ui" / "package-lock.json").write_text(json.dumps(lock))
    (tmp_path / "ui" / "build.mjs").write_text(BUILD)
    (tmp_path / "ui" / "src" / "main.ts").write_text("let hours = 12;\n")
    return hatch_build.WebUi(tmp_path)


def built(ui: Any) -> dict[str, bytes]:
    """Return all that lies in the folder of the build, and check that nothing lies beside it."""
    assert [path.name for path in ui.dist.parent.iterdir()] == ["dist"]
    return {str(path.relative_to(ui.dist)): path.read_bytes() for path in ui.dist.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("version", "usable"),
    [
        ("v20.19.0\n", True),
        ("v20.18.3", False),
        ("v18.20.8", False),
        ("v21.7.0", False),
        ("v22.11.0", False),
        ("v22.12.0", True),
        ("v23.0.0", True),
        ("v24.19.0", True),
        ("20.19.0", False),
        ("", False),
        ("node: command not found", False),
    ],
)
def test_which_releases_of_node_are_used(version: str, usable: bool) -> None:  # noqa: FBT001 - a parameter
    assert hatch_build.usable(version) is usable


def test_the_inputs_are_what_the_build_may_read(ui: Any) -> None:
    for name in ("node_modules/react/index.js", "dist/index.html", ".vite/x.json", "src/main.test.ts", "tests/a.ts"):
        (ui.sources / name).parent.mkdir(parents=True, exist_ok=True)
        (ui.sources / name).write_text("x")
    for name in (".npmrc", "public/icon.svg", "src/contest.ts", "src/.hidden"):
        (ui.sources / name).parent.mkdir(parents=True, exist_ok=True)
        (ui.sources / name).write_text("x")
    assert [str(path.relative_to(ui.sources)) for path in hatch_build.inputs(ui.sources)] == [
        ".npmrc",
        "build.mjs",
        "package-lock.json",
        "package.json",
        "public/icon.svg",
        "src/contest.ts",
        "src/main.ts",
    ]


def test_the_fingerprint_follows_names_and_contents_but_no_times(ui: Any) -> None:
    before = hatch_build.fingerprint(ui.sources)
    (ui.sources / "src" / "main.ts").touch()
    assert hatch_build.fingerprint(ui.sources) == before
    (ui.sources / "src" / "main.ts").rename(ui.sources / "src" / "other.ts")
    renamed = hatch_build.fingerprint(ui.sources)
    (ui.sources / "src" / "other.ts").write_text("let hours = 24;\n")
    assert len({before, renamed, hatch_build.fingerprint(ui.sources)}) == 3


def test_it_is_built_once_and_again_when_an_input_changes(ui: Any) -> None:
    assert not ui.fresh()
    ui.refresh("always")
    assert ui.fresh()
    assert ui.installed()
    first = built(ui)
    assert first.keys() == {"build.json", "index.html", "assets/index-12345678.js", "assets/index-12345678.js.gz"}
    assert gzip.decompress(first["assets/index-12345678.js.gz"]) == first["assets/index-12345678.js"]

    inode = ui.dist.stat().st_ino
    ui.refresh("always")
    assert ui.dist.stat().st_ino == inode

    (ui.sources / "src" / "main.ts").write_text("let hours = 24;\n")
    assert not ui.fresh()
    ui.refresh("auto")
    assert b"24" in built(ui)["assets/index-12345678.js"]
    assert ui.fresh()


def test_the_same_inputs_make_the_same_files(ui: Any) -> None:
    ui.refresh("always")
    first = built(ui)
    (ui.dist / "build.json").unlink()
    ui.refresh("always")
    assert built(ui) == first


def test_a_build_that_fails_leaves_what_was_there(ui: Any, capfd: pytest.CaptureFixture[str]) -> None:
    ui.refresh("always")
    first = built(ui)
    (ui.sources / "src" / "main.ts").write_text("WRONG")
    with pytest.raises(hatch_build.Unbuildable, match=r"`npm run build` ended with 3: .*error: main.ts is WRONG"):
        ui.refresh("always")
    assert built(ui) == first
    ui.refresh("auto")
    assert built(ui) == first
    said = capfd.readouterr().err
    assert "was not built; the one that is served is OLDER than the sources in ui/" in said
    assert "main.ts is WRONG" in said


def test_what_is_left_as_it_is_is_called_older_only_if_it_is(ui: Any, capfd: pytest.CaptureFixture[str]) -> None:
    ui.refresh("always")
    ui.refresh("never")
    said = capfd.readouterr().err
    assert "the one that is there is of these sources, and is used: HOURHAND_UI was never" in said
    assert "OLDER" not in said


class Watched:
    """Looks at a folder before each change that this process makes to any, and remembers what was amiss."""

    def __init__(self, dist: Path) -> None:
        self.dist = dist
        self.looks = 0
        self.faults: list[str] = []
        self.on = True
        sys.addaudithook(self._hear)  # for as long as the process lives: `on` ends it

    def _hear(self, event: str, _: object) -> None:
        if self.on and event in {"os.rename", "os.remove", "os.rmdir", "shutil.rmtree"}:
            self.on = False  # not of its own doings
            self.look(event)
            self.on = True

    def look(self, event: str) -> None:
        self.looks += 1
        for name in ("index.html", "index.html.gz"):
            page = self.dist / name
            if not page.is_file():
                self.faults.append(f"before {event}: no {name}")
                continue
            text = (gzip.decompress(page.read_bytes()) if page.suffix == ".gz" else page.read_bytes()).decode()
            named = text.split()
            self.faults += [f"before {event}: {one} is missing" for one in named if not (self.dist / one).is_file()]


def test_at_no_moment_a_page_is_missing_or_names_what_is_not_there(tmp_path: Path) -> None:
    def laid(folder: str, *names: str) -> Path:
        whole = {"index.html": "\n".join(names), **dict.fromkeys(names, "x"), "build.json": f'{{"inputs": "{folder}"}}'}
        for name, text in whole.items():
            (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / name).write_text(text)
        (tmp_path / folder / "index.html.gz").write_bytes(gzip.compress(whole["index.html"].encode()))
        return tmp_path / folder

    dist = laid("dist", "assets/index-1.js", "assets/kept-0.js", "old/picture.svg")
    built = laid("built", "assets/zz-2.js", "assets/kept-0.js", "new/picture.svg")
    watched = Watched(dist)
    hatch_build.replace(dist, built)
    watched.on = False
    watched.look("the end")
    assert watched.faults == []
    assert watched.looks > 8
    assert sorted(str(path.relative_to(dist)) for path in dist.rglob("*")) == [
        "assets",
        "assets/kept-0.js",
        "assets/zz-2.js",
        "build.json",
        "index.html",
        "index.html.gz",
        "new",
        "new/picture.svg",
    ]
    assert json.loads((dist / "build.json").read_text()) == {"inputs": "built"}


def test_where_it_cannot_be_built_the_rest_goes_on_and_the_reason_is_kept(ui: Any) -> None:
    (ui.sources / "src" / "main.ts").write_text("WRONG")
    ui.refresh("auto")
    assert "main.ts is WRONG" in json.loads(built(ui)["build.json"])["reason"]
    assert not ui.fresh()
    (ui.sources / "src" / "main.ts").write_text("right")
    ui.refresh("auto")
    assert ui.fresh()


def test_a_source_that_cannot_be_read_makes_it_stale_and_is_told(ui: Any) -> None:
    ui.refresh("always")
    first = built(ui)
    (ui.sources / "src" / "link.ts").symlink_to("nowhere.ts")
    assert not ui.fresh()  # which pip asks first of all
    ui.refresh("auto")
    assert built(ui) == first
    with pytest.raises(hatch_build.Unbuildable, match=r"link\.ts"):
        ui.refresh("always")


def test_what_a_killed_build_has_left_is_removed_by_the_next(ui: Any) -> None:
    left = ui.dist.parent / ".building-abc" / "dist"
    left.mkdir(parents=True)
    (left / "index.html").write_text("half of it")
    ui.refresh("always")
    assert "index.html" in built(ui)


def test_it_may_be_left_out(ui: Any) -> None:
    ui.refresh("never")
    assert json.loads(built(ui)["build.json"]) == {"reason": "HOURHAND_UI was never when it was installed"}


def test_another_mode_is_refused(ui: Any) -> None:
    with pytest.raises(hatch_build.Unbuildable, match="HOURHAND_UI is 'yes': it may be auto, always, never"):
        ui.refresh("yes")


def test_packages_are_installed_again_when_the_lock_file_changes(ui: Any) -> None:
    ui.refresh("always")
    (ui.sources / "node_modules" / "stray").mkdir()
    (ui.sources / "src" / "main.ts").write_text("let hours = 24;\n")
    ui.refresh("always")
    assert (ui.sources / "node_modules" / "stray").exists()
    lock = ui.sources / "package-lock.json"
    lock.write_text(f"{lock.read_text()}\n")
    assert not ui.installed()
    ui.refresh("always")
    assert not (ui.sources / "node_modules" / "stray").exists()


def test_two_who_build_at_once_build_once(ui: Any, capfd: pytest.CaptureFixture[str]) -> None:
    both = [threading.Thread(target=ui.refresh, args=("always",)) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert capfd.readouterr().err.count("Building the web UI") == 1
    assert built(ui)


def test_the_node_of_the_python_package_runs_npm() -> None:
    node = hatch_build.node_of_wheel()
    assert node is not None
    version = node.run(ROOT, "--version", capture=True)
    assert (version.returncode, version.stdout.strip().replace(".", "").isdigit()) == (0, True)
    found = node.run(ROOT, "exec", "--offline", "--call", "command -v node", capture=True).stdout
    assert Path(found.split()[-1]) == node.folder / "node"


def test_by_hand_it_says_whether_it_is_stale(ui: Any) -> None:
    (ui.sources.parent / "hatch_build.py").write_text((ROOT / "hatch_build.py").read_text("utf-8"), "utf-8")
    command = [sys.executable, str(ui.sources.parent / "hatch_build.py")]
    assert subprocess.run([*command, "--check"], check=False).returncode == 1
    assert subprocess.run(command, check=False).returncode == 0
    assert subprocess.run([*command, "--check"], check=False).returncode == 0
    (ui.sources / "src" / "main.ts").write_text("WRONG")
    failed = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (failed.returncode, "The web UI cannot be built: `npm run build`" in failed.stderr) == (1, True)
