"""Additions of the site to MkDocs: links that leave docs/, the list of decisions, and flowcharts as text."""

import logging
import os
import re
import tomllib
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
LOG = logging.getLogger("mkdocs.hooks.handful")

#: Code, or a link that goes up.
_LINK = re.compile(
    r"^ *```.*?^ *```$|`[^`\n]+`|(?<!!)\[([^\]]+)\]\((\.\./[^)#\s]*)(#[^)\s]*)?\)", re.DOTALL | re.MULTILINE
)

_FLOWCHART = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_WIDE = {"comparison.md"}  # pages with a table that needs all of the width


def on_config(config: Any) -> Any:
    """Put the files of a folder where the navigation names the folder."""
    config.nav = _unfolded(config.nav)
    return config


def _unfolded(entry: Any) -> Any:
    if isinstance(entry, list):
        return [_unfolded(one) for one in entry]
    if isinstance(entry, dict):
        return {title: _unfolded(one) for title, one in entry.items()}
    if isinstance(entry, str) and entry.endswith("/"):
        return [f"{entry}{path.name}" for path in sorted((DOCS / entry).glob("*.md"))]
    return entry


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links that leave docs/ lead to the repository; where pyproject.toml names none, they are the path as text."""
    if page.parent is None or page.file.src_uri in _WIDE:
        page.meta["hide"] = ["navigation"] + ["toc"] * (page.file.src_uri in _WIDE)
    markdown = _FLOWCHART.sub(_as_text, markdown)
    url = repository()
    folder = (DOCS / page.file.src_uri).parent

    def leaving(found: re.Match[str]) -> str:
        text, target, anchor = found.groups()
        if target is None:  # in a table, GitHub wants \| within code, and Python-Markdown a plain |
            code = found.group()
            return code if code.lstrip().startswith("```") else code.replace(r"\|", "|")
        path = Path(os.path.normpath(folder / target))
        if path.is_relative_to(DOCS):
            return found.group()
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else target
        if not path.exists():
            LOG.warning("%s links to %s, which is not in the repository", page.file.src_uri, name)
        if url:
            return f"[{text}]({url}/blob/main/{name}{anchor or ''})"
        return text if text.strip("`") == name else f"{text} (`{name}`)"

    return _LINK.sub(leaving, markdown)


def on_post_page(output: str, **_: Any) -> str:
    """Name the search for screen readers, which the theme does not."""
    search = 'data-md-component="search" role="dialog"'
    return output.replace(search, f'{search} aria-label="Search"')


def _as_text(flowchart: re.Match[str]) -> str:
    """Return a flowchart as a line for each box that arrows leave; its picture would need a script from elsewhere."""
    after: dict[str, list[str]] = {}
    for start, end in re.findall(r"^ *(\w+) --> (\w+)$", flowchart.group(1), re.MULTILINE):
        after.setdefault(start, []).append(end)
    width = max(map(len, after))
    lines = [f"{start:>{width}} → {', '.join(ends)}" for start, ends in after.items()]
    return "\n".join(["```text", *lines, "```"])


def repository() -> str:
    """Return the address of the repository, as pyproject.toml gives it, or nothing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project.get("urls", {}).get("Repository", "").rstrip("/")
