"""The protocols: domain transfer, tag-set extension, and the paper's ablations."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from handful.baselines import Source
from handful.encoders import EMBEDDED, load
from handful.encoders._opened import WordEncoder
from handful.encoders.cache._stored import StoredEncoder
from handful.errors import DataError
from handful.text import Sentence, types_in
from handful.training._corpora import read_corpora

from ._board import make_board
from ._differences import differences
from ._environment import environment
from ._groups import GROUPS, Groups
from ._methods import Variant, variants
from ._plots import draw
from ._published import SOURCES, published_lines
from ._report import Report, write_report
from ._results import Results, key_of
from ._runs import Bench, Progress
from ._settings import Settings
from ._targets import Corpus, PathLike, digest, read_corpus, read_supports
from ._tasks import Task, make_task

__all__ = ["ABLATIONS", "ablation", "extension", "transfer"]

AnyEncoder = PathLike | WordEncoder

#: The ablations by name: methods, ratios (None: those of the settings) and unlabelled texts.
ABLATIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...] | None, tuple[str, ...]]] = {
    "unlabelled": (("hard", "soft"), None, ("all", "dev", "none")),
    "subspace": (("hard", "hard-nosubspace"), None, ("all",)),
    "ratio": (("hard", "soft"), ("none", "0.8", "0.85", "0.9", "0.925", "0.95", "0.975", "0.99"), ("all",)),
    "amount": (("hard", "handful"), None, ("none", "1000", "3000", "10000", "30000", "100000", "all")),
}
_CARDS = ("handful.json", "training.json")


def transfer(
    targets: Sequence[PathLike],
    *,
    report: PathLike,
    encoder: AnyEncoder = "handful-en",
    source: Sequence[PathLike] = (),
    settings: Settings | None = None,
    progress: Progress | None = None,
    encoding: Any = None,
) -> Report:
    """Compare methods on corpora that the encoder never saw.

    Parameters
    ----------
    targets
        Folders; see `handful.bench._targets.read_corpus`.
    report
        The folder to write. Rows that are finished there are not run again.
    encoder
        A name or path, as for `handful.encoders.load`; or an object with ``dim``, ``fingerprint`` and ``encode``.
    source
        Labelled corpora that baselines may learn from; see `handful.training._corpora.read_corpora`.
    settings
        All else.
    progress, encoding
        See `handful.bench._runs.Bench.run`.
    """
    settings = settings or Settings()
    chosen = variants(settings.chosen_methods(has_source=bool(source)), settings.ratios)
    bench = _transfer_bench("transfer", targets, chosen, encoder, source, settings)
    title = f"Domain transfer, scored on {settings.on}, {_name(encoder)}"
    return _run(bench, Path(report), title, settings, [], progress, encoding)


def ablation(
    targets: Sequence[PathLike],
    which: Sequence[str] = ("unlabelled", "subspace", "ratio"),
    *,
    report: PathLike,
    encoder: AnyEncoder = "handful-en",
    settings: Settings | None = None,
    progress: Progress | None = None,
    encoding: Any = None,
) -> Report:
    """Run our own methods with parts of them changed or left out.

    Parameters
    ----------
    targets, report, encoder, settings, progress, encoding
        As for `transfer`; the methods are those of each ablation.
    which
        Some of `ABLATIONS`: unlabelled text (all, dev only, none), subspace (on, off), ratio (a range of them), amount
        (of unlabelled text, in words).
    """
    settings = settings or Settings(ratios=("none", "share", "over"))
    if not which or set(which) - set(ABLATIONS):
        raise DataError(f"which is {list(which)!r}, expected some of {', '.join(ABLATIONS)}")
    found: list[Variant] = []
    for name in which:
        methods, ratios, texts = ABLATIONS[name]
        found += variants(methods, ratios or settings.ratios, texts)
    bench = _transfer_bench("ablation", targets, list(dict.fromkeys(found)), encoder, (), settings)
    title = f"Ablation ({', '.join(which)}), scored on {settings.on}, {_name(encoder)}"
    return _run(bench, Path(report), title, settings, [], progress, encoding)


def extension(
    corpus: PathLike,
    groups: Groups,
    *,
    report: PathLike,
    encoders: AnyEncoder | Mapping[str, AnyEncoder],
    settings: Settings | None = None,
    progress: Progress | None = None,
    encoding: Any = None,
) -> Report:
    """Compare methods on groups of types of one corpus, each with an encoder that has not seen the group's labels.

    Parameters
    ----------
    corpus
        A folder; see `handful.bench._targets.read_corpus`. Its supports are not used: for each group they are drawn
        from dev (train where there is none), with all other types turned into O.
    groups
        Types by group; see `handful.bench._groups.parse_groups`.
    encoders
        By group, each trained with the group's types hidden (``handful pretrain --hide``); or one for all.
    report, settings, progress, encoding
        As for `transfer`. Supports, if given, lie in folders named after the groups.

    Notes
    -----
    Baselines that learn from a source get the training split with the group's types turned into O.
    """
    settings = settings or Settings()
    whole = read_corpus(corpus, skip_unnamed=settings.skip_unnamed)
    _check_groups(whole, groups)
    others = {name: [one for one in types_in(whole.train) if one not in types] for name, types in groups.items()}
    chosen = variants(settings.chosen_methods(has_source=all(others.values())), settings.ratios)
    by_group = dict(encoders) if isinstance(encoders, Mapping) else dict.fromkeys(groups, encoders)
    if by_group.keys() != groups.keys():
        raise DataError(f"encoders are given for {', '.join(by_group)}, but the groups are {', '.join(groups)}")
    tasks = _tasks([whole.only(name, types) for name, types in groups.items()], settings)
    opened = {name: open_stored(encoder, settings) for name, encoder in by_group.items()}
    sources = {
        name: _source([whole.only(name, types).train] if types else [], by_group[name], opened[name], settings)
        for name, types in others.items()
    }
    notes = [note for name, types in groups.items() if (note := hidden_note(name, types, by_group[name]))]
    if settings.published and groups != GROUPS["ontonotes"]:
        settings = replace(settings, published=False)
        notes.append("there are no published figures for these groups")
    bench = Bench("extension", tasks, chosen, opened, settings.on, sources, _folders(by_group))
    title = f"Tag-set extension on {whole.name}, scored on {settings.on}"
    return _run(bench, Path(report), title, settings, notes, progress, encoding)


def _transfer_bench(
    protocol: str,
    targets: Sequence[PathLike],
    chosen: Sequence[Variant],
    encoder: AnyEncoder,
    source: Sequence[PathLike],
    settings: Settings,
) -> Bench:
    tasks = _tasks([read_corpus(target, skip_unnamed=settings.skip_unnamed) for target in targets], settings)
    opened = open_stored(encoder, settings)
    learned = _source([one.train for one in read_corpora(source)] if source else [], encoder, opened, settings)
    names = [task.name for task in tasks]
    return Bench(
        protocol, tasks, chosen, dict.fromkeys(names, opened), settings.on, dict.fromkeys(names, learned),
        _folders(dict.fromkeys(names, encoder)),
    )  # fmt: skip


def _run(
    bench: Bench,
    folder: Path,
    title: str,
    settings: Settings,
    notes: list[str],
    progress: Progress | None,
    encoding: Any,
) -> Report:
    results = Results(folder)
    rows = bench.run(results, progress, encoding)
    targets = [task.name for task in bench.tasks]
    board = make_board(rows, bench.variants, list(dict.fromkeys(settings.shots)), targets)
    if not any(line.figures for line in board.lines):
        raise DataError(f"no run succeeded; the first failure: {rows[0]['error']}")
    found = differences(board, settings.seed)
    notes = notes + [note for task in bench.tasks for note in task.notes] + board.notes
    if settings.published:
        board.lines += published_lines(bench.protocol, targets, sorted({one.text for one in bench.variants}))
        notes += SOURCES + (["published figures are on test, the others here are not"] if bench.on == "dev" else [])
    options = settings.to_dict() | {"protocol": bench.protocol, "targets": targets}
    report = Report(title, folder, board, found, rows, environment(settings.command, options), notes=notes)
    if settings.plots:
        report.plots, more = draw(report, bench)
        report.notes += more
    write_report(report)
    return report


def _tasks(corpora: Sequence[Corpus], settings: Settings) -> list[Task]:
    names = [corpus.name for corpus in corpora]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DataError(f"two targets are called {', '.join(twice)}; name them, as NAME=FOLDER")
    if not corpora:
        raise DataError("no target is named; give a folder with train, dev and test files")
    if settings.supports is not None:
        place = Path(settings.supports)
        corpora = [
            replace(corpus, supports=read_supports(place if len(names) == 1 else place / corpus.name))
            for corpus in corpora
        ]
    return [
        make_task(
            corpus, shots=settings.shots, sets=settings.sets, seed=settings.seed, on=settings.on,
            most_words=settings.most_words,
        )
        for corpus in corpora
    ]  # fmt: skip


def _source(
    corpora: Sequence[Sequence[Sentence]], encoder: AnyEncoder, opened: WordEncoder, settings: Settings
) -> tuple[Source | None, str]:
    """Return what baselines learn from, and a hash of it."""
    if not corpora:
        return None, ""
    is_plain = isinstance(encoder, str | os.PathLike) and settings.layers in (-1, [-1], (-1,))
    hashes = {str(i): digest(corpus) for i, corpus in enumerate(corpora)}
    return Source(corpora, encoder if is_plain else opened), key_of(hashes)


def _folders(encoders: Mapping[str, AnyEncoder]) -> dict[str, PathLike]:
    return {name: encoder for name, encoder in encoders.items() if isinstance(encoder, str | os.PathLike)}


def open_stored(encoder: AnyEncoder, settings: Settings) -> WordEncoder:
    """Load an encoder that keeps features on disk; one that is an object is taken as it is."""
    if isinstance(encoder, str | os.PathLike):
        return StoredEncoder(load(encoder, layers=settings.layers, threads=settings.threads))
    return encoder


def _check_groups(corpus: Corpus, groups: Groups) -> None:
    known = set(types_in(corpus.train + corpus.dev + corpus.test))
    for name, types in groups.items():
        if missing := [one for one in types if one not in known]:
            raise DataError(
                f"{corpus.name} has no {', '.join(missing)}, which group {name} names; its types are "
                f"{', '.join(sorted(known))}"
            )


def hidden_note(name: str, types: Sequence[str], encoder: AnyEncoder) -> str:
    """Say so where nothing shows that an encoder has not seen a group's labels."""
    hidden: set[str] = set()
    if isinstance(encoder, str | os.PathLike):
        folder = EMBEDDED.get(str(encoder), Path(encoder))
        for card in _CARDS:
            try:
                hidden |= set(json.loads((folder / card).read_text(encoding="utf-8"))["recipe"]["hide"])
            except (OSError, ValueError, KeyError, TypeError):
                continue
    seen = [one for one in types if one not in hidden]
    if not seen:
        return ""
    return (
        f"group {name}: nothing shows that the encoder {_name(encoder)} was trained with {', '.join(seen)} hidden; if "
        "it was not, this is no tag-set extension"
    )


def _name(encoder: AnyEncoder) -> str:
    if isinstance(encoder, str | os.PathLike):
        return str(encoder)
    return str(getattr(encoder, "name", "") or type(encoder).__name__)
