"""Folders that are filled shard by shard: a run that was stopped goes on where it was.

``plan.json`` says what the folder is made from, and comes first. Each shard appears when it is complete.
``index.json`` says what is in the shards, and comes last.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from handful._util.files import PathLike, check_into, is_temporary, replacing
from handful.errors import Advice, FileError, FormatError

__all__ = ["ShardFolder", "checked", "is_count", "is_counts", "is_lines", "is_list", "read_json"]

_FORMAT = 1


class ShardFolder:
    """A folder of shards, of one kind, made from one plan.

    Parameters
    ----------
    path : the folder
    kind : what it holds, such as "features"
    """

    def __init__(self, path: PathLike, kind: str) -> None:
        self.path = Path(path)
        self.kind = kind

    def check(self, plan: dict[str, Any] | None = None) -> None:
        """Refuse a folder into which nothing can be written, that holds something else, or that has another plan."""
        check_into(self.path)
        if self.path.exists() and not self.path.is_dir():
            raise FileError(f"{self.path}: is a file; give the name of a new folder")
        if (self.path / "plan.json").exists():
            if plan is not None and self._read("plan.json") != self._whole(plan):
                raise FileError(
                    f"{self.path}: holds {self.kind} that were made from other texts, or in another way",
                    Advice("give another folder, or remove this one", "give another folder, or remove this one"),
                )
        elif self.path.exists() and any(not _is_ours(one.name) for one in self.path.iterdir()):
            raise FileError(f"{self.path}: is a folder with other files in it; give the name of a new or empty one")

    def start(self, plan: dict[str, Any]) -> None:
        """Make the folder and write the plan, or go on with the one that is there."""
        self.check(plan)
        self.path.mkdir(parents=True, exist_ok=True)
        if not (self.path / "plan.json").exists():
            self._write("plan.json", self._whole(plan))

    def finish(self, index: dict[str, Any]) -> None:
        """Write what is in the shards, and remove what killed workers left."""
        for left in self.path.glob(".*.tmp"):
            left.unlink(missing_ok=True)
        self._write("index.json", index)

    def index(self) -> dict[str, Any]:
        """Return what is in the shards; an error where they are not complete."""
        if not (self.path / "index.json").exists():
            begun = (self.path / "plan.json").exists()
            raise FileError(
                f"{self.path}: "
                + (f"the {self.kind} in it are not complete; run the same command again" if begun else "has no shards")
            )
        return self._read("index.json")

    def plan(self) -> dict[str, Any]:
        """Return what it was made from."""
        return self._read("plan.json")

    def shard(self, number: int, ending: str) -> Path:
        """Return the path of a shard."""
        return self.path / f"{number:06d}{ending}"

    def _whole(self, plan: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(json.dumps({"format": _FORMAT, "kind": self.kind} | plan))
        return found

    def _read(self, name: str) -> dict[str, Any]:
        path = self.path / name
        content = read_json(path)
        if not isinstance(content, dict) or (name == "plan.json" and content.get("kind") != self.kind):
            raise FormatError(f"{path}: does not describe {self.kind}")
        if name == "plan.json" and content.get("format") != _FORMAT:
            raise FormatError(
                f"{path}: is of format {content.get('format')!r:.50}, this version of handful reads {_FORMAT}; give "
                "another folder, or remove this one"
            )
        return content

    def _write(self, name: str, content: dict[str, Any]) -> None:
        with replacing(self.path / name, sync=True) as temporary:
            temporary.write_text(json.dumps(content, ensure_ascii=False, indent=0), encoding="utf-8")


def read_json(path: Path) -> Any:
    """Read a JSON file of a folder; an error says what to do where it is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"{path}: is not JSON: {error}; remove the folder {path.parent}, and run the same command again"
        ) from None


def checked(path: Path, content: dict[str, Any], name: str, is_right: Callable[[Any], bool], expected: str) -> Any:
    """Return a value that a file holds under a name; an error where it is not what is expected."""
    value = content.get(name)
    if not is_right(value):
        raise FormatError(
            f"{path}: {name!r} is {value!r:.50}, expected {expected}; the file was damaged or changed since it was "
            f"written: remove the folder {path.parent}, and run the same command again"
        )
    return value


def is_count(value: Any) -> bool:
    """Whether this is a number from 0, of which many can be added."""
    return type(value) is int and 0 <= value < 1 << 48


def is_list(value: Any) -> bool:
    """Whether this is a list."""
    return isinstance(value, list)


def is_counts(value: Any) -> bool:
    """Whether this is a list of numbers from 0."""
    return isinstance(value, list) and all(map(is_count, value))


def is_lines(value: Any) -> bool:
    """Whether this is a list of strings."""
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_ours(name: str) -> bool:
    """Tell whether a file may be there before the plan is: the texts of compressed files, and what was not finished."""
    return name == "texts" or is_temporary(name)
