"""Protocols, statistics and reports for comparing few-shot methods."""

from .groups import GROUPS, parse_groups
from .methods import Method, Variant, method_names
from .protocols import ABLATIONS, ablation, extension, transfer
from .report import Report
from .settings import METHODS, RATIOS, Settings

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
