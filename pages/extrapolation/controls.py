"""The controls of Extrapolation: widgets seeded from the address once, then the person's own."""

from __future__ import annotations

import streamlit as st

from pages._shared import setting_choices, terms
from pages.extrapolation.reports import reports
from pages.extrapolation.state import FACTORS, NUMBERS, UPTO, LabState
from viz_core import encodings, series, texts, variants
from viz_core.catalogue import Checkpoint
from viz_core.perplexity import PROTOCOLS
from viz_core.words import mark, say, sentences

PROTOCOL_NAMES = {
    "fixed-targets": mark("Fixed targets"),
    "non-overlapping": mark("Non-overlapping"),
    "sliding-window": mark("Sliding window"),
    "per-position": mark("By position"),
}
MEASURE_NAMES = {
    "perplexity": mark("Perplexity"),
    "loss": mark("Loss in nats"),
    "difference": mark("Difference from L"),
}
TEXT_NAMES = {"heldout": mark("Held-out English"), "python-docs": mark("Python manual")}
PARAMETERS = {"factor": mark("Factor s"), "theta": mark("Theta"), "exponent": mark("Exponent")}
CHOICES = ("protocol", "text", "measure", "report", "live", "on", "upto")
FIRST = {"linear": 4.0, "ntk": 4.0, "yarn": 4.0, "llama3": 4.0, "theta": 50000.0, "exponent": 6.0}


def seed(state: LabState) -> None:
    """Puts `state` into the widgets' keys, before they are drawn."""
    for name in CHOICES:
        st.session_state[f"lab_{name}"] = getattr(state, name)
    st.session_state.lab_settings = list(state.settings)
    kind, _, number = state.setting.partition(":")
    st.session_state.lab_kind = kind
    st.session_state.lab_fit = number == "fit"
    for name, value in FIRST.items():
        given = name == kind and number not in ("", "fit")
        st.session_state[f"lab_{name}"] = float(number) if given else value


def shared(known: list[str]) -> None:
    """The row of controls that hold for the charts by length: protocol, text, y axis."""
    s = st.session_state
    names = {t: TEXT_NAMES.get(t, t) for t in known} or TEXT_NAMES
    if s.lab_text not in names:
        s.lab_text = next(iter(names))
    measures = [m for m in MEASURE_NAMES if m != "difference" or s.lab_protocol == "fixed-targets"]
    if s.lab_measure not in measures:
        s.lab_measure = "perplexity"
    row = st.container(horizontal=True, gap="small", vertical_alignment="top")
    row.segmented_control(
        say("Protocol"),
        list(PROTOCOLS),
        format_func=lambda p: say(PROTOCOL_NAMES[p]),
        key="lab_protocol",
        required=True,
        help=sentences(
            say("Which tokens are scored, and with how much context."),
            *(
                say("**{protocol}**: {words}.", protocol=say(PROTOCOL_NAMES[p]), words=say(words))
                for p, words in PROTOCOLS.items()
            ),
        ),
    )
    row.selectbox(
        say("Text"),
        list(names),
        format_func=lambda t: say(names[t]),
        key="lab_text",
        width=180,
        help=say(
            "What the models read: documents kept out of training, or Python's manual, which is "
            "unlike anything in it."
        ),
    )
    row.segmented_control(
        say("Y axis"),
        measures,
        format_func=lambda m: say(MEASURE_NAMES[m]),
        key="lab_measure",
        required=True,
        help=say(
            "Perplexity is e to the loss. The difference is from the loss on the same tokens with "
            "the context cut to the trained length L: below 0 longer context helps, above 0 it "
            "harms. Its intervals are of pairs, and narrower. It exists for fixed targets alone."
        )
        + terms.below("loss", "nat", "perplexity"),
    )


def settings(known: list[str]) -> list[str]:
    """The choice among RoPE's settings that the tables have."""
    s = st.session_state
    if s.lab_settings and not set(s.lab_settings) & set(known):
        s.lab_settings = known[:6]
    s.lab_settings = [x for x in s.lab_settings if x in known]
    chosen = st.multiselect(
        say("Scalings"),
        known,
        format_func=lambda x: series.label("rope", x) if x else say("none (as trained)"),
        key="lab_settings",
        help=say(
            "s is the stretch. A fixed s acts at every length, short ones too; s = N / L follows "
            "the length and leaves everything up to the trained length as it was. Dynamic NTK is "
            "NTK with s = N / L by another name, where a whole text is read at once."
        ),
    )
    return sorted(chosen, key=known.index)


def report() -> str:
    """The choice of published curves; returns its id."""
    known = reports()
    if st.session_state.lab_report not in known:
        st.session_state.lab_report = next(iter(known))
    return str(
        st.selectbox(
            say("Reported by"),
            list(known),
            format_func=lambda r: known[r].title,
            key="lab_report",
            help=say("Sets of published values with a trained length L and lengths past it."),
        )
    )


def live(shipped: dict[str, Checkpoint], choices: list[texts.TextChoice]) -> bool:
    """The row of controls for a measurement of one's own; whether Compute was pressed."""
    s = st.session_state
    if s.lab_live not in shipped:
        s.lab_live = next(iter(shipped))
    names = {c.id: c.title for c in choices}
    if s.lab_on not in names:
        s.lab_on = next(iter(names))
    encoding = shipped[s.lab_live].config.encoding
    ours = setting_choices.ours(shipped[s.lab_live])
    kinds = _kinds(encoding) if ours else {"": say("Nothing")}
    if s.lab_kind not in kinds:
        s.lab_kind = ""
    stretched = s.lab_kind in FACTORS
    widths = [1, 1.1, 0.9, *[0.7] * stretched, 1.3, 0.7, 0.8]
    a, b, c, *fit, d, e, f = st.columns(widths, vertical_alignment="bottom")
    a.selectbox(
        say("Checkpoint"),
        list(shipped),
        format_func=lambda n: series.name(shipped[n].config.encoding, "", n),
        key="lab_live",
        help=terms.of("checkpoint", "position encoding"),
    )
    b.selectbox(
        say("What is changed"),
        list(kinds),
        format_func=kinds.__getitem__,
        key="lab_kind",
        disabled=not ours,
        help=say(encodings.get(encoding).beyond if ours else setting_choices.FOREIGN),
    )
    if s.lab_kind in FIRST:
        with c:
            _value(encoding, s.lab_kind, stretched and s.lab_fit)
    if stretched:
        fit[0].checkbox(
            "s = N / L",
            key="lab_fit",
            help=say("The stretch follows the length; it is 1 up to the trained length."),
        )
    d.selectbox(say("Text"), list(names), format_func=names.__getitem__, key="lab_on")
    e.selectbox(say("Up to"), UPTO, format_func=lambda n: f"{n:,}", key="lab_upto")
    return f.button(say("Compute"), type="primary", key="lab_compute", width="stretch")


def _kinds(encoding: str) -> dict[str, str]:
    """What of `encoding` can be changed without retraining, with names."""
    found = {"": say("Nothing")}
    if encoding == "rope":
        found |= {k: variants.FACTORS[k] for k in FACTORS[:2]} | {"dynamic": say("Dynamic NTK")}
        found |= {k: variants.FACTORS[k] for k in FACTORS[2:]}
    known = {p.name for p in encodings.get(encoding).parameters}
    names = {"theta": say("Base θ"), "exponent": say("Exponent")}
    return found | {k: names[k] for k in NUMBERS if k in known}


def _value(encoding: str, kind: str, fit: bool) -> None:
    """The number that goes with `kind`, in the range of the encoding's own parameter."""
    name = "factor" if kind in FACTORS else kind
    (parameter,) = (p for p in encodings.get(encoding).parameters if p.name == name)
    low, high = float(parameter.low or 0), float(parameter.high or 1e9)
    key = f"lab_{kind}"
    st.session_state[key] = min(max(st.session_state[key], low), high)
    st.number_input(
        say(PARAMETERS[name]),
        low,
        high,
        key=key,
        format="%.10g",
        disabled=fit,
        help=say(parameter.help),
    )


def setting() -> str:
    """The setting that the widgets of `live` say, as the tables name it."""
    s = st.session_state
    if s.lab_kind in FACTORS and s.lab_fit:
        return f"{s.lab_kind}:fit"
    return f"{s.lab_kind}:{s[f'lab_{s.lab_kind}']:.10g}" if s.lab_kind in FIRST else s.lab_kind


def keep() -> None:
    """Holds on to the values of widgets that this run may not draw."""
    for name in (f"lab_{n}" for n in (*CHOICES, "settings", "kind", "fit", *FIRST)):
        st.session_state[name] = st.session_state[name]


def state() -> LabState:
    """What all widgets say now."""
    s = st.session_state
    values = {name: s[f"lab_{name}"] for name in CHOICES}
    return LabState(**values, settings=tuple(s.lab_settings), setting=setting())
