r"""Mentions marked in a text, as people type them: ``[Ekeus](PER) heads for [Baghdad](LOC)``.

A label may be a partial one: ``[Baghdad](LOC|ORG)``, ``[heads](_)``. One with white space or brackets in it is in
double quotes, as JSON writes a string: ``[slugs]("GARDEN PEST")``. Mentions may lie inside others:
``[University of [Oslo](GPE)](ORG)``. A backslash before ``[``, ``]`` or ``\`` makes it an ordinary character. Round
brackets with ``://`` in them belong to a link, which stays in the text as it is. Text that is nearly a mark, such as
``[Ekeus] (PER)`` or ``[Ekeus](PER``, is an error.
"""

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable

from handful.errors import DataError, shorten

from ._labels import Mark

# Characters that a name goes on with: vowel signs and the like stand behind letters in many scripts, and are none.
_GOES_ON = r"\w\-\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u109f\u1780-\u17d3\u200c\u200d"
_INNER = r"(?:\\[\[\]\\]|\\(?![\[\]\\])|[^\[\]\\])"
_QUOTED = r'"(?:[^"\\\n]|\\.)+"'
_MARKUP = re.compile(
    r"\\([\[\]\\])"  # an escape
    rf"|\[({_INNER}+)\]\(({_QUOTED}|(?:(?!://)[^()\s])+)\)"  # a mark
    rf"|(?P<near>\[(?P<words>{_INNER}*)\](?P<gap>\s*)\((?![^()]*://)(?P<label>[^()\[\]]*)(?P<close>\))?)"
    r"|(?P<stray>\]\()(?![^()]*://)"
)
_AROUND = re.compile(rf"\]\(({_QUOTED}|(?:(?!://)[^()\s])+)\)")  # the end of a mention around others
_REVERSED = re.compile(rf"\((?P<words>[^()\[\]]+)\)\[(?P<label>[^\W\d][{_GOES_ON}]*)\]")
_ESCAPE = re.compile(r"\\([\[\]\\])")
_LABEL = re.compile(r'[^()\s"][^()\s]*')
HEAD_LINE = re.compile(rf"#[ \t]+(?P<name>{_QUOTED}|[^()\s]+?)[ \t]*:[ \t]+(?P<description>\S.*)")
_NAME = re.compile(rf"!?[^\W\d][{_GOES_ON}]*(?:\|[^\W\d][{_GOES_ON}]*)*")
# what is hardly anything else
MARK = re.compile(rf"\[[^\[\]\n]+\]\((?:{_QUOTED}|!?\w[{_GOES_ON}:&]*(?:\|\w[{_GOES_ON}:&]*)*)\)")


def parse_marks(line: str) -> tuple[str, list[Mark]]:
    """Take the markup out of a line: return the text, and the marks as character positions and labels."""
    pieces: list[str] = []
    marks: list[Mark] = []
    length = position = n_escaped = 0
    opened: list[int] = []  # brackets in the text so far, which may begin a mention around others
    begins: list[int] = []  # those that do
    for match in _MARKUP.finditer(line):
        before = line[position : match.start()]
        opened += [length + i for i, character in enumerate(before) if character == "["]
        escaped, inner, label = match.groups()[:3]
        if match["near"] is not None:
            raise DataError(_near(match))
        if match["stray"] is not None:
            around = _AROUND.match(line, match.start())
            if around and opened and any(mark.start > opened[-1] for mark in marks):
                pieces.append(before)
                length += len(before)
                begins.append(opened.pop())
                marks.append(Mark(begins[-1], length, unquoted(around[1])))
                position = around.end()
                continue
            if not n_escaped:
                raise DataError(
                    f"{shorten(line[match.start() :], 30)!r} ends a mark that does not begin, or has brackets in it; "
                    r"write \[ and \] for brackets in the text"
                )
            n_escaped -= 1
            continue
        n_escaped += escaped == "["
        inside = escaped if escaped is not None else _ESCAPE.sub(r"\1", inner)
        pieces += [before, inside]
        length += len(before)
        if escaped is None:
            marks.append(Mark(length, length + len(inside), unquoted(label)))
        length += len(inside)
        position = match.end()
    pieces.append(line[position:])
    text = "".join(pieces)
    if begins:  # their brackets are no part of the text
        begins.sort()
        text = "".join(character for i, character in enumerate(text) if i not in begins)
        places = ((mark, bisect_left(begins, mark.start), bisect_left(begins, mark.end)) for mark in marks)
        marks = [mark._replace(start=mark.start - a, end=mark.end - b) for mark, a, b in places]
    return text, marks


def unquoted(label: str) -> str:
    """Return a label without its quotes."""
    if not label.startswith('"'):
        return label
    try:
        return str(json.loads(label))
    except ValueError:
        raise DataError(f"{shorten(label)} is not a type in double quotes") from None


def quoted(label: str) -> str:
    """Return a label as it is written, in quotes if need be."""
    is_plain = _LABEL.fullmatch(label) is not None and "://" not in label
    return label if is_plain else json.dumps(label, ensure_ascii=False)


def find_slip(lines: list[str]) -> tuple[int, str] | None:
    """Find out whether lines without a mark have marks that all have a slip: return the first line, and what is wrong.

    Brackets with a space between them, or in the wrong order, are slips if half of the lines have them, or if a type is
    there twice or in capitals: a text may have such brackets, too.
    """
    # line, place in it, what is wrong, and its type if it may be none
    found: list[tuple[int, int, str, str | None]] = []
    for number, line in enumerate(lines, 1):
        for match in _MARKUP.finditer(line):
            if match["near"] is None:
                continue
            words, label = match["words"].strip(), match["label"].strip()
            if not match["gap"]:
                found.append((number, match.start(), _near(match), None))
            elif match["close"] and _NAME.fullmatch(label) and not words.isdecimal():
                found.append((number, match.start(), _near(match), label))
        for match in _REVERSED.finditer(line):
            right = shorten(f"[{match['words']}]({match['label']})")
            fault = f"{shorten(match[0])!r} has its brackets in the wrong order; write {right}"
            found.append((number, match.start(), fault, match["label"]))
    labels = Counter(label for *_, label in found if label is not None)
    n_lines = len({number for number, _, _, label in found if label is not None})
    is_likely = 2 * n_lines >= sum(bool(line.strip()) for line in lines) or (
        labels.total() > 1 and any(n > 1 or label.isupper() for label, n in labels.items())
    )
    slips = sorted((number, place, fault) for number, place, fault, label in found if label is None or is_likely)
    return (slips[0][0], slips[0][2]) if slips else None


def _near(match: re.Match[str]) -> str:
    """Return what is wrong with what is nearly a mark, and what to write instead."""
    words, label = match["words"].strip(), "_".join(match["label"].split())
    if match.string.startswith("(", match.end()):
        fault = "has a round bracket in its type"
    elif not match["close"]:
        label = label.partition("_")[0]
        fault = "has no closing round bracket after its type"
    elif not label:
        fault = "has no type"
    elif not words:
        fault = "has no words"
    elif match["gap"]:
        fault = "has white space between its brackets"
    else:
        fault = "has white space in its type"
    right = shorten(f"[{words or 'words'}]({label or 'TYPE'})")
    if fault == "has white space in its type":
        right += f" (or {shorten(marked_up(words, [Mark(0, len(words), ' '.join(match['label'].split()))]))})"
    return (
        f"{shorten(match['near'])!r} {fault}; write {right} to mark a mention, or \\[ for a bracket that is part of "
        "the text"
    )


def marked_up(text: str, marks: Iterable[Mark]) -> str:
    """Return a text of one line with its mentions marked."""
    pieces, position = list[str](), 0
    around: list[Mark] = []

    def go_to(place: int) -> None:
        """Write the text up to a place, and close the mentions that end before it."""
        nonlocal position
        while around and around[-1].end <= place:
            mark = around.pop()
            pieces.append(f"{_escape(text[position : mark.end])}]({quoted(mark.label)})")
            position = mark.end
        pieces.append(_escape(text[position:place]))
        position = place

    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        go_to(mark.start)
        if around and mark.end > around[-1].end:
            one, other = (repr(shorten(text[some.start : some.end])) for some in (around[-1], mark))
            raise DataError(
                f"the mentions {one} ({around[-1].label}) and {other} ({mark.label}) share words, and neither lies "
                "inside the other: brackets cannot show that; write another format, such as jsonl"
            )
        pieces.append("[")
        around.append(mark)
    go_to(len(text))
    return "".join(pieces)


def _escape(text: str) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", text)
