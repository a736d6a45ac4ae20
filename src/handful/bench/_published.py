"""Published figures, which can be printed beside ours; none of them was measured here.

The paper's are those of its Tables 1 to 4: Hammal, Uthayasooriyar and Corro, "Few-Shot Domain Adaptation for
Named-Entity Recognition via Joint Constrained k-Means and Subspace Selection". Its encoder is BERT-base (cased) trained
on OntoNotes 5. Lines marked † it takes from Das et al. (2022), "CONTaiNER: Few-Shot Named Entity Recognition via
Contrastive Learning".
"""

from collections.abc import Sequence

from ._board import Figure, Line

__all__ = ["SOURCES", "published_lines"]

SOURCES = [
    "published, paper: Hammal, Uthayasooriyar and Corro, “Few-Shot Domain Adaptation for Named-Entity Recognition via "
    "Joint Constrained k-Means and Subspace Selection”, Tables 1 to 4; BERT-base trained on OntoNotes 5; † as it "
    "quotes Das et al. (2022), CONTaiNER, on other supports in tag-set extension",
    "published, other settings: GLiNER-L (300M), no labels at all; BERTweet, trained on all labels of WNUT17's "
    "training split; both as their authors give them",
]

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
_OTHERS: dict[str, dict[str, float]] = {
    "GLiNER-L, no labels": {"bc5cdr": 68.7, "ncbi": 65.3},
    "BERTweet, all training labels": {"wnut17": 56.5},
}

_TEXTS = {"dev": ", unlabelled dev only", "none": ", support only"}


def published_lines(protocol: str, targets: Sequence[str], texts: Sequence[str] = ("all",)) -> list[Line]:
    """Return the published lines that have a figure for one of these targets.

    Parameters
    ----------
    protocol
        transfer, extension (whose targets are the paper's OntoNotes groups) or ablation.
    targets
        Their names. A name that begins with conll, wnut17, bc5cdr or ncbi is taken for that corpus.
    texts
        Which unlabelled texts were run.
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
        for label, figures in _OTHERS.items():
            places = {
                (shots, target): Figure(mean)
                for name, mean in figures.items()
                for target in targets
                if _is(target, name)
                for shots in (1, 5)
            }
            found.append(Line("Published, other settings", label, figures=places))
    return [line for line in found if line.figures]


def _line(label: str, columns: Sequence[str], cells: Sequence[_Cell], targets: Sequence[str]) -> Line:
    places = [(shots, name) for shots in (1, 5) for name in columns]
    figures = {
        (shots, target): Figure(mean, std)
        for (shots, name), (mean, std) in zip(places, cells, strict=True)
        for target in targets
        if (target == name if len(name) == 1 else _is(target, name))
    }
    return Line("Published, paper", label, figures=figures)


def _is(target: str, name: str) -> bool:
    return target.lower().replace("_", "").replace("-", "").startswith(name)
