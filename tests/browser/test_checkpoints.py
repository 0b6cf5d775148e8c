"""One's own checkpoints in a real browser: dragged in, audited, seen on Compare, removed."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.visits import READY
from tests.pages import checkpoint_files as files

pytestmark = pytest.mark.browser
DRAGGED = """async (files) => {
  const transfer = new DataTransfer();
  for (const [name, content] of files) {
    const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
    transfer.items.add(new File([bytes], name));
  }
  return transfer;
}"""


@pytest.fixture(autouse=True)
def patience(page: Page) -> None:
    """Every wait of these tests may take as long as a busy machine needs."""
    page.set_default_timeout(READY)
    expect.set_options(timeout=READY)


def opened(page: Page, server: str) -> None:
    page.goto(f"{server}/checkpoints")
    expect(page.get_by_role("button", name="Model card").first).to_be_visible()


def drop(page: Page, paths: Sequence[Path]) -> None:
    """Drags files onto the field, as from a file manager."""
    content = [(path.name, base64.b64encode(path.read_bytes()).decode()) for path in paths]
    transfer = page.evaluate_handle(DRAGGED, content)
    field = page.get_by_test_id("stFileUploaderDropzone")
    for event in ("dragenter", "dragover", "drop"):
        field.dispatch_event(event, {"dataTransfer": transfer})


def audits(page: Page):
    return page.locator(".audit")


def seen_on_compare(page: Page, name: re.Pattern[str]) -> None:
    """The link leads to a map of the upload beside a shipped one's."""
    page.get_by_role("link", name=re.compile("^.*Compare with")).click()
    expect(page.locator("canvas.map")).to_have_count(2)
    expect(page.locator(".title").first).to_have_text(name)
    page.locator("canvas.map").first.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("p.readout").first).to_contain_text("A = ")


def test_a_native_file_is_dragged_in_and_its_heads_are_seen(
    server: str, page: Page, tmp_path: Path
) -> None:
    opened(page, server)
    drop(page, [files.native_file(tmp_path / "mine.safetensors", "alibi")])
    expect(audits(page)).to_contain_text("128 tokens, as the description says.")
    seen_on_compare(page, re.compile(r"ALiBi \(mine-[0-9a-f]{6}\) · layer 2, head 1"))
    expect(
        page.get_by_role("button", name=re.compile(r"ALiBi \(mine-.*\), layer 2, head 4"))
    ).to_be_visible()


def test_a_state_dict_is_dragged_in_answered_and_seen(
    server: str, page: Page, tmp_path: Path
) -> None:
    opened(page, server)
    drop(page, [files.state_dict(tmp_path / "nano.pt")])
    expect(audits(page)).to_contain_text("Assumed")
    page.get_by_role("spinbutton", name="Heads").fill("2")
    page.get_by_role("button", name="Use these values").click()
    expect(audits(page)).to_contain_text("it was answered so")
    seen_on_compare(page, re.compile(r"Learned \(nano-[0-9a-f]{6}\) · layer 2, head 1"))


def test_a_hugging_face_folder_is_dragged_in_and_seen(
    server: str, page: Page, tmp_path: Path
) -> None:
    opened(page, server)
    drop(page, sorted(files.llama(tmp_path / "llama").iterdir()))
    expect(audits(page)).to_contain_text("inverse frequencies")
    seen_on_compare(page, re.compile(r"RoPE \(llama-[0-9a-f]{6}\) · layer 2, head 1"))


def test_a_pickle_that_would_run_code_is_refused(server: str, page: Page, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    opened(page, server)
    drop(page, [files.hostile(tmp_path / "model.pt", mark)])
    expect(page.get_by_test_id("stAlert")).to_contain_text("code from a file is never run")
    assert not mark.exists()
    page.get_by_role("button", name="Clear these files").click()
    expect(page.get_by_test_id("stAlert")).to_have_count(0)


def test_an_upload_is_this_tabs_alone_until_it_is_removed(
    server: str, page: Page, context: BrowserContext, tmp_path: Path
) -> None:
    opened(page, server)
    drop(page, [files.native_file(tmp_path / "mine.safetensors")])
    expect(audits(page)).to_have_count(1)
    other = context.new_page()
    other.set_default_timeout(READY)
    opened(other, server)
    expect(other.get_by_role("heading", name="Training")).to_be_visible()
    expect(audits(other)).to_have_count(0)
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(audits(page)).to_have_count(0)


def test_names_from_files_are_words_and_nothing_else(
    server: str, page: Page, tmp_path: Path
) -> None:
    page.on("dialog", lambda dialog: pytest.fail("a file's name ran as a script"))
    opened(page, server)
    source = files.native_file(tmp_path / "plain.safetensors")
    name = "<img src=x onerror=alert(1)> **bold**.safetensors"
    transfer = page.evaluate_handle(
        DRAGGED, [(name, base64.b64encode(source.read_bytes()).decode())]
    )
    page.get_by_test_id("stFileUploaderDropzone").dispatch_event("drop", {"dataTransfer": transfer})
    expect(page.get_by_test_id("stAlert")).to_be_visible()
    expect(page.locator("img[src=x], [data-testid=stAlert] strong")).to_have_count(0)
