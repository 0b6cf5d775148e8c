"""Checkpoints from outside, made safe: what comes in is checked, converted, kept and expires here.

`admit` is the door for files by path and for uploads alike; `Uploads` keeps what people upload;
`Limits` says how much of everything. Nothing that a file names is built, run, fetched or opened;
pickles are opened by a child process alone.
"""

from viz_core.readers.intake.admission import Admitted, admit, admitted, called
from viz_core.readers.intake.choosing import Kind
from viz_core.readers.intake.incoming import Incoming
from viz_core.readers.intake.limits import Limits
from viz_core.readers.intake.names import choose
from viz_core.readers.intake.pickles import beside
from viz_core.readers.intake.upload import Upload
from viz_core.readers.intake.uploads import Uploads

__all__ = [
    "Admitted",
    "Incoming",
    "Kind",
    "Limits",
    "Upload",
    "Uploads",
    "admit",
    "admitted",
    "beside",
    "called",
    "choose",
]
