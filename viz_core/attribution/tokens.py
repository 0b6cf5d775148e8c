"""Which tokens a prediction needs: captum's methods on the vectors that enter the model.

captum's layer methods hang hooks on the model's modules, and two threads then disturb each other.
Here the function that captum sees begins at the token vectors: the same numbers as its layer
methods at the embedding give, with no hook, no lock and no copy. Positions are added afterwards, so
what is attributed is which token stands there, never that a token stands there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from captum.attr import FeatureAblation, InputXGradient, IntegratedGradients, Occlusion
from torch import Tensor

from viz_core import devices
from viz_core.attribution.forward import Forward
from viz_core.attribution.targets import Target
from viz_core.errors import LengthError, UnknownName, UsageError
from viz_core.model import ModelConfig, Transformer
from viz_core.progress import Progress, ignore
from viz_core.trace import check_length
from viz_core.words import mark, say

GRADIENTS, PRODUCT, OCCLUSION, ABLATION = (
    "integrated-gradients",
    "gradient-x-activation",
    "occlusion",
    "feature-ablation",
)
METHODS = {
    GRADIENTS: mark(
        "the gradient, averaged on the straight way from the mean token vector to the token's own, "
        "times that way (Sundararajan et al. 2017)"
    ),
    PRODUCT: mark(
        "the gradient times the token's own vector: the slope at the text, not the way there; as "
        "RMSNorm ignores a vector's size, much of what the first layer reads of it is missed"
    ),
    OCCLUSION: mark(
        "what the number loses when a few tokens in a row become the mean token vector; the mean "
        "over the windows that cover a token"
    ),
    ABLATION: mark("what the number loses when that token alone becomes the mean token vector"),
}
STEPS = 50  # on the way; Gauss-Legendre
WINDOW = 3  # tokens that occlusion covers at once
TOGETHER = 1024  # tokens of several inputs in one pass, on a CPU; more are no faster there
TOLERANCE = 0.05  # of the difference, that a sum may miss (Sundararajan et al. 2017, section 5)
NOISE = 1e-3  # nats: a gap that float32 alone may leave

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TokenAttribution:
    """What each token adds to a number: value [token], in the number's unit (nats); signed.

    `output`: the number for this text, `baseline`: with the mean token vector at every position.
    Tokens after the last query have exactly 0: attention is causal.
    """

    value: Array
    output: float
    baseline: float
    method: str
    steps: int | None

    @property
    def delta(self) -> float:
        """What the values add up to, less output - baseline: for integrated gradients, an error.

        The other methods promise no sum; for them it says how far they are from one.
        """
        return float(self.value.sum()) - (self.output - self.baseline)

    @property
    def warning(self) -> str:
        """A sentence where integrated gradients have not converged, else ""."""
        return unconverged(self.delta, self.output - self.baseline, self.steps)


def attribute(
    model: Transformer,
    ids: Sequence[int],
    target: Target,
    method: str = GRADIENTS,
    steps: int = STEPS,
    window: int = WINDOW,
    progress: Progress = ignore,
) -> TokenAttribution:
    """What each token of `ids` adds to `target`, by one of METHODS.

    `steps` are those of integrated gradients, `window` the tokens that occlusion covers. The
    baseline is the mean vector of the vocabulary: from a vector of zeros RMSNorm makes a jump that
    no number of steps resolves, and the end of a text would say that what came before is over.
    `progress` may raise, to cancel. Raises UnknownName, UsageError for what can't be asked, and
    LengthError as `check` does.
    """
    if method not in METHODS:
        raise UnknownName(mark("a method"), method, list(METHODS))
    if steps < 1 or window < 1:
        raise UsageError(
            say(
                "Expected at least 1 step and a window of 1; got {steps} and {window}.",
                steps=steps,
                window=window,
            )
        )
    target.check(len(ids), model.config.vocabulary)
    place, n = model.embedding.weight.device, target.reads
    check(model, n, place)
    forward = Forward(model, n)
    vectors = forward.vectors(ids[:n])
    mean = (model.embedding.weight.detach().mean(0) * model.config.width**0.5).expand_as(vectors)
    window, total = min(window, n), passes(method, n, steps, window)
    done = 0

    def number(x: Tensor) -> Tensor:
        """[b] of token vectors [b, n, w]."""
        return target.value(model, forward.finish(forward.placed(x)))

    def counted(x: Tensor) -> Tensor:
        nonlocal done
        found = number(x)
        done += len(x)
        progress(min(done / total, 1.0))
        return found

    batch = together(n, place)
    with torch.no_grad():
        output, baseline = float(number(vectors)), float(number(mean))
    if method == GRADIENTS:
        found = IntegratedGradients(counted).attribute(
            vectors, mean, n_steps=steps, internal_batch_size=batch
        )
    elif method == PRODUCT:
        found = InputXGradient(counted).attribute(vectors.requires_grad_())
    elif method == OCCLUSION:
        shape = (window, vectors.shape[-1])
        found = Occlusion(counted).attribute(
            vectors, shape, (1, shape[1]), mean, perturbations_per_eval=batch
        )
    else:
        one_each = torch.arange(n, device=place)[None, :, None]
        found = FeatureAblation(counted).attribute(
            vectors, mean, feature_mask=one_each, perturbations_per_eval=batch
        )
    # a gradient has a part for each channel, a loss is one number that captum writes to all
    by_channel = found.detach()[0].double().cpu()
    value = np.zeros(len(ids))
    value[:n] = by_channel.sum(-1) if method in (GRADIENTS, PRODUCT) else by_channel[:, 0]
    return TokenAttribution(value, output, baseline, method, steps if method == GRADIENTS else None)


def passes(method: str, length: int, steps: int = STEPS, window: int = WINDOW) -> int:
    """How many times `method` runs the model over `length` tokens; gradients cost twice as much."""
    places = length - min(window, length) + 1
    return {GRADIENTS: steps, PRODUCT: 1, OCCLUSION: places + 1, ABLATION: length + 1}[method]


def unconverged(delta: float, difference: float, steps: int | None) -> str:
    """A sentence where `delta` is more than TOLERANCE of `difference`, else ""."""
    if steps is None or abs(delta) <= max(TOLERANCE * abs(difference), NOISE):
        return ""
    return say(
        "The attributions add up to {sum:.3g} where the output differs by {difference:.3g}: "
        "{steps} steps are too few to trust them.",
        sum=difference + delta,
        difference=difference,
        steps=steps,
    )


def bytes_per_token(config: ModelConfig) -> int:
    """An upper estimate of what one more token costs in a pass with gradients, bytes (float32).

    Kept for the way back in each layer: stream, both normalised copies, q, k, v as one and with
    their turned copies, the mixed values twice, and the MLP's hidden vectors before and after GELU.
    """
    return 4 * config.width * (config.layers * (14 + 2 * config.mlp) + 12)


def bytes_needed(config: ModelConfig, length: int, device: torch.device) -> int:
    """An upper estimate of what `attribute` takes for `length` tokens, bytes."""
    return length * together(length, device) * bytes_per_token(config)


def together(length: int, device: torch.device) -> int:
    """How many inputs of `length` tokens go through the model at once."""
    return max(1, TOGETHER * (1 if device.type == "cpu" else 16) // length)


def check(model: Transformer, length: int, device: torch.device) -> None:
    """Raises LengthError, with the largest length that works, unless `length` can be attributed."""
    check_length(model, max(length, 2))
    fits = int(0.8 * devices.free_bytes(device)) // bytes_per_token(model.config)
    if length > fits:
        need = length * bytes_per_token(model.config) / 2**30
        raise LengthError(
            say(
                "Attribution to {length:,} tokens would take about {need:.1f} GiB, more than is "
                "free; choose at most {most:,} tokens.",
                length=length,
                need=need,
                most=fits,
            ),
            fits,
        )
