"""Protocols, statistics and reports for comparing few-shot methods."""

from typing import TYPE_CHECKING

from handful._util.lazy import lazy

from .settings import DEFAULT_METHODS, GROUPS, O_RATIOS, Settings, parse_groups

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
    "O_RATIOS",
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

__getattr__, __dir__ = lazy(
    __name__,
    _protocols="ABLATIONS ablation extension transfer",
    _methods="ComparedMethod method_names",
    _runs="OnRun",
    _report="Report",
    _speed="Speed speed",
)
