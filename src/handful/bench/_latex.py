"""Tables in LaTeX, in the paper's layout (package booktabs)."""

from itertools import groupby

from ._board import Board
from .tables import cell, columns, sections

__all__ = ["latex"]

_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_SPECIAL |= {character: "\\" + character for character in "&%$#_{}"}


def latex(board: Board, caption: str) -> str:
    """Return the table in LaTeX."""
    wanted = columns(board)
    heads, rules, first = [], [], 2
    for shots, group in groupby(shots for shots, _ in wanted):
        n = len(list(group))
        heads.append(rf"\multicolumn{{{n}}}{{c}}{{\textbf{{{shots}-shot}}}}")
        rules.append(rf"\cmidrule(lr){{{first}-{first + n - 1}}}")
        first += n
    lines = [
        r"\begin{table*}",
        r"    \footnotesize",
        r"    \centering",
        rf"    \begin{{tabular}}{{l{'c' * len(wanted)}}}",
        r"        \toprule",
        rf"        \textbf{{Model}} & {' & '.join(heads)} \\",
        f"        {' '.join(rules)}",
        rf"        & {' & '.join(_bold(name) for _, name in wanted)} \\",
    ]
    for title, group_lines in sections(board):
        lines += [
            r"        \midrule",
            rf"        \multicolumn{{{len(wanted) + 1}}}{{l}}{{{_bold(title)}}} \\",
            r"        \midrule",
        ]
        for line in group_lines:
            cells = [_cell(*cell(board, line, column)) for column in wanted]
            lines.append(rf"        {_label(line.label)} & {' & '.join(cells)} \\")
    lines += [
        r"        \bottomrule",
        r"    \end{tabular}",
        rf"    \caption{{{_escaped(caption)}}}",
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def _cell(text: str, is_best: bool) -> str:
    if text == "-":
        return "--"
    if "–" in text:  # a range
        return text.replace("–", "--")
    mean, _, std = text.partition(" ±")
    shown = rf"{mean} {{\scriptstyle \pm {std}}}" if std else mean
    return rf"$\mathbf{{{shown}}}$" if is_best else f"${shown}$"


def _bold(text: str) -> str:
    return rf"\textbf{{{_escaped(text)}}}"


def _label(label: str) -> str:
    return _escaped(label).replace(r"r\_O", r"$r_\textsc{O}$").replace("†", r"$\dagger$")


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in text)
