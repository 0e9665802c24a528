"""`/api/v1/kinds`: what can be plugged in tells its parameters, and its example is accepted where it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonschema import Draft202012Validator

from api.answers import API, ok
from hourhand.model.data_source import Dialect
from hourhand.operations.catalogue import Catalogue

if TYPE_CHECKING:
    import httpx


def test_every_kind_has_a_schema_that_its_example_fits(client: httpx.Client) -> None:
    items = ok(client.get(f"{API}/kinds"))["items"]
    operations = {("operation", kind.kind) for kind in Catalogue().all()}
    assert ("operation", "statistics_update") in operations
    assert {(one["role"], one["name"]) for one in items} - operations == {
        ("runner", "command"),
        ("runner", "http"),
        ("runner", "python"),
        ("runner", "operation"),
        ("notifier", "apprise"),
        ("notifier", "webhook"),
    }
    for one in items:
        Draft202012Validator.check_schema(one["parameters"])
        Draft202012Validator(one["parameters"]).validate(one["example"])
        assert one["description"].endswith(".")


def test_operations_tell_what_they_can_do_on_each_dialect(client: httpx.Client) -> None:
    for one in ok(client.get(f"{API}/kinds"))["items"]:
        if one["role"] != "operation":
            assert (one["number"], one["title"], one["dialects"]) == (None, None, None)
            continue
        assert set(one["dialects"]) == set(Dialect)
        for told in one["dialects"].values():
            assert bool(told["reason"]) == (told["support"] != "done")


def test_the_examples_are_accepted_where_they_are_used(client: httpx.Client) -> None:
    for one in ok(client.get(f"{API}/kinds"))["items"]:
        name = f"example of {one['name']}"
        payload = {"kind": one["name"], "config": one["example"]} if one["role"] == "operation" else one["example"]
        config = payload.get("config", {}) if one["role"] != "notifier" else {}
        for source in {config[field] for field in ("data_source", "target_data_source") if field in config}:
            place = {"name": source, "dialect": "sqlserver", "host": "db.example.com", "database": "shop"}
            assert client.post(f"{API}/data-sources", json=place).status_code in (201, 409)
        if one["role"] != "notifier":
            kind = "operation" if one["role"] == "operation" else one["name"]
            task = {"name": name, "type": kind, "payload": payload}
            ok(client.post(f"{API}/tasks", json=task), 201)
        else:
            rule = {"name": name, "condition": {"kind": "failed"}, "targets": [one["example"]]}
            ok(client.post(f"{API}/alert-rules", json=rule), 201)


def test_a_key_that_the_schema_does_not_know_is_refused_where_it_is_used(client: httpx.Client) -> None:
    for one in ok(client.get(f"{API}/kinds"))["items"]:
        if one["role"] != "notifier":
            assert one["parameters"]["additionalProperties"] is False
        if one["role"] == "runner":
            task = {"name": f"wrong {one['name']}", "type": one["name"], "payload": {**one["example"], "colour": "red"}}
            assert client.post(f"{API}/tasks", json=task).status_code == 422
