"""Whatever the document allows and whatever it forbids, sent by everybody: no answer is a fault, all are as described.

`HOURHAND_EXAMPLES=20` sends many times as much, and other things each time.
"""

from __future__ import annotations

import base64
import json
import os
from contextlib import closing
from typing import TYPE_CHECKING, Any, cast

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.config import GenerationConfig

from api.fuzz_arena import arena
from api.fuzz_roles import VISITOR, Fuzz
from hourhand.api.app import create_app
from hourhand.model.words import Role
from hourhand.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hourhand.store import Store
    from postgres import Cluster

FACTOR = os.environ.get("HOURHAND_EXAMPLES")
EXAMPLES = max(int(3 * float(FACTOR or 1)), 1)
LEAST = 150
"""Cases that each role must have sent in the end, on each store."""


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def fuzz(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzz]:
    arguments: list[str] = []
    if request.param == "postgresql":
        cluster: Cluster = request.getfixturevalue("cluster")
        arguments = ["--store", cluster.create_database()]
    key = base64.b64encode(bytes(range(32))).decode()
    with (
        arena(tmp_path_factory.mktemp("fuzz"), *arguments, HOURHAND_SECRET_KEY=key) as made,
        closing(Fuzz(made)) as fuzz,
    ):
        fuzz.open()
        yield fuzz


def _described() -> schemathesis.BaseSchema:
    """Read the document, which needs no store."""
    schema = schemathesis.openapi.from_dict(create_app(cast("Store", None), Settings()).openapi())
    schema.config.max_stream_events = 1
    schema.config.generation = GenerationConfig(with_security_parameters=False)
    schema.config.phases.coverage.enabled = FACTOR is not None
    return schema


DOCUMENT = _described()


@DOCUMENT.parametrize()
@settings(
    max_examples=EXAMPLES,
    derandomize=FACTOR is None,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_no_request_is_a_fault_of_ours(case: schemathesis.Case[Any], fuzz: Fuzz) -> None:
    fuzz.send(case)


def test_this_is_the_document_that_is_served(fuzz: Fuzz) -> None:
    assert fuzz.arena.document == json.loads(json.dumps(DOCUMENT.raw_schema))


def test_everybody_has_sent_many(fuzz: Fuzz, record_property: Callable[[str, object], None]) -> None:
    for who in (VISITOR, *Role):
        by_status = {status: count for (one, status), count in sorted(fuzz.answers.items()) if one == who}
        print(f"\n{who}: {fuzz.sent[who]} cases, {by_status}", end="")  # noqa: T201 - what -s is for
        record_property(f"cases as {who}", fuzz.sent[who])
        assert fuzz.sent[who] >= LEAST
    assert fuzz.answers[VISITOR, 401] > LEAST
    assert fuzz.answers[Role.VIEWER, 403] > LEAST // 3
    assert fuzz.answers[Role.ADMIN, 200] > 20
    assert fuzz.answers[Role.ADMIN, 403] == 0
