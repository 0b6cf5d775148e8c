"""What a server answers beside its pages: health, metrics, headers; and who may come in."""

from __future__ import annotations

import importlib.util
import json
import urllib.error
import urllib.request
from pathlib import Path
from types import ModuleType

import pytest
from playwright.sync_api import Page, expect

SLOW = 60_000


def answer(url: str) -> tuple[int, dict[str, str], bytes]:
    """(status, headers in lower case, body)."""
    try:
        with urllib.request.urlopen(url, timeout=20) as response:
            found = response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        found = error.code, error.headers, error.read()
    return found[0], {k.lower(): v for k, v in found[1].items()}, found[2]


def test_health_and_headers(server: str) -> None:
    status, headers, body = answer(f"{server}/health")
    assert status == 200 and json.loads(body)["status"] == "ok"
    for path in ("/health", "/", "/decay"):
        _, headers, _ = answer(server + path)
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
    assert answer(f"{server}/metrics")[0] == 404  # unless asked for


def test_no_page_asks_for_what_the_policy_forbids(server: str, page: Page) -> None:
    said = list[str]()
    page.on("console", lambda message: said.append(message.text))
    for path in ("/", "/decay", "/extrapolation", "/encodings", "/figures"):
        page.goto(server + path)
        expect(page.get_by_test_id("stStatusWidget")).to_have_count(0, timeout=SLOW)
        expect(page.locator("h1").first).to_be_visible(timeout=SLOW)
    assert not [text for text in said if "Content Security Policy" in text]


def test_another_host_is_refused(server: str) -> None:
    request = urllib.request.Request(server, headers={"Host": "elsewhere.example"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=20)
    assert refused.value.code in (400, 403)


@pytest.fixture(scope="module")
def identity() -> ModuleType:
    for needed in ("authlib", "joserfc", "httpx"):
        pytest.importorskip(needed, reason="needs streamlit[auth]")
    path = Path(__file__).with_name("identity.py")
    spec = importlib.util.spec_from_file_location("identity", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_only_people_whom_the_server_knows_come_in(
    identity: ModuleType, start_app, tmp_path: Path, page: Page, free: int
) -> None:
    """One provider that says who someone is, first one whom the server knows, then another."""
    claims = {"email": "ada@lab.example", "email_verified": True, "name": "Ada <b>L</b>"}
    with identity.provider(claims) as provider:
        secrets = tmp_path / "secrets.toml"
        secrets.write_text(
            f"""[auth]
redirect_uri = "http://127.0.0.1:{free}/oauth2callback"
cookie_secret = "a secret of this test, long enough to sign with"
client_id = "{identity.CLIENT}"
client_secret = "another"
server_metadata_url = "{provider}/.well-known/openid-configuration"
people = ["*@lab.example"]
"""
        )
        with start_app(
            "--secrets.files", str(secrets), port=free, ATLAS_METRICS="1", ATLAS_LOG="json"
        ) as url:
            assert b"atlas_waiting" in answer(f"{url}/metrics")[2]
            page.goto(f"{url}/decay")  # a deep link comes no further either
            expect(page.get_by_role("button", name="Sign in")).to_be_visible(timeout=SLOW)
            expect(page.get_by_text("Attention by distance")).to_have_count(0)
            page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_text("Signed in as Ada")).to_be_visible(timeout=SLOW)
            expect(page.locator("h1").first).to_be_visible(timeout=SLOW)
            page.get_by_role("button", name="Sign out").click()
            expect(page.get_by_role("button", name="Sign in")).to_be_visible(timeout=SLOW)
            claims["email"] = "eve@elsewhere.example"
            page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_text("not among them")).to_be_visible(timeout=SLOW)
            expect(page.get_by_text("Signed in as")).to_have_count(0)


@pytest.fixture
def free() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
