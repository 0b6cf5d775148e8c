"""What a plate is: options with their defaults, and a function from them to a figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from viz_core.arguments import figure
from viz_core.errors import UsageError
from viz_core.export import Export, data
from viz_core.export.provenance import Facts, Provenance, Source, digest
from viz_core.export.target import Target
from viz_core.figures.spec import FigureSpec
from viz_core.progress import Progress, ignore
from viz_core.render import paper
from viz_core.words import say, speaking

Options = Mapping[str, Any]  # values are words, whole numbers, lists of either, or None


@dataclass(frozen=True)
class Plot:
    """A figure, the files and texts it was made from, and how: what its provenance says."""

    spec: FigureSpec
    sources: tuple[Source, ...]
    facts: Facts


@dataclass(frozen=True)
class Plate:
    """A figure that is made from checkpoints or tables.

    `title` is marked: `words.say` says it.
    `options` holds every option that it takes, by the names of the command line, with its default;
    None stands for what the checkpoint says. `draw` gets a value for each. `examples` are what the
    gallery shows of it: options by the name of the example.
    """

    id: str
    title: str
    options: Options
    draw: Callable[[Options, Progress], Plot]
    examples: Mapping[str, Options] = field(default_factory=dict)

    def export(
        self,
        given: Options,
        target: Target,
        name: str = "",
        dpi: float = paper.DPI,
        progress: Progress = ignore,
    ) -> Export:
        """The figure with the options `given` (None: not given) in the language of `target`, ready
        to be written as `name`.

        Raises UsageError for options that it doesn't take, and as `draw` does.
        """
        wanted = {option: value for option, value in given.items() if value is not None}
        self.check(wanted)
        target.sheet()  # raises before any work
        chosen = {**self.options, **wanted}
        with speaking(target.language):
            plot, title = self.draw(chosen, progress), say(self.title)
        arrays = digest(data.arrays(plot.spec))
        source = Provenance(self.id, chosen, asdict(target), plot.sources, plot.facts, arrays)
        return Export(plot.spec, title, name or self.id, target, source, dpi)

    def check(self, names: Iterable[str]) -> None:
        """Raises UsageError where one of `names` is no option of this plate."""
        unknown = [name for name in names if name not in self.options]
        if unknown:
            raise UsageError(
                say(
                    "Expected options of {figure} among {known}; got {names}.",
                    figure=self.id,
                    known=_listed(self.options),
                    names=_listed(name[:40] for name in unknown[:3]),
                )
            )

    def read(self, words: Mapping[str, str]) -> Options:
        """Every option with its value, from words as the command line takes them; those that are
        not among `words` at their defaults. Raises UsageError for an option or a value that it
        doesn't take."""
        self.check(words)
        return {**self.options, **figure.read(words)}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"--{name.replace('_', '-')}" for name in names)
