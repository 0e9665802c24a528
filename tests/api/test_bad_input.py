"""Whatever is sent, the answer is never a fault of ours: it is a problem that says what is wrong and would be right."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import quote

import pytest
from pydantic_core.core_schema import ErrorType

from api.answers import API
from api.fuzz_arena import PASSWORD, Arena, arena
from api.fuzz_values import NEVER, NO_JSON, TIMES, allows, body_with, is_time, places, resolved, values_for
from hourhand.api.gate import LARGER_BODIES, MAX_BODY_BYTES
from hourhand.api.wording import field_error

if TYPE_CHECKING:
    from collections.abc import Iterator

TASK = {"name": "x", "type": "command", "payload": {"command": ["true"]}, "tags": ["x"], "dependency_ids": [1]}
WINDOW = {"name": "x", "scope": "task", "task_id": 1, "schedule": "@daily", "duration_seconds": 60, "reason": "x"}
RULE = {"name": "x", "condition": {"kind": "failed"}, "targets": []}
BODIES: dict[str, Any] = {
    "POST /callbacks/{instance_id}/{fence}/{signature}": {"status": "running"},
    "POST /sessions": {"name": "x", "password": PASSWORD},
    "POST /sessions/current/password": {"old": PASSWORD, "new": f"{PASSWORD}!"},
    "POST /tasks": TASK,
    "PATCH /tasks/{task_id}": {"description": "x"},
    "POST /tasks/apply": {"name": "x", "tasks": [{"name": "x", "command": ["true"]}], "dry_run": True},
    "POST /tasks/batch": {"tasks": [TASK]},
    "POST /tasks/bulk": {"action": "disable", "filter": {"q": "nothing is called so"}, "dry_run": True},
    "POST /tasks/{task_id}/run": {"args": {}, "key": "x"},
    "POST /tasks/{task_id}/backfill": {"from": "2026-11-01T00:00:00Z", "to": "2026-11-02T00:00:00Z"},
    "POST /instances": {"task_id": 1, "key": "x"},
    "POST /instances/bulk": {"action": "cancel", "filter": {"executor_id": "nobody"}, "dry_run": True},
    "POST /instances/dispatch": {"ids": [1]},
    "POST /instances/{instance_id}/cancel": {"reason": "x"},
    "POST /instances/{instance_id}/retry": {"args": {}},
    "POST /groups": {"name": "x", "address_list": ["http://127.0.0.1:9/"]},
    "PATCH /groups/{group_id}": {"title": "x"},
    "POST /schedules/preview": {"schedule": "@daily"},
    "POST /pauses": {"scope": "task", "task_id": 1, "reason": "x"},
    "POST /calendars": {"name": "x", "definition": {"weekdays": [6, 7], "include": ["2026-11-15"]}},
    "PATCH /calendars/{calendar_id}": {"definition": {"country": "CN"}},
    "POST /maintenance-windows": WINDOW,
    "PATCH /maintenance-windows/{window_id}": {"enabled": False},
    "POST /alert-rules": RULE,
    "PATCH /alert-rules/{rule_id}": {"enabled": True},
    "POST /data-sources": {"name": "x", "dialect": "sqlite", "database": "/none/shop.db", "test": False},
    "PATCH /data-sources/{source_id}": {"database": "/none/other.db", "test": False},
    "POST /operations/{kind}": {"config": {"data_source": "none", "tables": ["x"]}},
    "POST /operations/{kind}/preview": {"config": {"data_source": "none", "tables": ["x"]}},
    "POST /users": {"name": "x", "password": PASSWORD, "role": "viewer", "groups": ["default"]},
    "PATCH /users/{user_id}": {"role": "viewer"},
    "POST /tokens": {"name": "x", "role": "viewer", "groups": ["default"]},
}
"""Every route that takes a body, with one that it takes."""
NO_OBJECTS = ("[]", "[{}]", "null", "true", "1", '"x"', "NaN", "")
NO_IDS = (
    "abc",
    "1e3",
    "1.0",
    "+1",
    "%201",
    "1_0",
    "%00",
    "%EF%BC%91",
    "%F0%9F%95%90",
    "..%2F1",
    "1%2F..",
    "%FF",
    "9" * 5000,
)
NO_SUCH_IDS = ("0", "-1", str(2**31), str(2**63 - 1), str(2**63), str(2**70))
NO_CURSORS = ("", "x", "null", "W10", "WyJuYW1lIl0", "WyJuYW1lIiwgMV0", "bnVsbA==", "%00", "%FF", "a" * 5000, "-1")
NO_NUMBERS = ("", "x", "1.5", "1e3", "NaN", "Infinity", "0x1", "%EF%BC%91", str(2**63), str(10**400), "9" * 5000, "-2")
ALIKE = [{"tasks", "users"}, {"tokens", "sessions"}, {"instances", "execution-logs"}]
"""Their places are of one kind, so that a cursor of one is a place in the other."""
COOKIES = [f"hourhand_session={value}" for value in ("", "x", '"x\\"', "\xff", "x" * 10_000)]
COOKIES += ["", "x", "=", ";;;", "hourhand_session", "\xff=\xff", "; ".join(["hourhand_session=x"] * 500)]
NO_PATHS = ["//api/v1/tasks", "/api//v1/tasks", "/api/v1/tasks/", "/api/v1/tasks//", "/api/v1%2Ftasks/1"]
NO_PATHS += ["/api/v1/tasks%2F1", "/API/v1/tasks", "/api/v1/../v1/tasks", "/api/v1/./tasks", "/api/v1/tasks;x=1"]
NO_PATHS += ["/api/v1/tasks%20", "/%", "/%00", "/%FF", "/%E2%98%83", "/docs/..%2F..%2Fetc%2Fpasswd", "/docs/none"]
NO_PATHS += [f"/{'x' * 50_000}", f"/{'/' * 5000}"]


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    with arena(tmp_path_factory.mktemp("arena")) as made:
        yield made


@pytest.fixture(scope="module")
def callback(there: Arena) -> Iterator[str]:
    address = there.callback()
    yield address
    there.admin.ask("POST", address, b'{"status": "success"}')  # else the process would wait for it when it stops


@pytest.fixture
def target(there: Arena, callback: str, request: pytest.FixtureRequest) -> tuple[str, str]:
    """Return the method and the path of a route's name."""
    method, path = str(request.param).split(" ")
    return method, callback if "/callbacks/" in path else there.path(f"{API}{path}")


def schema_of(there: Arena, name: str) -> dict[str, Any]:
    method, path = name.split(" ")
    described = there.document["paths"][f"{API}{path}"][method.lower()]["requestBody"]
    schema = resolved(described["content"]["application/json"]["schema"], there.document)
    forms: list[dict[str, Any]] = [form for form in schema.get("anyOf", [schema]) if form.get("type") == "object"]
    assert len(forms) == 1, schema
    return forms[0]


every_body = pytest.mark.parametrize(("target", "name"), [(name, name) for name in BODIES], indirect=["target"])


def test_every_route_with_a_body_is_here(there: Arena) -> None:
    described = {f"{method} {path.removeprefix(API)}" for method, path, it in there.operations() if "requestBody" in it}
    assert described == BODIES.keys()


@every_body
def test_the_bodies_here_are_right_as_they_are(there: Arena, target: tuple[str, str], name: str) -> None:
    answer = there.admin.ask(*target, json.dumps(BODIES[name]).encode())
    if answer.status >= 300:
        answer.refused(401, 404, 409, 422)  # the state is against it, or a name that there is not


@every_body
def test_no_value_in_any_field_is_a_fault_of_ours(there: Arena, target: tuple[str, str], name: str) -> None:
    method, path = target
    sent = 0
    for place, schema in places(schema_of(there, name)):
        for said, value in values_for(schema).items():
            answer = there.admin.ask(method, path, body_with(BODIES[name], place, value))
            sent += 1
            about = f"{name} with {said} at {place}"
            must = said in NEVER or said in TIMES or not allows(schema, value)
            must &= not (place == ("after",) and said == "the year 1")  # a preview may look from anywhere
            try:
                if must or answer.status >= 300:
                    answer.refused()
                if must:
                    assert answer.status in (400, 422), answer
            except AssertionError as error:
                raise AssertionError(f"{about}: {error}") from error
    assert sent >= 10


@every_body
def test_what_is_no_object_is_refused(there: Arena, target: tuple[str, str], name: str) -> None:
    required = there.document["paths"][f"{API}{name.split(' ')[1]}"][target[0].lower()]["requestBody"].get("required")
    for body in NO_OBJECTS:
        if not required and body in ("null", ""):
            continue  # it may be left out
        there.admin.ask(*target, body.encode()).refused(400, 422)


@every_body
def test_unknown_missing_and_repeated_keys_are_refused(there: Arena, target: tuple[str, str], name: str) -> None:
    body, schema = BODIES[name], schema_of(there, name)
    there.admin.ask(*target, json.dumps({**body, "no such key": 1}).encode()).refused(422)
    for key in schema.get("required", ()):
        left = {each: value for each, value in body.items() if each != key}
        found = there.admin.ask(*target, json.dumps(left).encode()).refused(422)
        assert key in [each["field"] for each in found["errors"]]
    twice = json.dumps(body).replace("{", f'{{"{next(iter(body))}": 1, ', 1)
    found = there.admin.ask(*target, twice.encode()).refused(400)
    assert next(iter(body)) in found["detail"]


@every_body
def test_what_is_no_body_at_all_is_refused(there: Arena, target: tuple[str, str], name: str) -> None:
    ask, body = there.admin.ask, json.dumps(BODIES[name]).encode()
    ask(*target, b'{"x": "' + b"x" * LARGER_BODIES.get(target, MAX_BODY_BYTES) + b'"}').refused(413)
    ask(*target, b"[" * 1000).refused(400)
    ask(*target, b'{"x":' * 100_000).refused(400)
    ask(*target, b'{"x": "\xff"}').refused(400)
    ask(*target, json.dumps(BODIES[name]).encode("utf-16")).refused(400)
    ask(*target, body[:-1]).refused(400, 422)
    ask(*target, body + body).refused(400, 422)
    for value in NO_JSON:
        ask(*target, body_with(BODIES[name], ("x",), value)).refused(400)
        ask(*target, body_with(BODIES[name], ("x", 0, "x"), value)).refused(400)
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "json",
        "\xff",
    ):
        ask(*target, body, Content_Type=kind).refused(415)


@pytest.mark.parametrize("kind", get_args(ErrorType))
def test_nothing_that_pydantic_refuses_is_told_in_its_words(kind: str) -> None:
    context = dict.fromkeys(("error", "gt", "ge", "lt", "le", "max_length", "min_length", "actual_length"), 1)
    context |= dict.fromkeys(("pattern", "multiple_of", "expected"), 1)
    told = field_error({"type": kind, "loc": ("body", "x"), "input": 1, "msg": "canary", "ctx": context})
    assert told["field"] == ("body" if kind == "json_invalid" else "x")
    assert "canary" not in told["message"] or kind in ("value_error", "assertion_error")


def test_no_id_in_a_path_is_a_fault_of_ours(there: Arena) -> None:
    tried = 0
    for method, template, _ in there.operations():
        named = [part[1:-1] for part in template.split("/") if part.startswith("{")]
        for name in named:
            for value in (*NO_IDS, *NO_SUCH_IDS):
                answer = there.admin.ask(method, there.path(template, **{name: value}))
                answer.refused(*((404, 422) if value in NO_IDS else (404, 410, 422)))
                tried += 1
    assert tried > 400


def test_no_parameter_is_a_fault_of_ours(there: Arena) -> None:
    tried = 0
    for method, template, described in there.operations():
        parameters = [each for each in described.get("parameters", ()) if each["in"] == "query"]
        path = there.path(template)
        if method != "GET":
            continue
        if "/callbacks/" not in path and not path.startswith(("/healthz", "/readyz")):
            there.admin.ask(method, f"{path}?no-such=1").refused(422)
        for each in parameters:
            schema = resolved(each["schema"], there.document)
            for value, must in _wrong_parameters(each["name"], schema):
                answer = there.admin.ask(method, f"{path}?{each['name']}={value}")
                tried += 1
                try:
                    if must or answer.status >= 300:
                        answer.refused(422)
                except AssertionError as error:
                    raise AssertionError(f"{path}?{each['name']}={value[:100]}: {error}") from error
            if path != "/readyz":
                there.admin.ask(method, f"{path}?{each['name']}=1&{each['name']}=1").refused(422)
    assert tried > 500


def _wrong_parameters(name: str, schema: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Values, and whether they must be refused."""
    forms = schema.get("anyOf", [schema])
    kinds = {form.get("type") for form in forms}
    yield "%00", True
    yield "%FF%FE", "string" not in kinds
    yield "x" * 20_000, True
    if name == "cursor":
        yield from ((value, True) for value in NO_CURSORS)
    elif is_time(schema):
        yield from ((quote(json.loads(value), safe=""), True) for value in TIMES.values() if value.startswith('"'))
    elif "integer" in kinds:
        yield from ((value, True) for value in NO_NUMBERS)
    elif "boolean" in kinds or any("enum" in form or "const" in form for form in forms):
        yield from ((value, True) for value in ("x", "2", "-1", "TRUEX", "%EF%BC%91"))
    else:
        yield from ((value, False) for value in ("", "'", "%25", "%5C", "%F0%9F%95%90", "\u00ad".encode().hex()))


def test_a_cursor_of_another_list_is_refused(there: Arena) -> None:
    there.populate()
    lists = [
        there.path(path)
        for method, path, described in there.operations()
        if method == "GET" and "cursor" in [each["name"] for each in described.get("parameters", ())]
    ]
    cursors = {path: there.admin.ask("GET", f"{path}?limit=1").json["next_cursor"] for path in lists}
    given = {path: cursor for path, cursor in cursors.items() if cursor}
    assert len(given) >= 4
    for path in lists:
        for other, cursor in given.items():
            answer = there.admin.ask("GET", f"{path}?cursor={quote(cursor, safe='')}")
            if path == other:
                assert answer.status == 200
            elif answer.status != 200 or {path.rsplit("/", 1)[1], other.rsplit("/", 1)[1]} not in ALIKE:
                assert [each["field"] for each in answer.refused(422)["errors"]] == ["cursor"], (path, other)


@pytest.mark.parametrize("path", ["instances", "execution-logs", "audit-logs", "stats/series", "stats/distribution"])
def test_a_period_that_ends_before_it_begins_is_refused(there: Arena, path: str) -> None:
    query = "from=2026-11-15T09:00:00Z&to=2026-11-14T09:00:00Z"
    found = there.admin.ask("GET", f"{API}/{path}?{query}").refused(422)
    assert [each["field"] for each in found["errors"]] == ["from"]


def test_a_range_to_backfill_that_ends_before_it_begins_is_refused(there: Arena) -> None:
    body = json.dumps({"from": "2026-11-15T09:00:00Z", "to": "2026-11-14T09:00:00Z"}).encode()
    there.admin.ask("POST", there.path(f"{API}/tasks/{{task_id}}/backfill"), body).refused(422)


def test_whoever_is_limited_to_a_group_reaches_no_further_by_writing_an_id_in_another_way(there: Arena) -> None:
    """The reach is checked for what a path says, and what it says is read once more by the route."""
    other = there.admin.send("POST", "/groups", {"name": "elsewhere"})["name"]
    made = there.admin.send("POST", "/tokens", {"name": "limited", "role": "operator", "groups": [other]})
    line = there.line(made["token"])
    try:
        task = there.ids["task_id"]
        line.ask("GET", f"{API}/tasks/{task}").refused(403)
        for written in (f"+{task}", f"%20{task}", f"{task}%20", f"{task}.0", f"{task}%0A", f"0_{task}"):
            line.ask("GET", f"{API}/tasks/{written}").refused(422)
        for written in (f"0{task}", f"000{task}"):
            line.ask("GET", f"{API}/tasks/{written}").refused(403)
    finally:
        line.close()


@pytest.mark.parametrize(
    "key", ["", " ", "\t", "x" * 201, "x" * 10_000, "\xfc", "a\x7fb", "a\tb"], ids=lambda key: f"{key[:5]!a}-{len(key)}"
)
def test_a_strange_idempotency_key_is_refused(there: Arena, key: str) -> None:
    body = json.dumps({"name": "once", "role": "viewer"}).encode()
    answer = there.admin.ask("POST", f"{API}/tokens", body, Idempotency_Key=key)
    found = answer.refused(400, 422)  # a control character is none of HTTP either
    assert answer.status == 400 or [each["field"] for each in found["errors"]] == ["Idempotency-Key"]


@pytest.mark.parametrize("given", ["", "x" * 65, "\xff", "a b", "{}", "x" * 10_000, "../..", "<script>"])
def test_a_strange_request_id_is_replaced(there: Arena, given: str) -> None:
    answer = there.admin.ask("GET", f"{API}/version", X_Request_Id=given)
    assert answer.status == 200
    assert len(answer.headers["x-request-id"]) == 32


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ("", 401),
        ("Bearer", 401),
        ("Bearer ", 401),
        ("bearer  x", 401),
        ("Bearer x y", 401),
        ("Basic YTpi", 401),
        ("Digest x", 401),
        ("Bearer \xff\xfe", 401),
        ("\xff", 401),
        ("Bearer " + "x" * 60_000, 401),
        ("Bearer " + "x" * 100_000, 431),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_whoever_shows_something_else_than_a_token_is_nobody(there: Arena, given: str, status: int) -> None:
    line = there.line(None)
    try:
        for method, path in (("GET", f"{API}/tasks"), ("POST", f"{API}/tasks"), ("GET", f"{API}/none")):
            line.ask(method, path, Authorization=given).refused(status)
    finally:
        line.close()


@pytest.mark.parametrize(
    "cookie",
    COOKIES,
    ids=lambda cookie: ascii(cookie)[:24],
)
def test_a_strange_cookie_opens_nothing_and_breaks_nothing(there: Arena, cookie: str) -> None:
    line = there.line(None)
    try:
        line.ask("GET", f"{API}/tasks", Cookie=cookie).refused(401)
        line.ask("POST", f"{API}/tasks", b"{}", Cookie=cookie).refused(401)
        assert line.ask("GET", "/healthz", Cookie=cookie).status == 200
    finally:
        line.close()
    assert there.admin.ask("GET", f"{API}/version", Cookie=cookie).status == 200


@pytest.mark.parametrize("method", ["PUT", "OPTIONS", "TRACE", "HEAD", "PROPFIND", "QUERY", "CONNECT"])
def test_a_method_that_nothing_answers_is_refused_and_the_others_are_named(there: Arena, method: str) -> None:
    for template, methods in there.document["paths"].items():
        answer = there.admin.ask(method, there.path(template))
        if method == "CONNECT":
            answer.refused(400, 405)  # it has an address, not a path
        elif method == "HEAD":
            assert answer.status in (200, 405, 404)
            assert answer.body == b""
        else:
            answer.refused(405)
            assert {each.upper() for each in methods} <= set(answer.headers["allow"].split(", "))


@pytest.mark.parametrize(
    "path",
    NO_PATHS,
    ids=lambda path: path[:30],
)
def test_a_path_that_is_not_quite_right_reaches_no_route(there: Arena, path: str) -> None:
    """Below `/api` and the like there is nothing; anywhere else is the UI, the same page to everybody."""
    line = there.line(None)
    try:
        answers = [there.admin.ask("GET", path), line.ask("GET", path)]
    finally:
        line.close()
    if answers[0].status == 200:
        pages = {(each.status, each.headers["content-type"], each.body) for each in answers}
        assert pages == {(200, "text/html; charset=utf-8", there.admin.ask("GET", "/").body)}
    else:
        answers[0].refused(404, 422)
        answers[1].refused(401)
