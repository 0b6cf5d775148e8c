"""A model's files from a Hugging Face hub: configuration, safetensors and tokenizer, no more.

Which commit a name stands for is asked first, and the sizes of its files are held against the
limits, before one of them is fetched.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from viz_core.errors import AtlasError, UsageError
from viz_core.readers.intake.limits import Limits
from viz_core.readers.intake.words import shown, size
from viz_core.words import say

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")
_REVISION = re.compile(r"\w[\w./-]{0,99}")
_WANTED = re.compile(
    r"(config|tokenizer|tokenizer_config|special_tokens_map|vocab)\.json|vocab\.txt|merges\.txt"
    r"|[\w.-]+\.safetensors(\.index\.json)?"
)  # of the repository's own folder: what lies deeper is for other programs
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SECONDS = 20  # to wait for an answer


def fetch(
    repository: str,
    revision: str,
    into: Path,
    limits: Limits,
    endpoint: str | None = None,
) -> tuple[Path, str]:
    """Downloads `repository` ("owner/name") at `revision`: (the folder under `into`, the commit).

    `endpoint` is the hub's address; by default the public one, or what HF_ENDPOINT says. No
    credentials are sent. Raises UsageError where the limits don't allow the hub or the sizes, and
    for what is no name; AtlasError where the hub doesn't answer or has no such thing.
    """
    from huggingface_hub import HfApi, snapshot_download

    if not limits.hub:
        raise UsageError(
            say(
                "Expected a checkpoint as a file; this server doesn't fetch from the hub, so "
                "download it and upload the folder, or ask the server's owner to set 'hub' in "
                "limits.toml."
            )
        )
    if not _NAME.fullmatch(repository) or ".." in repository:
        raise UsageError(
            say("Expected a hub id such as owner/name; got {name}.", name=shown(repository))
        )
    if not _REVISION.fullmatch(revision) or ".." in revision:
        raise UsageError(say("Expected a branch, tag or commit; got {name}.", name=shown(revision)))
    api = HfApi(endpoint=endpoint, token=False)
    try:
        info = api.model_info(repository, revision=revision, files_metadata=True, timeout=_SECONDS)
        files = {
            file.rfilename: int(file.size or 0)
            for file in info.siblings or ()
            if _WANTED.fullmatch(file.rfilename)
        }
        commit = str(info.sha)
        if not _COMMIT.fullmatch(commit):
            raise ValueError(say("it names no commit"))
        _check(repository, files, limits)
        folder = into / f"{repository.replace('/', '--')}@{commit[:12]}"
        snapshot_download(
            repository,
            revision=commit,
            local_dir=folder,
            allow_patterns=sorted(files),
            endpoint=endpoint,
            token=False,
            max_workers=2,
        )
        shutil.rmtree(folder / ".cache", ignore_errors=True)  # the client's notes on the download
    except AtlasError:
        raise
    except Exception as error:  # whatever a network and a foreign server may do
        why = (str(error).strip().splitlines() or [type(error).__name__])[0][:120].rstrip(".")
        raise AtlasError(
            say(
                "Expected {repository} at {revision} from the hub; it can't be fetched ({why}), so "
                "check the name or try again later.",
                repository=repository,
                revision=revision,
                why=why,
            )
        ) from None
    return folder, commit


def _check(repository: str, files: dict[str, int], limits: Limits) -> None:
    """Raises UsageError where `files` (name to bytes) are no checkpoint, or too large a one."""
    weights = [name for name in files if name.endswith(".safetensors")]
    if "config.json" not in files or not weights:
        raise UsageError(
            say(
                "Expected config.json and safetensors weights in {repository}; it has none of one "
                "or the other, so choose a repository that does.",
                repository=repository,
            )
        )
    if len(files) > limits.files:
        raise UsageError(
            say(
                "Expected at most {most} files in {repository}; it has {n}, so choose a smaller "
                "one or ask the server's owner to raise 'files' in limits.toml.",
                most=limits.files,
                repository=repository,
                n=len(files),
            )
        )
    largest, total = max(files.values()), sum(files.values())
    if largest > limits.largest_file or total > limits.largest_upload:
        raise UsageError(
            say(
                "Expected at most {total} in all of {repository}; it has {size}, so choose a "
                "smaller one or ask the server's owner to raise 'largest_upload' in limits.toml.",
                total=size(limits.largest_upload),
                repository=repository,
                size=size(total),
            )
        )
