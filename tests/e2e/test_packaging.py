"""What a user does: `pip install` of a clean clone, without Node.js, and `hourhand serve` shows the web UI."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from serving import FromTheStart

ROOT = Path(__file__).resolve().parents[2]
INSTALL_SECONDS = 900


def clone(into: Path) -> Path:
    """Copy what git tracks or would, and nothing that was built."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(command, capture_output=True, check=True, text=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, into / name)
    return into


def without_node(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the shell alone on PATH, which npm starts scripts with."""
    folder.mkdir()
    (folder / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(folder))
    assert shutil.which("node") is shutil.which("npm") is None


def test_pip_install_builds_the_web_ui_without_node_and_serve_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = clone(tmp_path / "clone")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    without_node(tmp_path / "bin", monkeypatch)
    monkeypatch.setenv("HOURHAND_UI", "always")
    monkeypatch.chdir(tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]

    installed = subprocess.run(
        [*pip, str(source), "-c", str(source / "constraints.txt")],
        capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False,
    )  # fmt: skip
    assert installed.returncode == 0, installed.stderr

    class Installed(FromTheStart):
        """The program of the fresh virtual environment."""

    Installed.python = str(python)
    (tmp_path / "work").mkdir()
    with Installed(tmp_path / "work") as served, served.visitor() as visitor:
        page = visitor.get("/")
        assert '<div id="root">' in page.text
        hashed = re.findall(r'src="(/assets/[\w.-]+-[\w-]{8}\.js)"', page.text)
        assert hashed
        script = visitor.get(hashed[0])
        assert (script.status_code, script.headers["content-encoding"]) == (200, "gzip")
        assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    installed_dist = next((tmp_path / "venv" / "lib").glob("python3*/site-packages/hourhand/webui/dist"))
    assert json.loads((installed_dist / "build.json").read_text("utf-8")).keys() == {"inputs"}
