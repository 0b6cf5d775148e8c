"""RoPE from its buffers: inverse frequencies, or tables of cosines and sines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from viz_core.encodings import Value
from viz_core.encodings._scalings import Scaling, frequencies
from viz_core.errors import DamagedCheckpoint
from viz_core.readers.description import Finding, Verdict
from viz_core.readers.script import names
from viz_core.readers.script.evidence import Evidence, tensors
from viz_core.readers.script.sheet import Sheet
from viz_core.readers.script.tensors import Entry, listed, table_rows
from viz_core.words import mark, say

CLOSE = 1e-5  # relative: float32 gives 1e-7, a base that is off by one in 10,000 gives 1e-4

_FITS = 0.01  # relative: frequencies further than this from one base's have been scaled

Found = Mapping[int | None, Entry]


def from_frequencies(sheet: Sheet, found: Found) -> Evidence:
    """From inverse frequencies [pair] in radians per token."""
    name = listed([next(iter(found.values())).name])
    given = {n: t.flatten() for n, t in tensors(sheet, found).items()}
    made = _evidence(sheet, name, given, 1.0, None, None)
    neighbouring = all(entry.last == names.NEIGHBOURING for entry in found.values())
    return replace(made, likely={"layout": "interleaved"}) if neighbouring else made


def from_tables(sheet: Sheet, cosines: Found, sines: Found) -> Evidence:
    """From cosines and sines [..., position, pair or channel] of the angles at each position."""
    name = listed([next(iter({**sines, **cosines}.values())).name])
    given, rows, layout, factor = dict[int | None, Tensor](), 0, None, 1.0
    for layer in {**sines, **cosines}:
        cosine, sine = cosines.get(layer), sines.get(layer)
        if not (cosine and sine) or sine.shape != cosine.shape or not table_rows(cosine.shape):
            raise DamagedCheckpoint(
                say(
                    "Expected cosines and sines [position, pair] of one shape in {file}; {name} "
                    "isn't so, or has no counterpart, so save the model again.",
                    file=sheet.called,
                    name=name,
                )
            )
        read = tensors(sheet, {0: cosine, 1: sine})
        given[layer], factor, layout = _turns(*(read[i].flatten(0, -2) for i in (0, 1)))
        rows = math.prod(cosine.shape[:-1])
    return _evidence(sheet, name, given, factor, layout, rows)


def from_complex(sheet: Sheet, found: Found) -> Evidence:
    """From e^(i angle) [position, pair], complex or as pairs of cosine and sine."""
    name = listed([next(iter(found.values())).name])
    given, rows, factor = dict[int | None, Tensor](), 0, 1.0
    for layer, parts in tensors(sheet, found).items():
        if parts.shape[-1:] != (2,) or not table_rows(parts.shape, last=2):
            raise DamagedCheckpoint(
                say(
                    "Expected {name} in {file} as [position, pair], complex; its shape is {shape}, "
                    "so save the model again.",
                    name=name,
                    file=sheet.called,
                    shape=list(found[layer].shape),
                )
            )
        table = parts.flatten(0, -3)  # [position, pair, cosine and sine]
        given[layer], factor, _ = _turns(table[..., 0], table[..., 1])
        rows = len(table)
    return _evidence(sheet, name, given, factor, None, rows)


def with_tables(found: Evidence, beside: Evidence) -> Evidence:
    """Evidence from frequencies, and what tables beside them add: layout, factor, rows."""
    parameters = {**beside.parameters, **found.parameters}
    more = tuple(f for f in beside.findings if f.about == "RoPE layout")
    return replace(
        found,
        parameters=parameters,
        factor=beside.factor,
        rows=beside.rows,
        findings=(*found.findings, *more),
    )


def fit(theta: Tensor) -> tuple[float, float]:
    """(base b, factor s) of theta_k = b^(-k / n) / s, k = 0 .. n - 1, by least squares in the log.

    Round numbers are taken where they fit as well. [pair], float64, positive.
    """
    n = len(theta)
    k = torch.arange(n, dtype=torch.float64) / n
    log = theta.log()
    slope = float(((k - k.mean()) * (log - log.mean())).sum() / ((k - k.mean()) ** 2).sum())
    start = float(log.mean() - slope * k.mean())
    base, factor = math.exp(min(-slope, 300.0)), math.exp(-start)

    def misfit(b: float, s: float) -> float:
        return float((log + k * math.log(b) + math.log(s)).abs().max())

    allowed = max(1.5 * misfit(base, factor), CLOSE / 10)
    tries = [(b, s) for b in (_rounded(base), base) for s in (1.0, _rounded(factor), factor)]
    return next((t for t in tries if misfit(*t) <= allowed), (base, factor))


def deviation(theta: Tensor, parameters: Mapping[str, Value]) -> float:
    """The largest relative difference of `theta` [pair] from the formula with `parameters`."""
    scaling = Scaling(str(parameters["scaling"]), float(parameters["factor"]))
    wanted, _ = frequencies(2 * len(theta), float(parameters["theta"]), scaling)
    return float((theta / wanted - 1).abs().max())


def _turns(cosine: Tensor, sine: Tensor) -> tuple[Tensor, float, str | None]:
    """(angles of one token [pair], the factor on both, the layout where the table shows it)."""
    if len(cosine) < 2:
        return cosine.new_empty(0), 1.0, None
    angle, factor = torch.atan2(sine[1], cosine[1]), float(cosine[0, 0])
    first, second = angle.tensor_split(2)
    if len(first) == len(second) and torch.equal(first, second):
        return first, factor, "half"
    if len(angle) % 2 == 0 and torch.equal(angle[0::2], angle[1::2]):
        return angle[0::2], factor, "interleaved"
    return angle, factor, None


def _evidence(
    sheet: Sheet,
    name: str,
    given: Mapping[int | None, Tensor],
    factor: float,
    layout: str | None,
    rows: int | None,
) -> Evidence:
    theta = next(iter(given.values()))
    if len({len(t) for t in given.values()}) > 1 or len(theta) < 2 or bool((theta <= 0).any()):
        raise DamagedCheckpoint(
            say(
                "Expected two or more positive frequencies in {name} of {file}; it holds something "
                "else, so save the model again.",
                name=name,
                file=sheet.called,
            )
        )
    base, stretch = fit(theta)
    parameters: dict[str, Value] = {"theta": base, "scaling": "none", "factor": 1.0}
    if stretch > 1:
        parameters |= {"scaling": "linear", "factor": stretch}
    if layout:
        parameters["layout"] = layout
    off = deviation(theta, parameters)
    near = say("exactly") if off < CLOSE else say("to {off:.1%} at most", off=off)
    words = say("{base:,.6g}, by least squares; it fits {near}.", base=base, near=near)
    verdict: Verdict = "note"
    if off > _FITS:  # one base gives these to no use: something has stretched some of them
        base = min(max(float(theta[1] / theta[0]) ** -len(theta), 2.0), 1e12)
        base = _rounded(base) if abs(_rounded(base) / base - 1) < CLOSE * len(theta) else base
        parameters |= {"theta": base, "scaling": "none", "factor": 1.0}
        verdict, words = "unknown", say("No single base gives the file's frequencies.")
        kept = (theta / frequencies(2 * len(theta), base)[0] - 1).abs() < CLOSE * len(theta)
        if int(kept.sum()) > 1:
            words = say(
                "{base:,.6g} gives {kept} of {n} frequencies; the others are scaled, and used as "
                "they are.",
                base=base,
                kept=int(kept.sum()),
                n=len(theta),
            )
    elif stretch > 1:
        words = say(
            "{base:,.6g}, divided by {stretch:.6g}, by least squares; it fits {near}.",
            base=base,
            stretch=stretch,
            near=near,
        )
    findings = [
        Finding(
            mark("encoding"),
            "note",
            say("RoPE: {name} holds {n} frequencies.", name=name, n=len(theta)),
        ),
        Finding(mark("RoPE base"), verdict, words),
    ]
    if layout:
        findings.append(
            Finding(
                mark("RoPE layout"),
                "note",
                say("{layout}: {name} repeats its pairs so.", layout=layout, name=name),
            )
        )
    return Evidence(
        "rope",
        parameters,
        turning=2 * len(theta),
        rows=rows,
        given=given,
        factor=factor,
        findings=tuple(findings),
    )


def _rounded(number: float) -> float:
    return float(f"{number:.2g}")
