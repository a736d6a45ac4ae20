"""Write docs/api.md from the docstrings of public names, and the weights of docs/architecture.md from the code.

    python docs/make_api.py

A test compares both with what this would write.
"""

import ast
import inspect
import re
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any, is_typeddict

PAGE = Path(__file__).with_name("api.md")
ARCHITECTURE = Path(__file__).with_name("architecture.md")
WEIGHTS = re.compile(r"(?<=<!-- weights -->\n\n).*?(?=\n<!-- end of weights -->)", re.DOTALL)

#: Each kind of evidence, in a line.
EVIDENCE = {
    "names": "how well the meaning of a type fits the word ([names.md](names.md)); less where labels contradict it",
    "regression": "what the labelled words of a tag have in common",
    "nearest": "how like the word is to the nearest labelled word of the tag",
    "prototypes": "minus the squared distance to the nearest prototype of the tag; less where text is short",
}

#: The rooms, in the order of the page: what most people need comes first.
ROOMS = (
    "tagger", "text", "evaluate", "encoders", "encoders.cache", "cluster", "scale", "baselines", "bench", "training",
    "web", "workbench", "serve", "integrations", "examples", "errors",
)  # fmt: skip

HEAD = """# API reference

This page is made from the docstrings by `python docs/make_api.py`; do not edit it. [guide.md](guide.md) shows how to
use what is here, [architecture.md](architecture.md) how it fits together.
"""

_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_SHOWN = ("Parameters", "Attributes", "Returns", "Yields", "Raises")


def api() -> str:
    """Return the page."""
    rooms = {f"handful.{room}": import_module(f"handful.{room}") for room in ROOMS}
    top = import_module("handful")
    names = ", ".join(f"[`{name}`](#{_anchor(name)})" for name in top.__all__ if name[0] != "_")
    lines = [HEAD, f"`from handful import ...` gives {names}. The rooms have the rest:\n"]
    lines += [f"- [`{room}`](#{_anchor(room)}): {_summary(module)}" for room, module in rooms.items()]
    for room, module in rooms.items():
        lines += ["", f"## {room}", "", *_room(room, module)]
    return "\n".join(lines) + "\n"


def weights() -> str:
    """Return the table of weights: one row per kind of evidence, one column per method."""
    learning, evidence = import_module("handful.tagger._learning"), import_module("handful.tagger.evidence")
    ours, paper = learning.METHODS["handful"], learning.METHODS["paper"]
    methods = {"weight": ours.with_names, "without names": ours, 'in `method="paper"`': paper}
    lines = [f"| evidence | what it says of a word | {' | '.join(methods)} |", "|---|---|" + "---|" * len(methods)]
    for kind, said in EVIDENCE.items():
        found = [method.weights.get(kind) for method in methods.values()]
        shown = ["-" if one is None else str(Fraction(one).limit_denominator(1000)) for one in found]
        lines.append(f"| `{evidence.EVIDENCE[kind].__name__}` | {said} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def _room(room: str, module: ModuleType) -> list[str]:
    lines = [_summary(module)]
    others = []
    for name in module.__all__:
        found = getattr(module, name)
        home = getattr(found, "__module__", room).rpartition("._")[0] or room
        if home != room and home.removeprefix("handful.") in ROOMS:  # described where it is at home
            others.append(f"[`{name}`](#{_anchor(name)})")
        elif inspect.isclass(found):
            lines += _class(name, found)
        elif inspect.isfunction(found):
            lines += _function(name, name, found, level=3)
        else:
            others.append(f"`{name}`")
    return [*lines, "", f"Also: {', '.join(others)}."] if others else lines


def _class(name: str, cls: type) -> list[str]:
    lines = ["", f"### {name}", ""]
    is_called = not is_typeddict(cls) and not getattr(cls, "_is_protocol", False)
    if is_called and (signature := _signature(cls)) != "()":
        lines += ["```text", f"{name}{signature}", "```", ""]
    lines += _docstring(cls)
    if entries := _fields(cls):
        lines += ["", "Attributes:", "", *entries]
    own: dict[str, Any] = {}
    inherited: dict[str, str] = {}  # what another class on the page has, by its name
    owner = cls  # the class on the page under which what follows is described
    for base in cls.__mro__:
        if base.__module__.startswith("handful"):
            owner = base if base.__name__ in _public() else owner
            for one, value in vars(base).items():
                if one[0] != "_" and one not in own and one not in inherited:
                    if owner is cls:
                        own[one] = value
                    else:
                        inherited[one] = owner.__name__
    if properties := {one: value for one, value in own.items() if isinstance(value, property)}:
        lines += ["", "Properties:", "", *(f"- `{one}`: {_summary(value)}" for one, value in properties.items())]
    for base in dict.fromkeys(inherited.values()):
        shared = ", ".join(f"`{one}`" for one, where in inherited.items() if where == base)
        lines += ["", f"As in [{base}](#{_anchor(base)}): {shared}."]
    for one, value in own.items():
        bare = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if inspect.isfunction(bare):
            lines += _function(one, f"{name}.{one}", getattr(cls, one), level=4)
    return lines


@cache
def _public() -> set[str]:
    return {name for room in ROOMS for name in import_module(f"handful.{room}").__all__}


def _function(name: str, title: str, function: Any, level: int) -> list[str]:
    signature = _signature(function)
    return ["", f"{'#' * level} {title}", "", "```text", f"{name}{signature}", "```", "", *_docstring(function)]


def _signature(found: Any) -> str:
    """Return parameters with their defaults; what they are is in the docstring."""
    given = inspect.signature(found)
    plain = [one.replace(annotation=one.empty) for one in given.parameters.values() if one.name != "self"]
    return str(given.replace(parameters=plain, return_annotation=given.empty))


def _docstring(found: Any) -> list[str]:
    """Return the text of a docstring and its sections, without examples."""
    text = inspect.getdoc(found) or ""
    parts = _SECTION.split(text)
    lines = _paragraphs(parts[0])
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        if title in _SHOWN:
            lines += ["", f"{title}:", "", *_entries(body)]
    return lines


def _fields(cls: type) -> list[str]:
    """Return a list with an item for each field of a class, or for neighbours that one comment above is about."""
    source = dedent(inspect.getsource(cls))
    lines = source.splitlines()
    options = {one.name: one for one in fields(cls) if one.metadata} if is_dataclass(cls) else {}
    items: list[tuple[list[str], str]] = []
    is_open = False  # whether the comment above the field before is about this one, too
    for node in ast.parse(source).body[0].body:  # type: ignore[attr-defined]
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name) or node.target.id[0] == "_":
            is_open = False
            continue
        name, beside = node.target.id, lines[node.end_lineno - 1].partition("  # ")[2]  # type: ignore[operator]
        above = node.lineno - 1
        while lines[above - 1].lstrip().startswith("# "):
            above -= 1
        comment = " ".join(line.lstrip(" #") for line in lines[above : node.lineno - 1])
        option = options.get(name)
        said = (option and option.metadata.get("help")) or beside or comment
        if option and said:
            default = option.default_factory() if callable(option.default_factory) else option.default
            items.append(([name], f" (default {default!r}): {said}"))
        elif said:
            items.append(([name], f": {said}"))
        elif is_open:
            items[-1][0].append(name)
        is_open = not beside and (bool(comment) or is_open)
    return [_plain(f"- `{', '.join(names)}`{text}") for names, text in items]


def _entries(body: str) -> list[str]:
    """Return a list with an item for each entry: a line that is not indented, and the indented ones below it."""
    items: list[list[str]] = []
    for line in body.strip("\n").splitlines():
        if line and not line[0].isspace():
            items.append([line])
        elif items:
            items[-1].append(line.strip())
    lines = []
    for head, *rest in items:
        names, _, what = head.partition(" : ")
        text = " ".join(filter(None, rest))
        # a type, and text below it; a line that is full goes on below
        if text and (what.startswith("default") or (what and not text[0].islower() and len(head) < 80)):
            lines.append(_plain(f"- `{names}` ({what}): {text}"))
        else:
            said = " ".join(filter(None, (what, text)))
            lines.append(_plain(f"- `{names}`: {said}" if said else f"- `{names}`"))
    return lines


def _paragraphs(text: str) -> list[str]:
    lines: list[str] = []
    for block in re.split(r"\n\s*\n", text.strip()):
        if block.startswith("    "):
            lines += ["", "```text", *(line[4:] for line in block.splitlines()), "```"]
        else:
            lines += ["", _plain(re.sub(r" ?::$", ":", " ".join(block.split())))]
    return lines[1:]


def _plain(text: str) -> str:
    """Turn reStructuredText's marks for code into Markdown's."""
    return re.sub(r":\w+:`", "`", text.replace("``", "`"))


def _summary(found: Any) -> str:
    return _plain(" ".join((inspect.getdoc(found) or "").split("\n\n")[0].split()))


def _anchor(title: str) -> str:
    """Return the anchor that Markdown viewers give a title."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


if __name__ == "__main__":
    PAGE.write_text(api(), encoding="utf-8")
    text = ARCHITECTURE.read_text(encoding="utf-8")
    ARCHITECTURE.write_text(WEIGHTS.sub(lambda _: weights(), text), encoding="utf-8")
