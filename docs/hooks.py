"""What the site needs beyond MkDocs: links to files outside docs/, the list of decisions, and Mermaid's pictures."""

import logging
import os
import re
import tomllib
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
LOG = logging.getLogger("mkdocs.hooks.handful")

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\./[^)#\s]*)(#[^)\s]*)?\)")


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
    url = repository()
    folder = (DOCS / page.file.src_uri).parent

    def leaving(link: re.Match[str]) -> str:
        text, target, anchor = link.group(1), link.group(2), link.group(3) or ""
        path = Path(os.path.normpath(folder / target))
        if path.is_relative_to(DOCS):
            return link.group()
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else target
        if not path.exists():
            LOG.warning("%s links to %s, which is not in the repository", page.file.src_uri, name)
        if url:
            return f"[{text}]({url}/blob/main/{name}{anchor})"
        return text if text.strip("`") == name else f"{text} (`{name}`)"

    parts = re.split(r"(^ *```.*?^ *```$)", markdown, flags=re.DOTALL | re.MULTILINE)  # every other one is code
    return "".join(part if i % 2 else _LINK.sub(leaving, part) for i, part in enumerate(parts))


def repository() -> str:
    """Return the address of the repository, as pyproject.toml gives it, or nothing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project.get("urls", {}).get("Repository", "").rstrip("/")
