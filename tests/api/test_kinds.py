"""`/api/v1/kinds`: what can be plugged in tells its parameters, and its example is accepted where it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonschema import Draft202012Validator

from api.answers import API, ok

if TYPE_CHECKING:
    import httpx


def test_every_kind_has_a_schema_that_its_example_fits(client: httpx.Client) -> None:
    items = ok(client.get(f"{API}/kinds"))["items"]
    assert {(one["role"], one["name"]) for one in items} == {
        ("runner", "command"),
        ("runner", "http"),
        ("runner", "python"),
        ("notifier", "apprise"),
        ("notifier", "webhook"),
    }
    for one in items:
        Draft202012Validator.check_schema(one["parameters"])
        Draft202012Validator(one["parameters"]).validate(one["example"])
        assert one["description"].endswith(".")


def test_the_examples_are_accepted_where_they_are_used(client: httpx.Client) -> None:
    for one in ok(client.get(f"{API}/kinds"))["items"]:
        name = f"example of {one['name']}"
        if one["role"] == "runner":
            task = {"name": name, "type": one["name"], "payload": one["example"]}
            ok(client.post(f"{API}/tasks", json=task), 201)
        else:
            rule = {"name": name, "condition": {"kind": "failed"}, "targets": [one["example"]]}
            ok(client.post(f"{API}/alert-rules", json=rule), 201)


def test_a_key_that_the_schema_does_not_know_is_refused_where_it_is_used(client: httpx.Client) -> None:
    for one in ok(client.get(f"{API}/kinds"))["items"]:
        if one["role"] == "runner":
            assert one["parameters"]["additionalProperties"] is False
            task = {"name": f"wrong {one['name']}", "type": one["name"], "payload": {**one["example"], "colour": "red"}}
            assert client.post(f"{API}/tasks", json=task).status_code == 422
