"""`LabelConfig`: the labels and the text field of a labelling interface of Label Studio."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

from handful.errors import DataError
from handful.text import EntityType

LONGEST = 1 << 18  # characters


@dataclass(frozen=True)
class LabelConfig:
    """A ``Labels`` over a ``Text``."""

    from_name: str  # of the Labels
    to_name: str  # of the Text
    field: str  # the field of a task's data that holds the text
    types: tuple[EntityType, ...]  # the labels as results have them, with their hints as descriptions

    def text(self, task: Any) -> str:
        data = task.get("data") if isinstance(task, dict) else None
        if not isinstance(data, dict):
            raise DataError("a task has no data")
        text = data.get(self.field, data.get("$undefined$"))  # what was imported before there was an interface
        if not isinstance(text, str):
            raise DataError(f"task {task.get('id')}: its data has no text in the field {self.field!r}")
        return text


@lru_cache(maxsize=64)
def read_config(config: str) -> LabelConfig:
    """Read a labelling interface; the first ``Labels`` over a ``Text`` counts."""
    if len(config) > LONGEST or "<!DOCTYPE" in config:  # no entity is defined without one
        raise DataError("the labelling interface is too long, or defines entities")
    try:
        root = ElementTree.fromstring(config)
    except (ElementTree.ParseError, UnicodeEncodeError) as error:  # the latter: half of a surrogate pair
        raise DataError(f"the labelling interface is not XML: {error}") from None
    texts = {one.get("name"): one for one in root.iter("Text")}
    for labels in root.iter("Labels"):
        text = texts.get(labels.get("toName"))
        if text is not None:
            return _config(labels, text)
    raise DataError("the labelling interface has no <Labels> with the name of a <Text> as its toName")


def _config(labels: ElementTree.Element, text: ElementTree.Element) -> LabelConfig:
    field = re.fullmatch(r"\$([^\s$]+)", text.get("value", ""))
    if field is None:
        raise DataError(f"the value of <Text> is {text.get('value', '')!r:.80}, expected one field, such as $text")
    if (kind := text.get("valueType", "text").lower()) != "text":
        raise DataError(f"the valueType of <Text> is {kind!r:.80}: the text must be in the task itself")
    types = {}
    for one in labels.iter("Label"):
        name = one.get("alias") or one.get("value")
        if name:
            types[name] = EntityType(name, one.get("hint") or "")
    if not types:
        raise DataError("<Labels> has no <Label>; labels that come with the tasks cannot be learned")
    return LabelConfig(labels.get("name", "label"), text.get("name", "text"), field[1], tuple(types.values()))
