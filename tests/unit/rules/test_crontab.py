"""A crontab is read as cron reads it, and fires at the same minutes."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import islice

import pytest
from cronsim import CronSim

from hourhand.rules.crontab import Entry, looks_like_system, read_crontab
from hourhand.rules.crontab_names import LONGEST, names_of
from hourhand.rules.schedule import next_instant, parse
from unit.rules.cron_oracle import ours
from unit.rules.crontab_corpus import LINES
from unit.rules.vixie import Vixie

BEGIN = datetime.fromisoformat("2028-01-01T00:00:00+00:00")
BEFORE = BEGIN - timedelta(seconds=1)
MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
    "@every_minute": "* * * * *",
}


def only(text: str, *, system: bool = False) -> Entry:
    crontab = read_crontab(text, system=system)
    assert not crontab.refused
    assert len(crontab.entries) == 1
    return crontab.entries[0]


def refusal(line: str, *, system: bool = False) -> str:
    crontab = read_crontab(f"{line}\n", system=system)
    assert not crontab.entries
    assert [one.number for one in crontab.refused] == [1]
    return crontab.refused[0].reason


@pytest.mark.parametrize(("line", "schedule", "name"), LINES, ids=[line[:60] for line, _, _ in LINES])
def test_a_line_becomes_this_schedule_and_this_name(line: str, schedule: str, name: str) -> None:
    entry = only(f"{line}\n")
    assert entry.schedule == schedule
    assert names_of([entry]) == (name,)


def times_of(line: str) -> str:
    words = line.lstrip("-\t").split()
    return MACROS.get(words[0].lower()) or " ".join(words[:5])


@pytest.mark.parametrize("line", [line for line, _, _ in LINES], ids=[line[:60] for line, _, _ in LINES])
def test_a_line_fires_for_a_year_when_vixie_cron_would_fire_it(line: str) -> None:
    schedule = only(f"{line}\n").schedule
    vixie = Vixie(times_of(line))
    # What fires every few minutes is compared for a month in full, and for the year by the first minute of each day.
    days = 366 if len(vixie.minutes) <= 24 else 31
    expected = [moment for day in range(days) for moment in vixie.day(BEGIN + timedelta(days=day))]
    assert ours(schedule, "UTC", BEFORE, BEGIN + timedelta(days=days, seconds=-1)) == expected
    for day in range(days, 366):
        midnight = BEGIN + timedelta(days=day)
        first = next_instant(parse(schedule), midnight - timedelta(seconds=1))
        assert first is not None
        assert [first] * (first < midnight + timedelta(days=1)) == vixie.day(midnight)[:1]


@pytest.mark.parametrize("line", [line for line, _, _ in LINES], ids=[line[:60] for line, _, _ in LINES])
def test_a_line_fires_when_cronsim_says_that_debian_fires_it(line: str) -> None:
    expected = list(islice(CronSim(times_of(line), BEFORE), 40))
    assert ours(only(f"{line}\n").schedule, "UTC", BEFORE, expected[-1]) == expected


@pytest.mark.parametrize(
    ("when", "schedule"),
    [
        ("*/90 * * * *", "0 * * * *"),
        ("5-50/60 * * * *", "5 * * * *"),
        ("0 */24 * * *", "0 0 * * *"),
        ("0 0 */40 * *", "0 0 */31 * *"),
        ("0 0 1 */13 *", "0 0 1 1 *"),
        ("0 0 */2 * */9", "0 0 */2 * */7"),
        ("0 0 * * mon-fri/8", "0 0 * * mon"),
    ],
)
def test_a_step_out_of_its_field_matches_the_first_value_alone_as_in_cron(when: str, schedule: str) -> None:
    assert only(f"{when} x\n").schedule == schedule
    vixie = Vixie(when)
    expected = [moment for day in range(366) for moment in vixie.day(BEGIN + timedelta(days=day))]
    assert ours(schedule, "UTC", BEFORE, BEGIN + timedelta(days=366, seconds=-1)) == expected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("@reboot /opt/start", "let systemd start it"),
        ("@every_second /opt/bsd", "@every 1s"),
        ("@manual x", "'@manual' is not a word that crontabs have; they have @yearly"),
        ("@every 5m x", "'@every' is not a word"),
        ("0~59 * * * * x", "minute: '0~59' lets cron pick a number anew"),
        ("0 ~ * * * x", "hour: '~'"),
        ("5/15 * * * * x", "minute: '5/15' has a step without a range"),
        ("0,5/15 * * * * x", "write 5-59/15 or 5"),
        ("0 0 * jan/3 * x", "month: 'jan/3' has a step without a range"),
        ("0 0 * * 1/90 x", "write 1-7/90 or 1"),
        ("61 * * * * x", "minute: '61' is out of range"),
        ("0 0 30 2 * x", "never fires"),
        ("0 0 * * funday x", "day-of-week: 'funday'"),
        ("0 22-2 * * * x", "runs backwards"),
        ("0 5 * * * * x", "five fields"),
        ("0 5 * * *", "neither a setting"),
        ("@daily", "neither a setting"),
        ("nonsense", "neither a setting"),
        ("A='unclosed", "neither a setting"),
        ("0 5 * * * %only input", "no command before its first %"),
        ("0 5 * * * /opt/\udce9t\udce9", "the byte 0xe9, which is not UTF-8"),
        (f"{'1,' * 300}1 * * * * x", "characters are too many"),
    ],
)
def test_what_cannot_be_taken_over_is_named_with_the_reason(line: str, reason: str) -> None:
    assert reason in refusal(line)


def test_a_line_without_a_command_behind_its_user_is_refused() -> None:
    assert "no command behind the user 'backup'" in refusal("0 5 * * * backup", system=True)


def test_undecodable_bytes_are_shown_as_such() -> None:
    assert read_crontab("0 5 * * * \udce9\n", system=False).refused[0].text == "0 5 * * * \ufffd"


def test_a_system_crontab_names_the_user() -> None:
    entry = only("*/5 *\t* * *  www-data \t /opt/a  b\n", system=True)
    assert (entry.user, entry.command) == ("www-data", "/opt/a  b")


@pytest.mark.parametrize(
    ("text", "command", "stdin"),
    [
        ("mail joe%Dear Joe,%%bye%", "mail joe", "Dear Joe,\n\nbye\n"),
        ("date +\\%F", "date +%F", None),
        ("cat%100\\% sure%yes", "cat", "100% sure\nyes\n"),
        ("echo a\\\\%b", "echo a\\\\", "b\n"),
        ("echo a\\\\\\%b", "echo a\\\\%b", None),
        ("cat%a\\\\%b", "cat", "a\\%b\n"),
        ("cat%a%", "cat", "a\n"),
        ("true %", "true ", ""),
        ("echo a # b", "echo a # b", None),
        ("echo 'a  b'   ", "echo 'a  b'", None),
    ],
)
def test_a_percent_sign_ends_the_command_and_begins_its_input(text: str, command: str, stdin: str | None) -> None:
    entry = only(f"0 0 * * * {text}\n")
    assert (entry.command, entry.stdin) == (command, stdin)


def test_backslashes_in_a_row_which_crons_take_differently_are_noted() -> None:
    assert "Debian's cron makes one of them" in only("@daily printf 'a\\\\n'\n").notes[0]
    assert only("@daily printf 'a\\n' 5\\%\n").notes == ()
    assert only("@daily cat%a\\\\b\n").notes == (), "only in commands"


@pytest.mark.parametrize(
    ("setting", "name", "value"),
    [
        ("A=b", "A", "b"),
        ("A = b c  ", "A", "b c"),
        ("A='b c '", "A", "b c "),
        ('A="it\'s"', "A", "it's"),
        ("'A'=b", "A", "b"),
        ('"A" = b', "A", "b"),
        ("A=", "A", ""),
        ("A=''", "A", ""),
        ("A=b=c", "A", "b=c"),
        ("A=b'c'", "A", "b'c'"),
        ("  A=$HOME", "A", "$HOME"),
        ("A=b # c", "A", "b # c"),
    ],
)
def test_settings_are_read_as_cron_reads_them(setting: str, name: str, value: str) -> None:
    assert only(f"{setting}\n@daily x\n").settings == {name: value}


def test_settings_hold_for_the_lines_below_them() -> None:
    found = read_crontab("@daily a\nX=1\n@daily b\nX=2\n@daily c\n", system=False)
    assert [entry.settings for entry in found.entries] == [{}, {"X": "1"}, {"X": "2"}]


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("MAILTO=ops@example.com", "hourhand alert add"),
        ("RANDOM_DELAY=30", "without a delay"),
        ("LOGNAME=ann", "cron does not let it be set"),
        ("PATH=$HOME/bin", "fills no variables"),
        ("PATH=/bin # mine", "no comments behind settings"),
    ],
)
def test_a_setting_that_does_not_do_what_it_seems_to_is_remarked_on(setting: str, reason: str) -> None:
    (remark,) = read_crontab(f"\n{setting}\n", system=False).remarks
    assert (remark.number, remark.text) == (2, setting)
    assert reason in remark.reason


def test_a_setting_that_is_taken_over_needs_no_remark() -> None:
    assert not read_crontab('MAILTO=""\nPATH=/bin\nCRON_TZ=Asia/Tokyo\n', system=False).remarks


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("# Every night\n# at two\n@daily x\n", "Every night\nat two"),
        ("# A heading\n\n@daily x\n", None),
        ("# About cron\n#\n# m h  dom mon dow   command\n@daily x\n", None),
        ("# Backup\n# 0 5 * * * /old/line\n#@reboot /opt/old\n@daily x\n", "Backup"),
        (
            "# .---------------- minute (0 - 59)\n# |  .------------- hour\n# *  *  *  *  * user command\n@daily x\n",
            None,
        ),
        ("# DO NOT EDIT THIS FILE - edit the master and reinstall.\n# (/tmp/c installed on Mon)\n@daily x\n", None),
        ("## caf\udce9 ##\n@daily x\n", "caf\ufffd ##"),
        (f"# {'x' * 2000}\n@daily x\n", "x" * 1000),
        ("# of the setting\nA=b\n@daily x\n", None),
    ],
)
def test_the_comment_right_above_a_line_describes_it(text: str, description: str | None) -> None:
    assert only(text).description == description


def test_line_ends_of_windows_and_marks_of_editors_do_no_harm() -> None:
    entry = only("\ufeffA=b\r\n\r\n@daily x\r\n")
    assert (entry.number, entry.command, entry.settings) == (3, "x", {"A": "b"})


def test_a_last_line_without_its_end_is_read_with_a_note() -> None:
    assert "never ran it" in only("@daily x").notes[0]
    assert only("@daily x\n# the end").notes == ()
    assert not read_crontab("", system=False).entries
    assert not read_crontab("# nothing", system=False).entries


def test_a_very_long_line_is_read_whole() -> None:
    assert len(only(f"@daily echo {'x' * 100_000}\n").command) == 100_005


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("* * * * * root /opt/a\n# x\nA=b\n@daily www-data /opt/b\n", True),
        ("* * * * * git pull\n", None),
        ("* * * * * root /opt/a\n* * * * * /opt/b c\n", False),
        ("* * * * * root\n", False),
        ("* * * * * /opt/b c\n", False),
        ("", False),
    ],
)
def test_a_system_crontab_is_told_by_its_users_if_that_leaves_no_doubt(text: str, looks: bool | None) -> None:  # noqa: FBT001 - a column
    assert looks_like_system(text, {"root", "git", "www-data"}) is looks


def names(*commands: str, prefix: str = "") -> list[str]:
    found = read_crontab("".join(f"@daily {command}\n" for command in commands), system=False)
    return list(names_of(found.entries, prefix))


def test_lines_that_run_the_same_script_are_told_apart_by_its_arguments() -> None:
    assert names("/opt/backup.sh", "/opt/backup.sh --full /srv", "/opt/backup.sh daily") == [
        "backup",
        "backup-full-srv",
        "backup-daily",
    ]


def test_lines_that_differ_in_nothing_a_name_could_show_are_still_told_apart() -> None:
    first, second, third, fourth = names("/opt/a.sh", "/usr/a.sh", "/usr/a.sh", "/usr/a.sh")
    assert first == "a"
    assert second.startswith("a-")
    assert (third, fourth) == (f"{second}-2", f"{second}-3")


def test_a_line_that_is_added_below_changes_no_earlier_name() -> None:
    before = ["/opt/a.sh", "/usr/a.sh", "/opt/b.sh x"]
    assert names(*before, "/opt/a.sh", "/opt/b.sh")[:3] == names(*before)


def test_a_prefix_begins_every_name_and_long_ones_are_cut() -> None:
    assert names("/opt/a.sh", prefix="web-") == ["web-a"]
    (long,) = names(f"/opt/{'x' * 500}.sh")
    assert len(long) == LONGEST
