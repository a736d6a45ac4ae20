"""The protocols: domain transfer, tag-set extension, and the paper's ablations."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from handful._util.files import PathLike, check_into
from handful._util.progress import Progress
from handful.baselines import Source
from handful.encoders import CachedEncoder, Encoder, load
from handful.encoders.opened import AnyEncoder, check_encoder, open_encoder
from handful.encoders.shipped import folder_of
from handful.errors import Advice, DataError, number_of
from handful.text import Sentence, types_in
from handful.training.corpora import read_corpora
from handful.training.paths import find_paths

from ._board import MANY, make_board
from ._differences import differences
from ._environment import environment
from ._methods import Variant, variants
from ._plots import draw
from ._published import published_lines, sources
from ._report import Report, write_report
from ._results import Results, key_of
from ._runs import Bench, OnRun
from ._targets import Target, digest, read_supports, read_target
from ._tasks import Task, make_task
from .settings import ABLATION_O_RATIOS, DEFAULT_ABLATIONS, GROUPS, Groups, Settings

#: The ablations by name: methods, ratios (None for those of the settings) and unlabelled texts.
ABLATIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...] | None, tuple[str, ...]]] = {
    "unlabelled": (("hard", "soft"), None, ("all", "dev", "none")),
    "subspace": (("hard", "hard-nosubspace"), None, ("all",)),
    "ratio": (("hard", "soft"), ("none", "0.8", "0.85", "0.9", "0.925", "0.95", "0.975", "0.99"), ("all",)),
    "amount": (("hard", "handful"), None, ("none", "1000", "3000", "10000", "30000", "100000", "all")),
    "names": (("handful", "handful-nonames", "names"), ("auto",), ("all", "none")),
}
_CARDS = ("handful.json", "training.json")


def transfer(
    targets: Sequence[PathLike],
    *,
    report: PathLike,
    encoder: AnyEncoder = "handful-en",
    source: Sequence[PathLike] = (),
    settings: Settings | None = None,
    on_run: OnRun | None = None,
    progress: Progress = None,
) -> Report:
    """Compare methods on corpora that the encoder never saw.

    Parameters
    ----------
    targets
        Each is a folder, or ``NAME=`` and a folder, with train, dev (which may be missing) and test: files or folders
        of files with these words as a part of their names. Supports, if any, are in ``supports/1shot`` and so on;
        ``types.txt`` says what the types mean. When dev is scored on, a target may also be one labelled file.
    report
        The folder to write. Runs that are finished there are not repeated.
    encoder
        A name or path, as for `handful.encoders.load`; or an object with ``dim``, ``fingerprint`` and ``encode``.
    source
        Labelled corpora that baselines may learn from, as `handful.training.pretrain` takes them.
    settings
        Everything else; ``Settings()`` if None.
    on_run
        Called before each run, with the number of runs done, the number of all runs, and what is run now.
    progress
        The progress of encoding, as for `handful.encoders.Encoder.encode`.
    """
    settings = settings or Settings()
    _check_first(report, [encoder], source)
    chosen = variants(settings.methods, settings.o_ratios, settings.texts)
    bench = _transfer_bench("transfer", targets, chosen, encoder, source, settings)
    title = f"Domain transfer, scored on {settings.on}, {_name(encoder)}"
    return _run(bench, Path(report), title, settings, [], on_run, progress)


def ablation(
    targets: Sequence[PathLike],
    which: Sequence[str] = DEFAULT_ABLATIONS,
    *,
    report: PathLike,
    encoder: AnyEncoder = "handful-en",
    settings: Settings | None = None,
    on_run: OnRun | None = None,
    progress: Progress = None,
) -> Report:
    """Run our own methods with parts of them changed or left out.

    Parameters
    ----------
    targets, report, encoder, settings, on_run, progress
        As for `transfer`; the methods and texts are those of each ablation.
    which
        Some of `ABLATIONS`: unlabelled (text: all, dev only, none), subspace (with, without), ratio (a range of
        ratios), amount (of unlabelled text, in words), names (of types: read or not, each with and without text).
    """
    settings = settings or Settings(o_ratios=ABLATION_O_RATIOS)
    if not which or set(which) - set(ABLATIONS):
        raise DataError(f"which is {list(which)!r}, expected some of {', '.join(ABLATIONS)}")
    _check_first(report, [encoder])
    found: list[Variant] = []
    for name in which:
        methods, ratios, texts = ABLATIONS[name]
        found += variants(methods, ratios or settings.o_ratios, texts)
    bench = _transfer_bench("ablation", targets, list(dict.fromkeys(found)), encoder, (), settings)
    title = f"Ablation ({', '.join(which)}), scored on {settings.on}, {_name(encoder)}"
    return _run(bench, Path(report), title, settings, [], on_run, progress)


def extension(
    corpus: PathLike,
    groups: Groups,
    *,
    report: PathLike,
    encoders: AnyEncoder | Mapping[str, AnyEncoder],
    settings: Settings | None = None,
    on_run: OnRun | None = None,
    progress: Progress = None,
) -> Report:
    """Compare methods on groups of types of one corpus, each with an encoder that has not seen the group's labels.

    Parameters
    ----------
    corpus
        A folder, as for `transfer`. Its supports are not used: for each group they are drawn from dev (train where
        there is none), and all other types become O.
    groups
        Types by group; see `parse_groups`.
    encoders
        For each group, an encoder that was trained with the types of the group hidden (`Recipe.hide`); or one for all.
    report, settings, on_run, progress
        As for `transfer`. Supports, if given, are in folders named after the groups.

    Notes
    -----
    Baselines that learn from a source get the training split, in which the types of the group become O.
    """
    settings = settings or Settings()
    _check_first(report, list(encoders.values()) if isinstance(encoders, Mapping) else [encoders])
    (whole,) = _read([corpus], settings)
    _check_groups(whole, groups)
    others = {name: [one for one in types_in(whole.train) if one not in types] for name, types in groups.items()}
    chosen = variants(settings.methods, settings.o_ratios, settings.texts)
    by_group = dict(encoders) if isinstance(encoders, Mapping) else dict.fromkeys(groups, encoders)
    if by_group.keys() != groups.keys():
        raise DataError(f"encoders are given for {', '.join(by_group)}, but the groups are {', '.join(groups)}")
    tasks = _tasks([whole.only(name, types) for name, types in groups.items()], settings)
    opened = {name: open_cached(encoder, settings) for name, encoder in by_group.items()}
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
    return _run(bench, Path(report), title, settings, notes, on_run, progress)


def _check_first(report: PathLike, encoders: Sequence[AnyEncoder], source: Sequence[PathLike] = ()) -> None:
    """Refuse what cannot come to an end, before anything is read."""
    check_into(report)
    for encoder in encoders:
        if isinstance(encoder, str | os.PathLike):
            check_encoder(encoder)
    if source:
        find_paths(source)


def _transfer_bench(
    protocol: str,
    targets: Sequence[PathLike],
    chosen: Sequence[Variant],
    encoder: AnyEncoder,
    source: Sequence[PathLike],
    settings: Settings,
) -> Bench:
    tasks = _tasks(_read(targets, settings), settings)
    opened = open_cached(encoder, settings)
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
    on_run: OnRun | None,
    progress: Progress,
) -> Report:
    results = Results(folder)
    rows = bench.run(results, on_run, progress)
    targets = [task.name for task in bench.tasks]
    if not rows:
        raise DataError("there is nothing to run: without labels, a method must read the names of types")
    shots = list(dict.fromkeys(settings.shots))
    board = make_board(rows, bench.variants, shots, targets)
    if not any(line.figures for line in board.lines):
        raise DataError(f"no run succeeded; the first failure: {rows[0]['error']}")
    found = differences(board, settings.seed)
    notes = notes + _notes(bench.tasks) + board.notes
    if settings.published:
        texts = sorted({one.text for one in bench.variants})
        published = published_lines(bench.protocol, targets, texts, shots)
        board.lines += published
        notes += sources(published) + (
            ["published figures are on test, the others here are not"] if bench.on == "dev" else []
        )
    options = settings.to_dict() | {"protocol": bench.protocol, "targets": targets}
    report = Report(title, folder, board, found, rows, environment(settings.command, options), notes=notes)
    if settings.plots:
        report.plots = draw(report)
    write_report(report)
    return report


def _notes(tasks: Sequence[Task]) -> list[str]:
    """Return the notes of all tasks; with many tasks, those on too few mentions become one for each of the shots."""
    if len(tasks) <= MANY:
        return [note for task in tasks for note in task.notes]
    notes = [note for task in tasks for note in task.notes if note not in task.scarce.values()]
    for shots in sorted({n for task in tasks for n in task.scarce}):
        left_out = [task.name for task in tasks if shots in task.scarce]
        notes.append(
            f"{number_of(shots, 'shot')}: {len(left_out)} of {len(tasks)} targets have too few mentions and are not in "
            f"the mean: {', '.join(left_out)}"
        )
    return notes


def _read(targets: Sequence[PathLike], settings: Settings) -> list[Target]:
    if settings.types is not None and len(targets) > 1:
        where = "put types.txt into the folder of each target"
        raise DataError(
            f"types are given in one file, but there are {len(targets)} targets",
            Advice(f"leave out types=, and {where}", f"leave out types in --recipe, and {where}"),
        )
    return [read_target(one, types=settings.types, **settings.reading()) for one in targets]


def _tasks(targets: Sequence[Target], settings: Settings) -> list[Task]:
    names = [target.name for target in targets]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DataError(f"two targets are called {', '.join(twice)}; name them, as NAME=FOLDER")
    if not targets:
        raise DataError("no target is named; give a folder with train, dev and test files, or a labelled file")
    if settings.supports is not None:
        place = Path(settings.supports)
        targets = [
            replace(
                target, supports=read_supports(place if len(names) == 1 else place / target.name, **settings.reading())
            )
            for target in targets
        ]
    return [make_task(target, settings) for target in targets]


def _source(
    corpora: Sequence[Sequence[Sentence]], encoder: AnyEncoder, opened: Encoder, settings: Settings
) -> tuple[Source | None, str]:
    """Return what baselines learn from, and a hash of it."""
    if not corpora:
        return None, ""
    is_plain = isinstance(encoder, str | os.PathLike) and settings.layers in ([-1], (-1,))
    hashes = {str(i): digest(corpus) for i, corpus in enumerate(corpora)}
    return Source(corpora, encoder if is_plain else opened), key_of(hashes)


def _folders(encoders: Mapping[str, AnyEncoder]) -> dict[str, PathLike]:
    return {name: encoder for name, encoder in encoders.items() if isinstance(encoder, str | os.PathLike)}


def open_cached(encoder: AnyEncoder, settings: Settings) -> Encoder:
    """Load an encoder by its name or path, with features cached on disk; an object is taken as it is."""
    if isinstance(encoder, str | os.PathLike):
        return CachedEncoder(load(encoder, layers=settings.layers, threads=settings.threads))
    return open_encoder(encoder)


def _check_groups(target: Target, groups: Groups) -> None:
    known = set(types_in(target.train + target.dev + target.test))
    for name, types in groups.items():
        if missing := [one for one in types if one not in known]:
            raise DataError(
                f"{target.name} has no {', '.join(missing)}, which group {name} names; its types are "
                f"{', '.join(sorted(known))}"
            )


def hidden_note(name: str, types: Sequence[str], encoder: AnyEncoder) -> str:
    """Return a note if nothing shows that an encoder has not seen the labels of a group; otherwise an empty string."""
    hidden: set[str] = set()
    if isinstance(encoder, str | os.PathLike):
        folder = folder_of(str(encoder)) or Path(encoder)
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
        "it was not, this is not tag-set extension"
    )


def _name(encoder: AnyEncoder) -> str:
    if isinstance(encoder, str | os.PathLike):
        return str(encoder)
    return open_encoder(encoder).name or type(encoder).__name__
