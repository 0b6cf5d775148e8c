"""Sweeps in a real browser: one that runs is followed until it is done, without a click."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visits import READY
from tests.jobs.conftest import saved
from viz_core.jobs import news, planning, spec, sweep
from viz_core.jobs.spec import Limits
from viz_core.jobs.work import Work

pytestmark = pytest.mark.browser
SPEC = """
checkpoints = ["step-*.safetensors"]
lengths = [96]
texts = ["python-docs"]
passages = 2
measurements = ["signatures"]
"""


def test_a_sweep_that_runs_is_followed_to_its_end(start_app, page: Page, tmp_path: Path) -> None:
    for step in (0, 10, 200):
        path = tmp_path / f"step-{step:06}.safetensors"
        saved(path, "rope", step, step=step, tokens_seen=100 * step)
    (tmp_path / "mine.toml").write_text(SPEC, encoding="utf-8")
    work = Work(tmp_path / "store", 1 << 28)
    cells = planning.plan(spec.read(tmp_path / "mine.toml"))
    sweep.run(cells[:2], work, Limits())
    running = news.Teller(work.folder, [one.key.digest for one in cells if one.key])
    with start_app(ATLAS_SWEEPS=str(tmp_path), ATLAS_STORE=str(work.folder)) as url:
        page.goto(f"{url}/sweeps", timeout=READY)
        metrics = page.get_by_test_id("stMetric")
        expect(metrics).to_have_count(2, timeout=READY)
        expect(metrics).to_have_text([re.compile("There.*2"), re.compile("Being computed.*1")])
        expect(page.get_by_text("2 of 3 cells are settled.")).to_be_visible()
        work(cells[2])
        running.close()
        expect(metrics).to_have_text([re.compile("There.*3")], timeout=READY)
        expect(page).to_have_url(re.compile("sweep=mine"))
        expect(page.get_by_role("button", name="Download CSV")).to_be_visible()
