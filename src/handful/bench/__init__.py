"""Protocols, statistics and reports for comparing few-shot methods."""

from typing import TYPE_CHECKING

from .settings import DEFAULT_METHODS, GROUPS, RATIOS, Settings, parse_groups

if TYPE_CHECKING:
    from ._methods import ComparedMethod, method_names
    from ._protocols import ABLATIONS, ablation, extension, transfer
    from ._report import Report
    from ._runs import OnRun
    from ._speed import Speed, speed

__all__ = [
    "ABLATIONS",
    "DEFAULT_METHODS",
    "GROUPS",
    "RATIOS",
    "ComparedMethod",
    "OnRun",
    "Report",
    "Settings",
    "Speed",
    "ablation",
    "extension",
    "method_names",
    "parse_groups",
    "speed",
    "transfer",
]


def __getattr__(name: str) -> object:
    """Import what needs numpy when it is asked for: the command line makes its options from `Settings` alone."""
    if name in __all__:
        from . import _methods, _protocols, _report, _runs, _speed

        for module in (_methods, _protocols, _report, _runs, _speed):
            if name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
