"""What people uploaded, on disk: each in its owner's folder under the hash of its contents.

    <root>/people/<hash of the owner>/<hash of the contents>/files/
    <root>/people/<hash of the owner>/incoming-<number>/files/     while it comes in
    <root>/published/<hash of the contents>/files/                 for everyone, without expiry

An owner is a session's id; whoever has another can't name its folder. Whole folders are renamed
into place, so a stop at any moment leaves an upload, or a part that no one sees and that a sweep
removes. There are no locks: what lies on disk is counted anew, other processes' parts included.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from viz_core.errors import AtlasError
from viz_core.readers.intake.incoming import Incoming
from viz_core.readers.intake.limits import Limits
from viz_core.readers.intake.upload import Upload, found, taken, unwritable
from viz_core.readers.intake.words import shown
from viz_core.words import say

_ID = re.compile(r"[0-9a-f]{64}")
_ABANDONED = 3_600.0  # seconds without a byte


class Uploads:
    """The uploads under `root`. Safe for several processes; files and folders are 0600 and 0700.

    People's uploads take `limits.quota` bytes each and `limits.total_quota` together. What is
    coming in may take 8 MiB beyond that, and as much as one write brings; it is then not finished.
    """

    def __init__(self, root: Path, limits: Limits) -> None:
        self.root, self.limits = root, limits

    def begin(self, owner: str) -> Incoming:
        """An upload to write to: `with uploads.begin(owner) as incoming: ...`.

        Raises AtlasError where the folder can't be written.
        """
        folder = self._person(owner) / f"incoming-{uuid4().hex}"
        try:
            (self.root / "people").mkdir(mode=0o700, parents=True, exist_ok=True)
            for place in (folder.parent, folder, folder / "files"):
                place.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise unwritable(error) from None
        return Incoming(folder, owner, self.limits)

    def list(self, owner: str) -> tuple[Upload, ...]:
        """What `owner` may open, its own first, then by age, the newest first."""
        own = [found(folder, owner) for folder in _folders(self._person(owner))]
        published = [found(folder, "") for folder in _folders(self.root / "published")]
        uploads = [u for u in own + published if u is not None and _ID.fullmatch(u.id)]
        return tuple(sorted(uploads, key=lambda u: (u.owner == "", -u.created)))

    def open(self, owner: str, id: str) -> Upload:
        """The upload `id`, if it is `owner`'s or published. Raises AtlasError."""
        if _ID.fullmatch(id):
            own, published = self._person(owner) / id, self.root / "published" / id
            if (upload := found(own, owner) or found(published, "")) is not None:
                return upload
        raise AtlasError(
            say(
                "Expected an upload of this session; there is none with the id {id} (any more), so "
                "upload it again.",
                id=shown(id),
            )
        )

    def remove(self, owner: str, id: str) -> None:
        """Removes `owner`'s upload `id`; nothing if there is none, or if it is published."""
        if _ID.fullmatch(id):
            _discard(self._person(owner) / id)

    def publish(self, id: str) -> None:
        """For the server's owner: the upload `id`, whoever's it is, is everyone's from now on.

        Raises AtlasError where there is none.
        """
        published = self.root / "published"
        if _ID.fullmatch(id):
            published.mkdir(mode=0o700, parents=True, exist_ok=True)
            for folder in self.root.glob(f"people/*/{id}"):
                with suppress(OSError):  # another's copy was first; this one expires
                    folder.rename(published / id)
            if (published / id).is_dir():
                return
        raise AtlasError(
            say(
                "Expected the id of an upload; there is none {id} (any more), so look it up where "
                "it was uploaded.",
                id=shown(id),
            )
        )

    def withdraw(self, id: str) -> None:
        """For the server's owner: removes the published upload `id`, if there is one."""
        if _ID.fullmatch(id):
            _discard(self.root / "published" / id)

    def expire(self, now: float) -> None:
        """Removes what was uploaded more than `limits.hours` before `now`, and abandoned parts.

        `now`: seconds since 1970. A part is abandoned an hour after its last byte.
        """
        for person in _folders(self.root / "people"):
            for folder in _folders(person):
                with suppress(OSError):
                    if _ID.fullmatch(folder.name):
                        age = now - (folder / "files").stat().st_mtime
                        over = age > 3_600 * self.limits.hours
                    else:
                        inside = (folder, *folder.rglob("*"))
                        over = now - max(path.lstat().st_mtime for path in inside) > _ABANDONED
                    if over:
                        _discard(folder)
            with suppress(OSError):
                if now - person.stat().st_mtime > _ABANDONED:  # not one that is only beginning
                    person.rmdir()  # if it is empty

    def room(self, owner: str) -> int:
        """Bytes that `owner` may still take, in uploads and in what is made of them."""
        own = self.limits.quota - taken(self._person(owner))
        return max(0, min(own, self.limits.total_quota - taken(self.root / "people")))

    def _person(self, owner: str) -> Path:
        return self.root / "people" / hashlib.sha256(owner.encode()).hexdigest()


def _discard(folder: Path) -> None:
    """Out of sight at once, whatever happens while its files go one by one."""
    gone = folder.with_name(f"removed-{uuid4().hex}")
    with suppress(OSError):
        folder.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


def _folders(parent: Path) -> list[Path]:
    """Folders in `parent`, as far as it can be read."""
    with suppress(OSError):
        return [path for path in parent.iterdir() if path.is_dir() and not path.is_symlink()]
    return []
