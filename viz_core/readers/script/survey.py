"""Everything that can be known of a state dict before a weight is read, in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

from viz_core.readers.description import Description, Finding
from viz_core.readers.script import buffers, families, fits, layouts, plan, sheet
from viz_core.readers.script.evidence import Evidence
from viz_core.readers.script.inquiry import Inquiry
from viz_core.readers.script.layouts import Layout
from viz_core.readers.script.plan import Plan
from viz_core.readers.script.sheet import Sheet
from viz_core.readers.script.tensors import listed
from viz_core.words import mark, say


@dataclass(frozen=True)
class Survey:
    """A sheet, what its tensors are, what its buffers tell, and how the parts go together."""

    sheet: Sheet
    layout: Layout
    evidence: Evidence
    plan: Plan
    inquiry: Inquiry


def survey(path: Path, answers: Mapping[str, object]) -> Survey | None:
    """The survey of a file or folder; None for what isn't a script's state dict.

    Raises DamagedCheckpoint for one that is but can't be followed, UsageError for wrong answers.
    """
    page = sheet.read(path)
    if page is None or (layout := layouts.recognise(page)) is None:
        return None
    fits.check(page, layout)
    evidence = buffers.gather(page, layout)
    inquiry = Inquiry(page, answers)
    inquiry.findings += [Finding(mark("names"), "note", say(families.WORDS[layout.family]))]
    inquiry.findings += evidence.findings
    drawn = plan.draw(inquiry, page, layout, evidence)
    inquiry.close()
    return Survey(page, layout, evidence, drawn, inquiry)


def description(path: Path, found: Survey) -> Description:
    """The survey as the reader's description."""
    layout, page, inquiry = found.layout, found.sheet, found.inquiry
    count, findings = layout.weights, list(inquiry.findings)
    if found.plan.sizes.encoding in ("learned", "t5"):  # whose tables are trained
        count += sum(table.numel() for table in found.evidence.given.values())
    if families.shares_head(layout, page):
        count -= prod(layout.shape("head.weight", None))
        words = say("Tied: it holds the same numbers as the embedding, and is counted once.")
        findings.append(Finding(mark("head"), "note", words))
    if layout.left_out:
        words = say(
            "{names} predicts no tokens of an embedding and is left out.",
            names=listed(layout.left_out),
        )
        findings.append(Finding(mark("head"), "note", words))
    if not found.plan.sizes.vocabulary:
        words = say(
            "There is no embedding: each token id enters as a standard normal vector of its own, "
            "the same each time, so maps show what the weights do with random content."
        )
        findings.append(Finding(mark("input"), "note", words))
    return Description(
        path,
        "state-dict",
        layout.family,
        found.plan.sizes,
        count,
        tuple(findings),
        {"config": dict(page.config)} if page.config else {},
        page.tokenizer,
        tuple(inquiry.questions),
        inquiry.answers,
    )
