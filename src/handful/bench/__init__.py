"""Protocols, statistics and reports for comparing few-shot methods."""

from ._groups import GROUPS, parse_groups
from ._methods import Method, Variant, method_names
from ._protocols import ABLATIONS, ablation, extension, transfer
from ._report import Report
from ._settings import METHODS, RATIOS, Settings

__all__ = [
    "ABLATIONS",
    "GROUPS",
    "METHODS",
    "RATIOS",
    "Method",
    "Report",
    "Settings",
    "Variant",
    "ablation",
    "extension",
    "method_names",
    "parse_groups",
    "transfer",
]
