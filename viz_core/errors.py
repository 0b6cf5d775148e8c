"""Errors that a person may see, in one sentence each: what was expected, what came, what to do.

The sentence is in the language spoken where the error is raised.
"""

from viz_core.words import say


class AtlasError(Exception):
    """Something could not be done; the message is fit to be shown as it is."""

    exit_status = 1


class UsageError(AtlasError):
    """What was asked for is wrong in itself (an unknown name, a length of 0): exit status 2."""

    exit_status = 2


class UnknownName(UsageError):
    """A name that isn't among the known ones.

    `what` is a phrase with its article, such as "an encoding": marked, or said already.
    """

    def __init__(self, what: str, name: object, known: list[str]) -> None:
        facts = {"what": say(what), "known": ", ".join(known), "name": str(name)}
        super().__init__(say("Expected {what} among {known}; got {name!r}.", **facts))


class LengthError(UsageError):
    """A length that is no length, that is undefined for this encoding, or that does not fit."""

    def __init__(self, message: str, largest: int | None = None) -> None:
        super().__init__(message)
        self.largest = largest  # the largest length that would have worked, where one is known


class TextError(UsageError):
    """An empty text, or one too short for the length that was asked for."""


class DamagedCheckpoint(AtlasError):
    """A checkpoint file that can't be read, or whose contents contradict each other."""
