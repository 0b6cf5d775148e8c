"""What mkdocs does besides: pages and files from outside docs/, at the places they have there.

On GitHub, README.md and CONTRIBUTING.md lie above docs/ and link into it, and pages of docs/ link
to files of the repository, such as limits.toml. In the site, what lies in docs/ is at the top:
README.md becomes index.md beside it, and every file that is linked comes along under its path.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = ("README.md", "README.zh.md", "CONTRIBUTING.md")  # pages of the site too
FENCED = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#\s])")
ELSEWHERE = re.compile(r"https://unpkg\.com/[^\"'`]+")
FORMULA = re.compile(r"^\$\$\n(.+?)\n\$\$$", re.M | re.S)
PICTURE = re.compile(
    r'<picture>\s*<source [^>]*dark[^>]*srcset="(?P<dark>[^"]+)">\s*'
    r'<img [^>]*alt="(?P<alt>[^"]*)"[^>]*src="(?P<light>[^"]+)"[^>]*>\s*</picture>'
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages above docs/, and what any page links to outside docs/, also through those."""
    seen = {f"docs/{file.src_uri}" for file in files}
    waiting = [*OUTSIDE, *sorted(path for path in seen if path.endswith(".md"))]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            source = str(ROOT / path)
            file = File.generated(config, _placed(path), abs_src_path=source)
            # said of each: names that start with a dot would stay out
            listed = path in OUTSIDE or not path.endswith(".md")
            file.inclusion = InclusionLevel.INCLUDED if listed else InclusionLevel.NOT_IN_NAV
            files.append(file)
        if path.endswith(".md"):
            text = _plain((ROOT / path).read_text("utf-8"))
            waiting += [to for to in _targets(path, text) if to not in seen]
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links from where the page is in the repository become links from where it is in the site."""
    path = _origin(page.file.src_uri)
    if path in OUTSIDE[:2]:
        page.meta["hide"] = ["navigation"]  # the front page is wide
    here = posixpath.dirname(page.file.src_uri) or "."

    def moved(match: re.Match[str]) -> str:
        to = _target(path, match[0])
        return match[0] if to is None else posixpath.relpath(_placed(to), here)

    return _outside_fences(
        _as_written(PICTURE.sub(_twice, markdown)), lambda text: LINK.sub(moved, text)
    )


def on_post_build(config: MkDocsConfig) -> None:
    """What the theme would fetch from elsewhere, to search without a server, is nothing instead."""
    for script in Path(config.site_dir).glob("assets/javascripts/*.js"):
        text = script.read_text("utf-8")
        script.write_text(ELSEWHERE.sub("data:text/javascript,", text), "utf-8")


def _as_written(markdown: str) -> str:
    """Formulas as LaTeX: what sets them in a browser would come from elsewhere."""
    return FORMULA.sub(r"```latex\n\1\n```", markdown)


def _twice(found: re.Match[str]) -> str:
    """A picture for each side of the theme, which need not be that of the reader's system."""
    sides = (f"![{found['alt']}]({found[side]}#only-{side})" for side in ("light", "dark"))
    return "".join(sides)


def _outside_fences(text: str, change: Callable[[str], str]) -> str:
    parts, end = [], 0
    for fence in FENCED.finditer(text):
        parts += [change(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join((*parts, change(text[end:])))


def _plain(text: str) -> str:
    return FENCED.sub("", PICTURE.sub(_twice, text))


def _targets(path: str, text: str) -> Iterator[str]:
    found = (_target(path, match[0]) for match in LINK.finditer(text))
    return (to for to in found if to is not None)


def _target(path: str, link: str) -> str | None:
    """The file of the repository that `link` on the page `path` means, if it means one."""
    if "://" in link or link.startswith("mailto:"):
        return None
    to = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
    return to if (ROOT / to).is_file() else None


def _placed(path: str) -> str:
    """Where a file of the repository is in the site."""
    return "index.md" if path == "README.md" else path.removeprefix("docs/")


def _origin(src_uri: str) -> str:
    if src_uri == "index.md":
        return "README.md"
    inside = f"docs/{src_uri}"
    return inside if (ROOT / inside).is_file() else src_uri
