"""The OpenAPI document says what the API does: every answer has a shape, every shape an example that fits it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import openapi_spec_validator
import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from api.answers import API
from hourhand import __version__
from hourhand.api import shapes
from hourhand.model.instance import Instance
from hourhand.model.task import Task, TaskDefinition

if TYPE_CHECKING:
    import httpx

    from serving import Served

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
        for method, operation in methods.items():
            public = path in ("/healthz", "/readyz") or path.startswith(f"{API}/callbacks/")
            public |= (method, path) == ("post", f"{API}/sessions")
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


def test_a_validator_finds_nothing_wrong(document: dict[str, Any]) -> None:
    openapi_spec_validator.validate(document)


def test_every_operation_has_a_name_of_its_own(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for methods in document["paths"].values() for operation in methods.values()]
    assert len(names) == len(set(names))
    assert {"list_tasks", "run_task", "list_instances"} <= set(names)


def test_a_generator_makes_a_client_from_it_that_works(
    document: dict[str, Any], served: Served, client: httpx.Client, tmp_path: Path
) -> None:
    written = tmp_path / "openapi.json"
    written.write_text(json.dumps(document))
    generator = Path(sys.prefix) / "generator/bin/openapi-python-client"
    made = subprocess.run(
        [generator, "generate", "--path", written, "--meta", "none", "--output-path", tmp_path / "generated"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{generator.parent}:{os.environ['PATH']}"},
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert "WARNING" not in made.stdout + made.stderr
    token = client.headers["Authorization"].removeprefix("Bearer ")
    script = f"""
import sys; sys.path.insert(0, {str(tmp_path)!r})
from generated import AuthenticatedClient
from generated.api.tasks import list_tasks
from generated.api.health import version
client = AuthenticatedClient(base_url={served.address!r}, token={token!r}, raise_on_unexpected_status=True)
print(version.sync(client=client).version, type(list_tasks.sync(client=client, limit=3)).__name__)
"""
    used = subprocess.run([generator.parent / "python", "-c", script], capture_output=True, text=True, check=False)
    assert used.returncode == 0, used.stderr
    assert used.stdout.strip() == f"{__version__} TaskPage"


def _example(schema: dict[str, Any], document: dict[str, Any]) -> Any:
    """An example: its own, or put together from those of its parts; None where one is missing."""
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    own = [*schema.get("examples", ()), *(schema[key] for key in ("const", "default") if key in schema)]
    if own or "anyOf" in schema:
        return own[0] if own else _example(schema["anyOf"][0], document)
    kind = schema.get("type")
    if kind == "object":
        parts = {name: _example(part, document) for name, part in schema.get("properties", {}).items()}
        return None if any(parts[name] is None for name in schema.get("required", parts)) else parts
    if kind == "array":
        return [_example(schema["items"], document)]
    return schema["enum"][0] if "enum" in schema else {"integer": 1, "boolean": True}.get(str(kind))


def test_every_body_and_every_answer_has_an_example_that_fits_it(document: dict[str, Any]) -> None:
    checked = 0
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            contents = [answer.get("content", {}) for status, answer in operation["responses"].items() if status < "3"]
            contents.append(operation.get("requestBody", {}).get("content", {}))
            for schema in (one["application/json"]["schema"] for one in contents if "application/json" in one):
                example = _example(schema, document)
                assert example is not None, (method, path)
                Draft202012Validator({**schema, "components": document["components"]}).validate(example)
                checked += 1
    assert checked > 90
