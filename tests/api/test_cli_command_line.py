"""`--command`: split as a shell would, refused where only a shell would know what to do."""

from __future__ import annotations

import pytest

from hourhand.cli.command_line import split_command
from hourhand.model.errors import InvalidInput


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("echo hi", ["echo", "hi"]),
        ("echo 'a | b; $HOME *'", ["echo", "a | b; $HOME *"]),
        ('echo "a | b; * ~"', ["echo", "a | b; * ~"]),
        (r"echo a\|b \$HOME", ["echo", "a|b", "$HOME"]),
        ("close --day ${day} '${who}' \"${when}\"", ["close", "--day", "${day}", "${who}", "${when}"]),
        ("cp a~ b~c", ["cp", "a~", "b~c"]),
        ("tool --set a=b", ["tool", "--set", "a=b"]),
        ("sh -c 'a && b'", ["sh", "-c", "a && b"]),
        ("  echo   ''  ", ["echo", ""]),
        (r"""awk '{print "\$1"}'""", ["awk", r'{print "\$1"}']),
        ("echo 'a\nb'", ["echo", "a\nb"]),
    ],
)
def test_words(typed: str, words: list[str]) -> None:
    assert split_command(typed) == words


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("ls | wc", "contains '|'"),
        ("a && b", "contains '&'"),
        ("a; b", "contains ';'"),
        ("a < b", "contains '<'"),
        ("a > b", "contains '>'"),
        ("echo $HOME", r"contains '\$'"),
        ('echo "$HOME"', r"contains '\$'"),
        (r'echo "a\$b"', "contains .*which only a shell understands"),
        ("echo ${HOME:-x}", r"contains '\$'"),
        ('echo "`id`"', "contains '`'"),
        ("ls *.txt", r"contains '\*'"),
        ("ls a?", r"contains '\?'"),
        ("ls ~", "contains '~'"),
        ("(a)", r"contains '\('"),
        ("a\nb", r"contains '\\n'"),
        ("echo 'a' | b", r"contains '\|', which only a shell understands: add --shell"),
        ("A=1 b", "assignment 'A='"),
        ("echo 'a", "no closing quotation"),
        ("", "names no program"),
        ("''", "names no program"),
    ],
)
def test_refusals(typed: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        split_command(typed)
