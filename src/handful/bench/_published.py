"""Published figures, which can be printed beside ours; none of them was measured here.

The paper's are those of its Tables 1 to 4: Hammal, Uthayasooriyar and Corro, "Few-Shot Domain Adaptation for
Named-Entity Recognition via Joint Constrained k-Means and Subspace Selection". Its encoder is BERT-base (cased) trained
on OntoNotes 5. Lines marked † it takes from Das et al. (2022), "CONTaiNER: Few-Shot Named Entity Recognition via
Contrastive Learning".
"""

from collections.abc import Mapping, Sequence

from ._board import Figure, Line, Place

__all__ = ["published_lines", "sources"]

_PAPER, _OTHER, _NO_LABELS, _WITH_NAMES = (
    "Published, paper",
    "Published, other settings",
    "Published, no labels",
    "Published, labels and names of types",
)
_AS_PUBLISHED = "as published; other splits and versions of a corpus may apply"

#: Where the lines of a section come from.
_SOURCES = {
    _PAPER: "published, paper: Hammal, Uthayasooriyar and Corro, “Few-Shot Domain Adaptation for Named-Entity "
    "Recognition via Joint Constrained k-Means and Subspace Selection”, Tables 1 to 4; BERT-base trained on OntoNotes "
    "5; † as it quotes Das et al. (2022), CONTaiNER, on other supports in tag-set extension",
    _OTHER: "published, other settings: BERTweet, trained on all labels of WNUT17's training split; as its authors "
    "give it",
    _NO_LABELS: "published, no labels: GLiNER-L (300M) as its authors give it; gliner-bi-base-v2 (194M) and "
    "gliner_small-v2.5 from “The Million-Label NER: Breaking Scale Barriers with GLiNER bi-encoder” (arXiv "
    f"2602.18487), Tables 2 and 3; {_AS_PUBLISHED}",
    _WITH_NAMES: "published, labels and names of types: Ma, Ballesteros, Doss, Anubhai, Mallya, Al-Onaizan and Roth, "
    f"“Label Semantics for Few Shot Named Entity Recognition” (Findings of ACL 2022); {_AS_PUBLISHED}",
}
_BTC_NOTE = (
    "published figures on BTC: here an @ and the user name after it are one mention; how the source counts them is not "
    "known"
)

_Cell = tuple[float, float]

# Each line: for every column of its table the mean and standard deviation at 1 shot, then at 5 shots.
_TRANSFER_COLUMNS = ("conll", "wnut17")
_TRANSFER: dict[str, dict[str, tuple[_Cell, _Cell, _Cell, _Cell]]] = {
    "quoted": {
        "Proto †": ((49.9, 8.6), (17.4, 4.9), (61.3, 9.1), (22.8, 4.5)),
        "NNShot †": ((61.2, 10.4), (22.7, 7.4), (74.1, 2.3), (27.3, 5.4)),
        "StructShot †": ((62.4, 10.5), (24.2, 8.0), (74.8, 2.4), (30.4, 6.5)),
        "CONTaiNER †": ((57.8, 10.7), (24.2, 2.9), (72.8, 2.0), (27.7, 2.2)),
        "CONTaiNER + Viterbi †": ((61.2, 10.7), (27.5, 1.9), (75.8, 2.7), (32.5, 3.8)),
    },
    "all": {
        "hard, r_O = NA": ((65.4, 12.0), (20.9, 8.2), (75.7, 2.1), (26.5, 5.3)),
        "hard, r_O = 0.80, 0.90": ((62.6, 10.6), (23.6, 7.1), (71.9, 3.0), (29.3, 3.1)),
        "hard, r_O = 0.85, 0.95": ((66.4, 13.1), (28.9, 9.4), (75.8, 2.6), (39.0, 3.6)),
        "soft, r_O = NA": ((65.4, 12.0), (20.8, 8.1), (75.7, 2.1), (26.5, 5.3)),
        "soft, r_O = 0.80, 0.90": ((65.6, 12.5), (26.6, 8.7), (75.5, 2.5), (35.7, 3.5)),
        "soft, r_O = 0.85, 0.95": ((65.6, 12.5), (26.8, 8.8), (75.4, 2.5), (35.8, 3.5)),
    },
    "dev": {
        "hard, r_O = NA": ((65.6, 11.1), (22.3, 9.6), (75.1, 2.5), (28.6, 5.3)),
        "hard, r_O = 0.80, 0.90": ((63.1, 10.4), (20.9, 6.3), (71.2, 3.0), (26.6, 2.5)),
        "hard, r_O = 0.85, 0.95": ((65.9, 12.7), (28.1, 8.5), (75.7, 2.3), (38.4, 3.5)),
        "soft, r_O = NA": ((65.5, 11.1), (22.2, 9.5), (75.1, 2.5), (28.5, 5.2)),
        "soft, r_O = 0.80, 0.90": ((66.3, 11.4), (25.4, 8.4), (75.1, 2.3), (35.8, 4.0)),
        "soft, r_O = 0.85, 0.95": ((66.3, 11.5), (25.5, 8.7), (75.1, 2.3), (36.0, 4.1)),
    },
    "none": {"one iteration": ((63.8, 8.7), (21.0, 10.4), (73.5, 3.7), (32.3, 4.3))},
    "nosubspace": {
        "hard without subspace, r_O = NA": ((64.0, 14.5), (21.7, 7.4), (72.9, 2.9), (22.1, 4.9)),
        "hard without subspace, r_O = 0.80, 0.90": ((60.6, 14.4), (25.9, 6.4), (70.5, 4.8), (29.3, 5.0)),
        "hard without subspace, r_O = 0.85, 0.95": ((65.2, 14.7), (28.2, 9.1), (72.5, 3.2), (38.3, 2.3)),
    },
}

_EXTENSION_COLUMNS = ("A", "B", "C")
_EXTENSION: dict[str, tuple[_Cell, _Cell, _Cell, _Cell, _Cell, _Cell]] = {
    "Proto †": ((19.3, 3.9), (22.7, 8.9), (18.9, 7.9), (30.5, 3.5), (38.7, 5.6), (41.1, 3.3)),
    "NNShot †": ((28.5, 9.2), (27.3, 12.3), (21.4, 9.7), (44.0, 2.1), (51.6, 5.9), (47.6, 2.8)),
    "StructShot †": ((30.5, 12.3), (28.8, 11.2), (20.8, 9.9), (47.5, 4.0), (53.0, 7.9), (48.7, 2.7)),
    "CONTaiNER †": ((32.2, 5.3), (30.9, 11.6), (32.9, 12.7), (51.2, 5.9), (55.9, 6.2), (61.5, 2.7)),
    "CONTaiNER + Viterbi †": ((32.4, 5.1), (30.9, 11.6), (33.0, 12.8), (51.2, 6.0), (56.0, 6.2), (61.5, 2.7)),
    "NNShot": ((23.9, 10.0), (28.2, 8.1), (23.0, 8.5), (37.9, 6.1), (50.6, 6.6), (38.8, 3.5)),
    "StructShot": ((24.6, 10.2), (28.2, 8.0), (23.4, 8.6), (40.2, 6.0), (50.9, 6.8), (41.5, 4.1)),
    "hard, r_O = NA": ((39.5, 11.6), (60.3, 7.8), (46.6, 10.5), (36.4, 10.3), (70.1, 4.4), (57.6, 6.2)),
    "hard, r_O = 0.95, 0.96, 0.93": ((43.5, 12.8), (60.6, 6.4), (45.1, 11.3), (54.5, 13.8), (69.2, 7.8), (60.1, 6.3)),
    "soft, r_O = NA": ((39.4, 11.6), (60.3, 7.8), (46.5, 10.6), (35.9, 10.5), (70.0, 4.4), (57.6, 6.2)),
    "soft, r_O = 0.95, 0.96, 0.93": ((40.1, 11.7), (57.7, 13.5), (47.1, 11.5), (47.1, 10.7), (72.3, 5.4), (63.5, 5.9)),
}

# What people would use otherwise; these figures do not depend on the shots.
_OTHERS: dict[str, dict[str, float]] = {"BERTweet, all training labels": {"wnut17": 56.5}}
_ZERO_SHOT: dict[str, dict[str, float]] = {
    "GLiNER-L, no labels": {"bc5cdr": 68.7, "ncbi": 65.3},
    "gliner-bi-base-v2, no labels": {
        "conll": 65.6, "btc": 72.1, "bc5cdr": 73.0, "ncbi": 65.2, "mitmovie": 46.2, "mitrestaurant": 40.3,
    },
    "gliner_small-v2.5, no labels": {
        "conll": 65.4, "btc": 65.0, "bc5cdr": 65.9, "ncbi": 64.2, "mitmovie": 50.3, "mitrestaurant": 39.8,
    },
}  # fmt: skip

# By corpus, at 1 shot and at 5 shots.
_LABEL_SEMANTICS: dict[str, tuple[float, float]] = {"conll": (68.4, 76.6), "wnut17": (38.3, 40.8), "ncbi": (30.7, 34.9)}

_TEXTS = {"dev": ", unlabelled dev only", "none": ", support only"}


def published_lines(
    protocol: str, targets: Sequence[str], texts: Sequence[str] = ("all",), shots: Sequence[int] = (1, 5)
) -> list[Line]:
    """Return the published lines that have a figure for one of these targets.

    A target whose name begins with that of a published corpus, such as mit_movie, is taken for it; those of extension
    are the paper's OntoNotes groups. Figures without labels are at 0 shots; where the table does not have these, at all
    shots.
    """
    found = []
    if protocol == "extension":
        for label, cells in _EXTENSION.items():
            found.append(_line(label, _EXTENSION_COLUMNS, cells, targets))
    else:
        parts = ["quoted", *[text for text in texts if text in _TRANSFER]]
        parts += ["nosubspace"] if protocol == "ablation" else []
        for part in parts:
            for label, four in _TRANSFER[part].items():
                found.append(_line(label + _TEXTS.get(part, ""), _TRANSFER_COLUMNS, four, targets))
        by_shots = {n: {name: pair[i] for name, pair in _LABEL_SEMANTICS.items()} for i, n in enumerate((1, 5))}
        found.append(Line(_WITH_NAMES, "label semantics", figures=_figures(by_shots, targets)))
        for label, figures in _ZERO_SHOT.items():
            columns = [0] if 0 in shots else shots
            found.append(Line(_NO_LABELS, label, figures=_figures(dict.fromkeys(columns, figures), targets)))
        for label, figures in _OTHERS.items():
            columns = [n for n in shots if n > 0]
            found.append(Line(_OTHER, label, figures=_figures(dict.fromkeys(columns, figures), targets)))
    return [line for line in found if line.figures]


def sources(lines: Sequence[Line]) -> list[str]:
    """Return where published lines come from, and what is known to differ."""
    sections = dict.fromkeys(line.section for line in lines)
    notes = [_SOURCES[section] for section in sections]
    is_on_btc = any(_is(target, "btc") for line in lines for _, target in line.figures)
    return notes + ([_BTC_NOTE] if is_on_btc else [])


def _figures(by_shots: Mapping[int, Mapping[str, float]], targets: Sequence[str]) -> dict[Place, Figure]:
    return {
        (shots, target): Figure(mean)
        for shots, figures in by_shots.items()
        for name, mean in figures.items()
        for target in targets
        if _is(target, name)
    }


def _line(label: str, columns: Sequence[str], cells: Sequence[_Cell], targets: Sequence[str]) -> Line:
    places = [(shots, name) for shots in (1, 5) for name in columns]
    figures = {
        (shots, target): Figure(mean, std)
        for (shots, name), (mean, std) in zip(places, cells, strict=True)
        for target in targets
        if (target == name if len(name) == 1 else _is(target, name))
    }
    return Line(_PAPER, label, figures=figures)


def _is(target: str, name: str) -> bool:
    return target.lower().replace("_", "").replace("-", "").startswith(name)
