"""The OpenAPI document says what the API does: every answer has a shape, every shape an example that fits it."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from api.answers import API
from hourhand.api import shapes
from hourhand.model.instance import Instance
from hourhand.model.task import Task, TaskDefinition

if TYPE_CHECKING:
    import httpx

SHAPES = [shapes.TASK, shapes.VERSION, shapes.INSTANCE, shapes.EXECUTION_LOG, shapes.ATTEMPT, shapes.LINE]
SHAPES += [shapes.GROUP, shapes.EXECUTOR, shapes.DEFINITION]


@pytest.fixture
def document(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"{API}/openapi.json").json()
    return found


def test_every_answer_has_a_shape(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            for status, answer in operation["responses"].items():
                assert status == "204" or all(each["schema"] for each in answer["content"].values()), (method, path)


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    def references(value: object) -> list[str]:
        if isinstance(value, dict):
            own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
            return own + [found for each in value.values() for found in references(each)]
        return [found for each in value for found in references(each)] if isinstance(value, list) else []

    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    found = set(references(document))
    assert len(found) > 20
    assert found <= known


def test_a_token_is_asked_for_everywhere_but_where_the_address_is_one(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for operation in methods.values():
            public = path in ("/healthz", "/readyz") or path.startswith(f"{API}/callbacks/")
            assert ("security" in operation) != public, path


def test_a_new_task_is_described_with_its_fields_their_bounds_and_an_example(document: dict[str, Any]) -> None:
    operation = document["paths"][f"{API}/tasks"]["post"]
    given = operation["requestBody"]["content"]["application/json"]["schema"]
    assert given["properties"].keys() == {field.name for field in fields(TaskDefinition)} - {"declared_hash"}
    assert given["required"] == ["name", "type"]
    assert given["additionalProperties"] is False
    assert given["properties"]["priority"] == {"type": "integer", "minimum": 0, "maximum": 9, "default": 5}
    assert given["examples"][0]["name"]


def test_shapes_have_the_fields_of_their_nouns() -> None:
    assert shapes.TASK.model_fields.keys() == {field.name for field in fields(Task)} - {
        "wake_at",
        "anchored_at",
        "declared_hash",
    }
    instance = {field.name for field in fields(Instance)}
    assert shapes.INSTANCE.model_fields.keys() == instance | {"group"}
    assert shapes.EXECUTION_LOG.model_fields.keys() == (instance - {"log_id"}) | {"group", "instance_id"}


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_examples_fit_their_shapes(shape: Any) -> None:
    schema = shape.model_json_schema()
    (example,) = schema["examples"]
    read = shape.model_validate(example)
    assert read.model_dump(mode="json") == example
    with pytest.raises(ValidationError):
        shape.model_validate({})
