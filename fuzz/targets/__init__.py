"""Everything that reads what others wrote, by name."""

from fuzz.engine import Target

from .folders import FOLDERS
from .installed import INSTALLED
from .labels import LABELS
from .shards import SHARDS
from .text import TEXT
from .web import WEB

__all__ = ["TARGETS"]

TARGETS: dict[str, Target] = {target.name: target for target in (*TEXT, *LABELS, *FOLDERS, *INSTALLED, *SHARDS, *WEB)}
