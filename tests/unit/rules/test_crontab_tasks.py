"""What the lines of a crontab become: the same shell, folder, environment and clock."""

from __future__ import annotations

from typing import Any

import pytest

from hourhand.rules.crontab import read_crontab
from hourhand.rules.crontab_tasks import Plan, Planned, differences, plan, same_command

HOMES = {None: "/home/ann", "www-data": "/var/www"}


def planned(text: str, *, system: bool = False, **how: Any) -> Plan:
    return plan(read_crontab(text, system=system), timezone="Europe/Berlin", homes=HOMES.get, **how)


def only(text: str, *, system: bool = False, **how: Any) -> Planned:
    found = planned(text, system=system, **how)
    assert not found.refused
    (task,) = found.tasks
    return task


def reason(text: str) -> str:
    found = planned(text)
    assert not found.tasks
    (refused,) = found.refused
    return refused.reason


def test_a_line_becomes_a_command_task_that_does_what_cron_did() -> None:
    task = only("# Every night\n0 2 * * * /opt/backup.sh\n")
    assert task.fields == {
        "name": "backup",
        "type": "command",
        "schedule": "0 2 * * *",
        "timezone": "Europe/Berlin",
        "payload": {"command": "/opt/backup.sh", "cwd": "/home/ann"},
        "description": "Every night",
        "overlap_policy": "parallel",
    }
    assert task.notes == ()


def test_group_prefix_and_disabled_are_those_that_were_asked_for() -> None:
    fields = only("@daily x\n", group="billing", prefix="old-", enabled=False).fields
    assert (fields["group"], fields["name"], fields["enabled"]) == ("billing", "old-x", False)


def test_settings_for_the_command_become_its_environment_and_those_for_cron_do_not() -> None:
    fields = only("PATH=/opt/bin:/bin\nMAILTO=a@b\nUSER=x\nTZ=Asia/Tokyo\nCRON_TZ=Asia/Shanghai\n@daily x\n").fields
    assert fields["payload"]["env"] == {"PATH": "/opt/bin:/bin", "TZ": "Asia/Tokyo"}
    assert fields["timezone"] == "Asia/Shanghai"


def test_an_unknown_zone_is_refused() -> None:
    assert "timezone" in reason("CRON_TZ=Asia/Shangai\n@daily x\n")


@pytest.mark.parametrize("shell", ["/bin/sh", "sh", '""'])
def test_the_usual_shell_is_given_a_text(shell: str) -> None:
    assert only(f"SHELL={shell}\n@daily a | b\n").fields["payload"] == {"command": "a | b", "cwd": "/home/ann"}


def test_another_shell_is_called_as_cron_calls_it() -> None:
    payload = only("SHELL=/bin/bash\n@daily a <(b ${C})\n").fields["payload"]
    assert payload["command"] == ["/bin/bash", "-c", "a <(b ${C})"]
    assert payload["env"] == {"SHELL": "/bin/bash"}


def test_home_is_where_the_command_begins() -> None:
    payload = only("HOME=/srv/app\n@daily x\n").fields["payload"]
    assert (payload["cwd"], payload["env"]) == ("/srv/app", {"HOME": "/srv/app"})


@pytest.mark.parametrize("text", ["HOME=app\n@daily x\n", "HOME=${X}\n@daily x\n"])
def test_a_home_that_is_no_folder_is_left_out_with_a_note(text: str) -> None:
    task = only(text)
    assert "cwd" not in task.fields["payload"]
    assert "fresh, empty folder" in task.notes[0]


def test_a_user_of_a_system_crontab_lends_its_home_and_is_noted() -> None:
    task = only("@daily www-data x\n", system=True)
    assert task.fields["payload"]["cwd"] == "/var/www"
    assert "not as www-data" in task.notes[0]


def test_the_home_of_an_unknown_user_is_unknown() -> None:
    assert "cwd" not in only("@daily nobody x\n", system=True).fields["payload"]


def test_input_is_given_to_the_command() -> None:
    assert only("@daily cat%a%b\n").fields["payload"]["stdin"] == "a\nb\n"
    assert "stdin" not in only("@daily cat%\n").fields["payload"]


def test_a_value_that_would_be_a_place_for_an_argument_stays_the_text_that_it_is() -> None:
    payload = only("X=${HOME}'s\nY=1\n@daily echo $X\n").fields["payload"]
    assert payload["command"] == """export X='${HOME}'"'"'s'; echo $X"""
    assert payload["env"] == {"Y": "1"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SHELL=/opt/odd\n@daily echo ${X}\n", "'/opt/odd' is not a shell that is known here"),
        ("SHELL=/bin/csh\nX=${Y}\n@daily echo $X\n", "csh cannot be given X"),
        (f"@daily echo {'x' * 300_000}\n", "payload"),
    ],
)
def test_what_no_task_can_say_is_refused(text: str, why: str) -> None:
    assert why in reason(text)


def test_csh_is_given_its_own_variables() -> None:
    assert only("SHELL=/bin/csh\n@daily echo ${X}\n").fields["payload"]["command"][0] == "/bin/csh"


@pytest.mark.parametrize(
    ("command", "note"),
    [
        ("sudo -u postgres pg_dump x", "no rights here"),
        ("cd /x && sudo reboot", "no rights here"),
        ("nohup /opt/x", "in the background"),
        ("/opt/x >/dev/null 2>&1 &", "in the background"),
    ],
)
def test_what_differs_from_cron_is_noted(command: str, note: str) -> None:
    assert note in only(f"@daily {command}\n").notes[0]


@pytest.mark.parametrize("command", ["pseudo x", "a && b", "/opt/x 2>&1", "echo 'a & b'"])
def test_what_only_looks_like_it_is_not(command: str) -> None:
    assert only(f"@daily {command}\n").notes == ()


def test_everything_that_is_refused_is_in_the_order_of_the_lines() -> None:
    found = planned("CRON_TZ=Nowhere\n@daily a\n@reboot b\n@daily www c\n")
    assert [one.number for one in found.refused] == [2, 3, 4]
    assert found.refused[0].text == "@daily a"


def test_a_task_that_is_there_is_compared_with_its_line() -> None:
    task = only("0 2 * * * x\n")
    there = {**task.fields, "id": 7}
    assert differences(task, there) == ()
    assert differences(task, there | {"schedule": "0 3 * * *", "priority": 1}) == ("schedule",)
    assert same_command(task, {"command": "x"})
    assert not same_command(task, {"url": "https://example.com"})
