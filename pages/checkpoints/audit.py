"""One upload on the page: what it is and how that was found, the questions, and ways to go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from pages._shared import draw, language, loaded, uploads_room
from pages._shared.page import script
from pages._shared.uploads_known import Known
from pages.checkpoints import form
from pages.checkpoints import words as checkpoint_words
from viz_core import series, texts
from viz_core.catalogue import Checkpoint
from viz_core.errors import AtlasError
from viz_core.readers.description import Finding
from viz_core.readers.intake.words import size
from viz_core.render import palette
from viz_core.words import say

LENGTH, SHORT = 512, 256  # tokens of a first look; the shorter at models of more than MANY heads
MANY = 144
STYLE = """<style>
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(max(150px, 20%), 1fr));
  gap: 10px 22px; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.facts span { display: block; font-size: 13px; opacity: 0.7; }
.audit { display: grid; grid-template-columns: 6.2em minmax(8em, 13em) 1fr; gap: 7px 16px;
  font-size: 15px; font-variant-numeric: tabular-nums; }
.audit > div { display: contents; }
.audit .about { font-weight: 600; overflow-wrap: anywhere; }
.audit .words { overflow-wrap: anywhere; }
.audit i { display: inline-block; width: 1.3em; font-style: normal; font-weight: 700; }
@media (max-width: 640px) {
  .audit { grid-template-columns: 6.2em 1fr; }
  .audit .words { grid-column: 1 / -1; padding-bottom: 6px; }
}
</style>"""
TINTS = {"agrees": "learned", "differs": "alibi", "unknown": "rope"}  # accents of verdicts


def show(known: Known, shipped: Mapping[str, Checkpoint]) -> None:
    """The upload in a frame of its own; `shipped` are those that it may stand beside."""
    upload, one = known.upload, known.checkpoint
    with st.container(border=True, key=f"upload_{upload.id[:12]}"):
        _heading(known)
        if one is None:
            st.error(checkpoint_words.plain(known.wrong))
            return
        rows = "".join(
            f'<div role="listitem"><span>{escape(what)}</span>{escape(value)}</div>'
            for what, value in checkpoint_words.facts(one)
        )
        st.html(f'{STYLE}<div class="facts" role="list">{rows}</div>')
        form.show(upload, one)
        findings: Sequence[Finding] = one.description.findings
        try:
            with st.spinner(say("Reading the weights")):
                findings = loaded.audited(one)
        except AtlasError as error:
            st.error(checkpoint_words.plain(str(error)))
        else:
            _ways(one, shipped)
        with st.expander(say("Audit: what was found, and how"), expanded=True):
            _audit(findings)
            for note in known.notes:
                st.caption(checkpoint_words.plain(note))


def _heading(known: Known) -> None:
    upload, one = known.upload, known.checkpoint
    files = ", ".join(upload.files[:3])
    if (more := len(upload.files) - 3) > 0:
        files = say("{names} and {n:,} more", names=files, n=more)
    with st.container(horizontal=True, vertical_alignment="top", wrap=False):
        with st.container(gap="xxsmall"):
            title, accent = upload.files[0], "ink"
            if one is not None:
                accent = one.config.encoding
                title = series.name(accent, "", one.id)
            colour = palette.letters(accent, draw.dark())
            st.html(f'<b style="color: {colour}; font-size: 18px">{escape(title)}</b>')
            parts = [files, size(upload.bytes)]
            if one is not None:
                d = one.description
                parts = [say(checkpoint_words.FORMATS.get(d.format, d.format)), d.family, *parts]
            if source := st.session_state.get("uploads_from", {}).get(upload.id):
                name, commit = source
                parts.append(say("{name} at commit {commit}", name=name, commit=commit))
            st.caption(" · ".join(checkpoint_words.plain(part) for part in parts))
        if upload.owner:
            st.button(
                say("Remove"),
                icon=":material/delete:",
                type="tertiary",
                key=f"remove_{upload.id[:12]}",
                on_click=_remove,
                args=(upload.id,),
                width="content",
            )
    hours = uploads_room.uploads().limits.hours
    kept = say("Published by the server's owner: everyone sees it.")
    if upload.owner:
        end = checkpoint_words.until(upload.created, hours)
        kept = say("Kept until {end}, or until you remove it.", end=end)
    st.caption(kept)


def _remove(id: str) -> None:
    uploads_room.uploads().remove(uploads_room.visitor(), id)
    language.recall()
    st.toast(say("Removed."))


def _ways(one: Checkpoint, shipped: Mapping[str, Checkpoint]) -> None:
    """Links to the pages that show it."""
    c = one.config
    length = min(SHORT if c.layers * c.heads > MANY else LENGTH, c.length or LENGTH)
    beside = c.encoding if c.encoding in shipped else next(iter(shipped), "")
    maps = {"v": "1", "a": f"{one.id}.{c.layers // 2 + 1}.1", "length": str(length)}
    maps |= {"b": f"{beside}.2.1"} if beside else {}
    nearest = 1 << min(max(length.bit_length() - 1, 7), 12)  # Decay's own are powers of two
    decay = {"v": "1", "chosen": one.id, "source": "own", "length": str(nearest)}
    losses = {"v": "1", "live": one.id, "setting": "none", "upto": "1024"}
    if one.numbered:  # it can read no other
        maps["text"] = decay["text"] = losses["on"] = texts.RANDOM
    with st.container(horizontal=True, gap="medium"):
        st.page_link(
            script("compare"),
            label=say("Compare with {name}", name=series.name(beside))
            if beside
            else say("Compare"),
            icon=":material/compare:",
            query_params=maps,
        )
        st.page_link(
            script("decay"), label=say("Decay"), icon=":material/stairs:", query_params=decay
        )
        if c.causal and c.vocabulary:
            st.page_link(
                script("extrapolation"),
                label=say("Extrapolation"),
                icon=":material/trending_up:",
                query_params=losses,
            )


def _audit(findings: Sequence[Finding]) -> None:
    rows = []
    for finding in findings:
        sign, word = checkpoint_words.VERDICTS[finding.verdict]
        colour = palette.letters(TINTS.get(finding.verdict, "ink"), draw.dark())
        about, words = escape(say(finding.about)), escape(finding.words)
        rows.append(
            f'<div role="listitem"><span style="color: {colour}">'
            f'<i aria-hidden="true">{sign}</i>{say(word)}</span>'
            f'<span class="about">{about}</span><span class="words">{words}</span></div>'
        )
    st.html(f'{STYLE}<div class="audit" role="list">{"".join(rows)}</div>')
