"""Sweeps: the shipped figure, and a small sweep that is finished, running, or in trouble."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages._shared import export, keeping
from pages._shared.export import Shown
from pages.sweeps import downloads, folders, tables, words
from tests.jobs.conftest import saved
from tests.plates import emergence_tables
from tests.visiting import visit
from viz_core import results
from viz_core.export import data
from viz_core.export.provenance import digest
from viz_core.export.target import Target
from viz_core.jobs import news, planning, spec, sweep
from viz_core.jobs.spec import Limits
from viz_core.jobs.work import Work
from viz_core.plates import emergence

ROUTER = str(Path(__file__).parents[2] / "pages" / "_router.py")
SPEC = """
checkpoints = ["step-*.safetensors"]
lengths = [96]
texts = ["python-docs"]
passages = 2
measurements = ["signatures"]
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The made-up table, as if it were shipped."""
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    return emergence_tables.write(tmp_path / "results" / "emergence.csv")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Work:
    """A store of its own, which the page sees."""
    found = Work(tmp_path / "store", 1 << 28)
    store = found.store()
    monkeypatch.setattr(keeping, "store", lambda: store)
    tables._rows.clear()
    return found


@pytest.fixture
def mine(tmp_path: Path, work: Work, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The owner's own sweep of three steps of a training."""
    folder = tmp_path / "sweeps"
    folder.mkdir()
    for step in (0, 10, 200):
        path = folder / f"step-{step:06}.safetensors"
        saved(path, "rope", step, step=step, tokens_seen=100 * step)
    (folder / "mine.toml").write_text(SPEC, encoding="utf-8")
    monkeypatch.setenv("ATLAS_SWEEPS", str(folder))
    return folder / "mine.toml"


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(ROUTER, default_timeout=300)
    visit(app, "sweeps")
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def counted(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def run(path: Path, work: Work, most: int | None = None) -> None:
    sweep.run(planning.plan(spec.read(path))[:most], work, Limits())


def test_the_shipped_figure_comes_first_with_what_its_numbers_say(table: Path) -> None:
    app = opened()
    titles = ["What emerges in training", "Sweeps of this server"]
    assert [s.value for s in app.subheader] == titles
    said = next(m.value for m in app.markdown if m.value.startswith("- ALiBi"))
    assert "up to step 1,000 and 4.10 million tokens" in said
    assert "explain 90 % of the curve of the median head at first (chance: 10 %)" in said
    assert "from 0.10 to 1.00 nats (differences between texts: 0.02)" in said
    assert "what training adds is the size" in said
    assert "are 1.000 of what is set at first and 1.000 at last" in said
    assert any(emergence_tables.COMMAND in c.value for c in app.caption)
    assert len(app.get("plotly_chart")) == 6


def test_sentences_claim_nothing_that_the_numbers_do_not() -> None:
    def said(**change: object) -> str:
        rows = [{**row, **change} for row in emergence_tables.rows()]
        found = emergence.trainings(results.pd.DataFrame(rows), "heldout")
        return " ".join(words.said(found))

    assert "what training adds" not in said(swing=0.5)
    assert "ripples" not in said(ripple=0.1)
    assert "first keys" not in said(sink=None)
    assert "up to step 1,000." in said(loss=None)


def test_without_a_table_the_page_says_so_and_how_to_make_a_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(folders, "EXAMPLES", tmp_path)
    monkeypatch.delenv("ATLAS_SWEEPS", raising=False)
    app = opened()
    assert "Expected steps of a training" in app.info[0].value
    assert not app.selectbox and any("ATLAS_SWEEPS" in c.value for c in app.code)


def test_a_finished_sweep_has_its_figure_and_its_table(table: Path, mine: Path, work: Work) -> None:
    run(mine, work)
    app = opened()
    assert app.selectbox(key="sweeps_sweep").value == "mine"
    assert counted(app) == {"There": "3"}
    assert [s.value for s in app.subheader].count("What emerges in training") == 2
    assert len(app.get("plotly_chart")) == 6 + 4  # RoPE sets no slopes, and no losses are measured
    rows = app.dataframe[-1].value
    assert len(rows) == 12 and set(rows.step) == {0, 10, 200}
    state = {"sweep": "mine", "text": "python-docs", "length": "96"}
    assert {name: app.query_params[name] for name in state} == state


def test_the_shipped_figure_is_pinned_and_drawn_again_as_it_is(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = dict[str, Shown]()
    monkeypatch.setattr(export, "row", lambda one, key: shown.update({key: one}))
    opened()
    one = shown["sweeps_shipped"]
    assert one.pin is not None and one.pin.read(local=False)["table"] is None
    made = export.ready(one, Target(), 300, {})
    again = one.pin.draw()
    assert made.provenance.data == digest(data.arrays(again.spec))
    assert made.provenance.sources == again.sources and made.provenance.facts == again.facts


def test_a_sweep_s_figure_leaves_as_a_file_that_says_what_it_is_of(
    table: Path, mine: Path, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(mine, work)
    shown = dict[str, Shown]()
    monkeypatch.setattr(export, "row", lambda one, key: shown.update({key: one}))
    opened()
    one = shown["sweeps_figure"]
    assert one.pin is None and "--table F.csv" in one.why
    made = export.ready(one, Target(), 300, {"sweep": "mine"})
    assert len(made.provenance.sources) == 3 and made.provenance.facts["steps"] == [0, 10, 200]
    assert "/sweeps?sweep=mine" in made.provenance.command


def test_the_files_are_what_the_command_writes(mine: Path, work: Work, tmp_path: Path) -> None:
    run(mine, work)
    rows = tables.table(tables.see(mine))
    (tmp_path / "t.csv").write_bytes(downloads.csv(rows, "the command"))
    (tmp_path / "t.parquet").write_bytes(downloads.parquet(rows, "the command"))
    for name in ("t.csv", "t.parquet"):
        read = results.opened(tmp_path / name)
        assert read.command == "the command" and len(read.rows) == 12
        (found,) = emergence.trainings(read.rows, "python-docs")
        assert found.step.tolist() == [0, 10, 200]


def test_one_that_runs_shows_how_far_it_is_and_its_figure_so_far(
    table: Path, mine: Path, work: Work
) -> None:
    run(mine, work, 2)
    cells = planning.plan(spec.read(mine))
    teller = news.Teller(work.folder, [cells[2].key.digest])
    app = opened()
    assert counted(app) == {"There": "2", "Being computed": "1"}
    assert len(app.get("plotly_chart")) == 6 + 4
    run(mine, work)
    teller.close()
    app.button(key="sweeps_again").click().run()
    assert counted(app) == {"There": "3"}


def test_what_failed_and_what_is_missing_is_said(table: Path, mine: Path, work: Work) -> None:
    (mine.parent / "step-000300.safetensors").write_bytes(b"nothing at all")
    app = opened()
    assert counted(app) == {"Missing": "3", "Failed": "1"}
    assert "step-000300.safetensors" in app.error[0].value
    assert "None of its results is there yet" in app.info[0].value


def test_a_sweep_that_can_not_be_planned_is_a_sentence(table: Path, mine: Path) -> None:
    mine.write_text(SPEC.replace("step-", "nothing-"), encoding="utf-8")
    app = opened()
    assert "Expected checkpoints that fit nothing-*.safetensors" in app.error[0].value


def test_losses_by_length_where_there_is_no_training(table: Path, mine: Path, work: Work) -> None:
    mine.write_text(
        SPEC.replace("[96]", "[256, 300]").replace("step-*", "step-000200")
        + "[perplexity]\ndocuments = 2\n",
        encoding="utf-8",
    )
    mine.write_text(mine.read_text().replace("signatures", "perplexity"), encoding="utf-8")
    run(mine, work)
    app = opened()
    assert "Losses by length" in [s.value for s in app.subheader]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"sweep": "../../../etc/passwd"}, "Expected sweep in the address among mine"),
        ({"v": "2"}, "This address is of version '2'"),
    ],
)
def test_an_address_names_a_sweep_and_nothing_else(
    table: Path, mine: Path, query: dict[str, str], said: str
) -> None:
    app = opened(**query)
    assert said in app.warning[0].value


def test_own_sweeps_stand_before_examples_and_hide_those_of_their_name(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(folders.known()) == ["mine", "emergence", "encodings"]
    (mine.parent / "encodings.toml").write_text(SPEC, encoding="utf-8")
    assert folders.known()["encodings"].parent == mine.parent
    assert folders.title("emergence") == "emergence (an example)"
    monkeypatch.setenv("ATLAS_SWEEPS", str(mine.parent / "none"))
    assert list(folders.known()) == ["emergence", "encodings"]
