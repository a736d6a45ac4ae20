"""The comparison of few-shot methods: runs, statistics and reports."""

from typing import TYPE_CHECKING

from handful._util.lazy import lazy

from .settings import DEFAULT_METHODS, O_RATIOS, Settings

if TYPE_CHECKING:
    from ._methods import ComparedMethod, method_names
    from ._runs import OnRun
    from ._transfer import transfer
    from .report import Report

__all__ = [
    "DEFAULT_METHODS", "O_RATIOS", "ComparedMethod", "OnRun", "Report", "Settings", "method_names", "transfer",
]  # fmt: skip

__getattr__, __dir__ = lazy(
    __name__,
    _methods="ComparedMethod method_names",
    _runs="OnRun",
    report="Report",
    _transfer="transfer",
)
