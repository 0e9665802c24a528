"""Signing in, and who may: the token of a link leaves no trace, and what is made here works."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from e2e.browsing import Complaints
    from e2e.conftest import Opens
    from serving import Served

PASSWORD = "seven-quiet-otters"  # noqa: S105  # of users that live as long as the test


@pytest.fixture
def quiet(complaints: Complaints) -> None:
    """Who is not signed in is told so, and the browser writes that down."""
    complaints.expected.append("401")


@pytest.mark.usefixtures("quiet")
def test_a_link_with_a_token_signs_in_and_leaves_no_trace_of_it(opens: Opens, served: Served) -> None:
    page = opens(token=None)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/healthz")
    page.goto(f"/sign-in?next=/audit#token={served.token}")
    expect(page.get_by_role("heading", name="Audit")).to_be_visible()
    assert served.token not in page.url
    assert not [url for url in asked if served.token in url]
    page.go_back()
    expect(page).to_have_url(f"{served.address}/healthz")  # the sign-in is no place to go back to

    with served.client() as api:
        viewer = {"name": "e2e-other", "role": "viewer"}
        other = api.post("/api/v1/tokens", json=viewer).raise_for_status().json()["token"]
    page.goto(f"/sign-in#token={other}")
    expect(page.get_by_role("status")).to_contain_text("You are signed in as admin (admin)")
    page.get_by_role("button", name="Stay admin").click()
    expect(page.get_by_role("status")).to_contain_text("signed in as admin (admin)")
    page.goto("/healthz")
    page.goto(f"/sign-in?next=/settings#token={other}")
    page.get_by_role("button", name="Sign in by the link").click()
    expect(page.get_by_role("banner")).to_contain_text("e2e-other")


@pytest.mark.usefixtures("quiet")
def test_whoever_is_sent_to_sign_in_comes_back_and_to_no_other_host(
    opens: Opens, api: httpx.Client, complaints: Complaints
) -> None:
    complaints.expected.append("422")
    api.post("/api/v1/users", json={"name": "e2e-ada", "password": PASSWORD, "role": "viewer"}).raise_for_status()
    page = opens(token=None)
    page.goto("/tasks?q=demo")
    page.get_by_label("Name").fill("e2e-ada")
    page.get_by_label("Password").fill("a wrong password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("The name or the password is wrong")
    expect(page.get_by_role("alert")).not_to_contain_text("signed in any more")
    _sign_in(page, "e2e-ada")
    expect(page).to_have_url(f"{api.base_url}/tasks?q=demo")
    expect(page.get_by_role("navigation").get_by_role("link", name="Users and tokens")).to_have_count(0)

    page.goto("/sign-in?next=//evil.example/")
    expect(page.get_by_role("status")).to_contain_text("signed in as e2e-ada (viewer)")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_text("Token", exact=True).click()
    expect(page.get_by_text("hourhand-data/admin-token")).to_be_visible()
    page.get_by_label("Access token").fill("no-such-token")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("The token is not a valid one")
    page.get_by_label("Access token").fill(api.headers["Authorization"].removeprefix("Bearer "))
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{api.base_url}/")
    page.goto("/sign-in?next=//evil.example/")
    page.get_by_role("button", name="Sign out").click()
    _sign_in(page, "e2e-ada")
    expect(page).to_have_url(f"{api.base_url}/")

    page.goto("/settings")
    for label, text in (
        ("The password I have", PASSWORD),
        ("The new one", "eight-quiet-otters"),
        ("The new one again", "eight-quiet-otters"),
    ):
        page.get_by_label(label, exact=True).fill(text)
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_text("your other sessions have ended")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()  # needs the new token against forgery
    expect(page).to_have_url(f"{api.base_url}/sign-in")


def _sign_in(page: Page, name: str, password: str = PASSWORD) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_a_user_is_made_limited_disabled_and_deleted(page: Page, api: httpx.Client) -> None:
    page.goto("/access")
    page.get_by_role("button", name="New user").click()
    form = page.get_by_role("dialog")
    expect(form.get_by_label("Name")).to_be_focused()
    form.get_by_label("Name").fill("e2e-bea")
    form.get_by_label("Password").fill("short")
    form.get_by_role("button", name="Save").click()
    expect(form.locator(".ant-form-item-explain-error")).to_have_text("At least 12 characters of any kind.")
    form.get_by_label("Password").fill(PASSWORD)
    form.get_by_role("button", name="Save").click()
    row = page.get_by_role("row").filter(has_text="e2e-bea")
    expect(row).to_contain_text("viewer")

    row.get_by_role("button", name="Edit").click()
    form.get_by_role("button", name="What was done to it").click()
    expect(form.get_by_role("button", name="admin create")).to_be_visible()
    form.get_by_label("Groups").click()
    page.get_by_title("demo-shop").click()
    form.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("demo-shop")
    row.get_by_role("button", name="Disable").click()
    page.get_by_role("tooltip").get_by_role("button", name="Disable").click()
    expect(row).to_contain_text("disabled")
    user = next(one for one in api.get("/api/v1/users").json()["items"] if one["name"] == "e2e-bea")
    assert user["groups"] == ["demo-shop"]
    assert user["disabled_at"]
    row.get_by_role("button", name="Delete").click()
    page.get_by_role("tooltip").get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)


def test_a_token_is_shown_once_works_and_is_worthless_once_revoked(page: Page, served: Served) -> None:
    page.goto("/access?tab=tokens")
    page.get_by_role("button", name="New token").click()
    form = page.get_by_role("dialog")
    form.get_by_label("What for").fill("e2e-deploys")
    form.get_by_text("365 d").click()
    form.get_by_role("button", name="Make the token").click()
    token = form.get_by_test_id("token").inner_text()
    form.get_by_role("button", name="Copy").click()
    assert page.evaluate("navigator.clipboard.readText()") == token
    form.get_by_role("button", name="I have kept it").click()
    with served.client(token) as program:
        me = program.get("/api/v1/sessions/current").json()
        assert (me["name"], me["role"]) == ("e2e-deploys", "operator")
        row = page.get_by_role("row").filter(has_text="e2e-deploys")
        row.get_by_role("button", name="Revoke").click()
        page.get_by_role("tooltip").get_by_role("button", name="Revoke").click()
        expect(row).to_have_count(0)
        assert program.get("/api/v1/sessions/current").status_code == httpx.codes.UNAUTHORIZED
    page.get_by_text("Show revoked and expired").click()
    expect(row).to_contain_text("revoked")
    page.reload()
    expect(row).to_contain_text("revoked")  # the address remembers it
