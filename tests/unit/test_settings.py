"""Settings: where they come from, and how a wrong one is refused."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path

import pytest

from hourhand.model.errors import InvalidInput
from hourhand.settings import Settings, is_loopback, load_settings, misspelt_variables


@pytest.fixture(autouse=True)
def clean_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"HOURHAND_{name.upper()}", raising=False)
    return tmp_path


def refusal(**flags: object) -> str:
    with pytest.raises(InvalidInput) as caught:
        load_settings(**flags)
    return str(caught.value)


def test_defaults(clean_folder: Path) -> None:
    settings = load_settings()
    assert settings.data_dir == clean_folder / "hourhand-data"
    assert settings.store == f"sqlite:///{clean_folder}/hourhand-data/hourhand.db"
    assert settings.admin_token_file == clean_folder / "hourhand-data" / "admin-token"
    assert (settings.host, settings.port, settings.group) == ("127.0.0.1", 8420, "default")
    assert (settings.concurrency, settings.retention_days) == (32, 30)
    assert (settings.heartbeat_seconds, settings.lease_seconds) == (5, 15)
    assert (settings.url, settings.token) == ("http://127.0.0.1:8420", None)
    assert settings.http_allow == ()
    assert settings.trusted_proxies == ()
    assert settings.on_sqlite


def test_flags_beat_the_environment_which_beats_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("hourhand.toml").write_text('port = 1001\ngroup = "file"\nconcurrency = 7\n')
    monkeypatch.setenv("HOURHAND_PORT", "1002")
    monkeypatch.setenv("HOURHAND_GROUP", "environment")
    settings = load_settings(port=1003, host=None)
    assert (settings.port, settings.group, settings.concurrency) == (1003, "environment", 7)


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("hourhand.toml").write_text("port = 1001\n")
    monkeypatch.setenv("HOURHAND_PORT", "")
    assert load_settings().port == 1001


def test_an_unknown_key_in_the_file_is_refused_with_the_known_ones() -> None:
    Path("hourhand.toml").write_text("prot = 1001\n")
    message = refusal()
    assert "prot in hourhand.toml" in message
    assert "is not a setting" in message
    assert "port" in message


@pytest.mark.parametrize("content", [b"port = = 1", b"\xff\xfe"])
def test_a_file_that_is_not_toml_is_refused(content: bytes) -> None:
    Path("hourhand.toml").write_bytes(content)
    assert "hourhand.toml: cannot be read" in refusal()


def test_a_refusal_names_the_flag() -> None:
    message = refusal(port=70_000)
    assert message.startswith("--port: 70000 is refused")
    assert "65535" in message


def test_a_refusal_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOURHAND_CONCURRENCY", "many")
    assert refusal().startswith("HOURHAND_CONCURRENCY: 'many' is refused")


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("port", "abc", "it is not a whole number; give one, such as 8420"),
        ("port", "tcp://10.0.0.1:8420", "Kubernetes sets it so"),
        ("metrics_port", "abc", "it is not a whole number; give one"),
        ("lease_seconds", "abc", "it is not a number; give one, such as 15"),
        ("heartbeat_seconds", "nan", "it is not a number; give one, such as 5"),
        ("allow_remote", "perhaps", "it is neither true nor false"),
        ("concurrency", "0", "give at least 1"),
        ("retention_days", "99999999", "give at most 36500"),
        ("url", "ftp://host", "give one such as http://127.0.0.1:8420"),
        ("group", "a b", "letters, digits, dots, dashes and underscores"),
    ],
)
def test_a_refusal_says_in_words_what_would_be_right(
    setting: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"HOURHAND_{setting.upper()}", value)
    message = refusal()
    assert message.startswith(f"HOURHAND_{setting.upper()}: {value!r} is refused: ")
    assert said in message
    assert "nput should" not in message


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("HOURHAND_PROT", "HOURHAND_PORT"),
        ("HOURHAND_DATADIR", "HOURHAND_DATA_DIR"),
        ("HOURHAND_HTTP_ALOW", "HOURHAND_HTTP_ALLOW"),
        ("HOURHAND_PORT", None),
        ("HOURHAND_port", None),
        ("HOURHAND_DEBUG", None),
        ("HOURHAND_SERVICE_PORT", None),
        ("HOURHAND_INSTANCE_ID", None),
        ("HOURHAND_PROGRESS", None),
        ("PROT", None),
    ],
)
def test_a_variable_that_is_nearly_a_setting_is_found(variable: str, meant: str | None) -> None:
    assert misspelt_variables({variable: "1"}) == ({} if meant is None else {variable: meant})


def test_a_refusal_names_the_file() -> None:
    Path("hourhand.toml").write_text("retention_days = 0\n")
    assert refusal().startswith("retention_days in hourhand.toml: 0 is refused")


def test_a_lease_must_outlast_two_heartbeats() -> None:
    message = refusal(heartbeat_seconds=5, lease_seconds=10)
    assert message.startswith("--lease-seconds: 10 is too short for a heartbeat of 5 s")
    assert "more than 10" in message
    assert load_settings(heartbeat_seconds=5, lease_seconds=10.5).lease_seconds == 10.5


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "example.org", ""])  # noqa: S104  # refused is the point
def test_an_address_others_can_reach_needs_a_flag(host: str) -> None:
    assert "--allow-remote" in refusal(host=host)
    assert load_settings(host=host, allow_remote=True).host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "[::1]", "localhost"])
def test_loopback_addresses_need_none(host: str) -> None:
    assert is_loopback(host)
    assert load_settings(host=host).host == host


@pytest.mark.parametrize("url", ["mysql://u@h/d", "postgres://u@h/d", "sqlite://", "hourhand.db", "postgresql://"])
def test_a_store_of_another_kind_is_refused_with_the_known_forms(url: str) -> None:
    message = refusal(store=url)
    assert message.startswith(f"--store: {url!r} is not a store")
    assert "postgresql://user" in message


def test_a_refused_store_does_not_show_its_password() -> None:
    message = refusal(store="mysql://me:canary-7@host/db")
    assert "canary-7" not in message
    assert "me:***@host" in message


def test_a_secret_is_never_part_of_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOURHAND_SECRET_KEY", "canary-8")
    monkeypatch.setenv("HOURHAND_SECRET_KEY_FILE", "key")
    message = refusal()
    assert "secret_key" in message.lower()
    assert "canary-8" not in message


def test_a_secret_is_not_shown_with_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOURHAND_TOKEN", "canary-9")
    assert "canary-9" not in repr(load_settings())


@pytest.mark.parametrize("name", ["http_allow", "trusted_proxies"])
def test_networks_are_given_with_commas(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"HOURHAND_{name.upper()}", "10.1.0.0/16, fd00::/8")
    assert getattr(load_settings(), name) == (ip_network("10.1.0.0/16"), ip_network("fd00::/8"))


def test_a_list_of_networks_may_come_from_the_file() -> None:
    Path("hourhand.toml").write_text('http_allow = ["10.1.0.0/16"]\n')
    assert load_settings().http_allow == (ip_network("10.1.0.0/16"),)


def test_a_wrong_network_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOURHAND_HTTP_ALLOW", "10.1.0.0/99")
    message = refusal()
    assert message.startswith("HOURHAND_HTTP_ALLOW: ")
    assert "10.1.0.0/99" in message
    assert "10.1.0.0/16,fd00::/8" in message


def test_no_metrics_port_is_open_unless_one_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().metrics_port is None
    monkeypatch.setenv("HOURHAND_METRICS_PORT", "9100")
    assert load_settings().metrics_port == 9100
    assert refusal(metrics_port=0).startswith("--metrics-port: 0 is refused")
