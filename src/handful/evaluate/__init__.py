"""Protocols, statistics and reports for comparing few-shot methods."""

from .methods import Method, Variant, method_names
from .protocols import transfer
from .report import Report

__all__ = ["Method", "Report", "Variant", "method_names", "transfer"]
