"""Folders that are filled shard by shard, one for each piece of text: a run that was stopped goes on where it was.

``plan.json`` says what the folder is made from, and comes first. Each shard appears when it is complete, with counts in
a ``.json`` file beside it. ``index.json`` has the counts of all shards, and comes last.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handful._util.files import PathLike, check_into, is_temporary, naming, replacing
from handful._util.foreign import check_files
from handful._util.options import expected, is_possible
from handful._util.progress import Progress, reporting
from handful.errors import DataError, FileError, FormatError

from ._pieces import PieceReader, TextPiece
from ._workers import call_all

if TYPE_CHECKING:
    from distributed import Client

_FORMAT = 1
_MANY = 1 << 48  # numbers below it can be added up
_COUNTS = {"features": ("n_words", "n_sentences"), "predictions": ("documents", "words", "mentions")}


class ShardFolder:
    """A folder of shards of one kind, "features" or "predictions", made from one plan."""

    def __init__(self, path: PathLike, kind: str) -> None:
        self.path = Path(path)
        self.kind = kind

    def check(self, plan: dict[str, Any] | None = None) -> None:
        """Refuse a folder into which nothing can be written, that holds something else, or that has another plan."""
        check_into(self.path)
        if self.path.exists() and not self.path.is_dir():
            raise FileError(f"{self.path}: is a file; give the name of a new folder")
        if (self.path / "plan.json").exists():
            if plan is not None and self.plan() != self._whole(plan):
                raise FileError(
                    f"{self.path}: holds {self.kind} that were made from other texts, or in another way; give another "
                    "folder, or remove this one"
                )
        elif self.path.exists() and not all(
            one.name == "texts" or is_temporary(one.name) for one in self.path.iterdir()
        ):
            raise FileError(f"{self.path}: is a folder with other files in it; give the name of a new or empty one")

    def start(self, plan: dict[str, Any]) -> None:
        """Make the folder and write the plan, or go on with the plan that is there, which is the same (`check`)."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not (self.path / "plan.json").exists():
            self._write("plan.json", self._whole(plan))

    def finish(self, shards: Sequence[Mapping[str, Any]]) -> None:
        """Write the counts and reports of all shards (`about`), and remove the files that killed workers left."""
        for left in self.path.glob(".*.tmp"):
            left.unlink(missing_ok=True)
        counts = {name: [one[name] for one in shards] for name in _COUNTS[self.kind]}
        self._write("index.json", counts | {"report": [line for one in shards for line in one["report"]]})

    def index(self) -> dict[str, Any]:
        """Return lists of counts, one number for each shard, and the report; an error where shards are missing."""
        path = self.path / "index.json"
        if not path.exists():
            begun = (self.path / "plan.json").exists()
            found = f"the {self.kind} in it are not complete; run the same command again" if begun else "has no shards"
            raise FileError(f"{self.path}: {found}")
        check_files(self.path)
        return self._counted(path, read_json(path), Sequence[int])

    def plan(self) -> dict[str, Any]:
        """Return the plan, with its format and kind."""
        path = self.path / "plan.json"
        check_files(self.path)
        content = read_json(path)
        if not isinstance(content, dict) or content.get("kind") != self.kind:
            raise FormatError(f"{path}: does not describe {self.kind}")
        if content.get("format") != _FORMAT:
            raise FormatError(
                f"{path}: is of format {content.get('format')!r:.50}, this version of handful reads {_FORMAT}; give "
                "another folder, or remove this one"
            )
        return content

    def shard(self, number: int, ending: str) -> Path:
        return self.path / f"{number:06d}{ending}"

    def about(self, path: Path, content: bytes | None = None) -> dict[str, Any]:
        """Return the JSON beside a shard, with its counts and report; `content` if the file has been read already."""
        return self._counted(path, read_json(path, content), int)

    def _counted(self, path: Path, content: Any, hint: Any) -> dict[str, Any]:
        found: dict[str, Any] = content if isinstance(content, dict) else {}
        for name in _COUNTS[self.kind]:
            checked(path, found, name, hint, least=0)
        checked(path, found, "report", Sequence[str])
        return found

    def _whole(self, plan: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(json.dumps({"format": _FORMAT, "kind": self.kind} | plan))
        return found

    def _write(self, name: str, content: dict[str, Any]) -> None:
        with replacing(self.path / name, sync=True) as temporary:
            temporary.write_text(json.dumps(content, ensure_ascii=False, indent=0), encoding="utf-8")


def fill(
    client: "Client",
    folder: ShardFolder,
    plan: dict[str, Any],
    pieces: Sequence[TextPiece],
    work: Callable[..., dict[str, Any]],
    shared: Sequence[Any],
    progress: Progress,
    verb: str,
) -> None:
    """Make the shards of a folder on workers, and its index; shards that are there are not made again.

    Each item is ``(number, piece)``. A worker calls ``work(item, path, options, *shared)``, which makes the shard
    unless it is there, and returns its counts. `plan` has the ``options`` of reading. All pieces are read first: a
    malformed text is an error before anything is written.
    """
    plan = plan | {"pieces": [piece.to_dict() for piece in pieces]}
    folder.check(plan)
    if (folder.path / "index.json").exists():
        return
    shown = False if callable(progress) else progress  # a function is not called: it is about words
    with reporting(shown, len(pieces), "reading", "pieces", patience=0) as report:
        n_words = call_all(client, _count_words, pieces, plan["options"], sizes=[1] * len(pieces), report=report)
    if folder.kind == "features" and not any(n_words):
        raise DataError(f"{', '.join({piece.name: None for piece in pieces})}: there is no word in the text")
    folder.start(plan)
    with reporting(progress, sum(n_words), verb, patience=0) as report:
        common = (str(folder.path), plan["options"], *shared)
        found = call_all(client, work, list(enumerate(pieces)), *common, sizes=n_words, report=report)
    folder.finish(found)


def _count_words(piece: TextPiece, options: Mapping[str, Any]) -> int:
    return sum(document.n_words for document in PieceReader(piece, options))


def read_json(path: Path, content: bytes | None = None) -> Any:
    """Return the content of a JSON file, which may have been read; an error says what to do if it is not JSON."""
    try:
        with naming(path):
            content = path.read_bytes() if content is None else content
        return json.loads(content.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"{path}: is not JSON: {error}; remove the folder {path.parent}, and run the same command again"
        ) from None


def checked(
    path: Path, content: dict[str, Any], name: str, hint: Any, *, least: int | None = None, choices: Sequence[str] = ()
) -> Any:
    """Return a value that a file holds under a name; an error where it is not of a type, and within limits."""
    value, limits = content.get(name), {"least": least, "below": None if least is None else _MANY, "choices": choices}
    if not is_possible(value, hint, limits):
        raise FormatError(
            f"{path}: {name!r} is {value!r:.50}, expected {expected(hint, limits)}; the file was damaged or changed "
            f"since it was written: remove the folder {path.parent}, and run the same command again"
        )
    return value
