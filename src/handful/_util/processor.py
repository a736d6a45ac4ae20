"""The processor: one of its abilities, as far as the system says, and how much of it this process may use."""

import os
import re
from pathlib import Path

_CPU_INFO = Path("/proc/cpuinfo")

# Where Linux tells a container how much of the processors it may use.
_QUOTA = Path("/sys/fs/cgroup/cpu.max")

_VNNI = re.compile(r"^flags\b.*\b(?:avx_vnni|avx512_vnni)\b", re.MULTILINE)  # x86


def has_vnni() -> bool:
    """Tell whether the processor adds products of 8-bit numbers exactly and quickly, as far as the system says."""
    try:
        return _VNNI.search(_CPU_INFO.read_text(encoding="utf-8", errors="replace")) is not None
    except OSError:  # not Linux
        return False


def usable_threads() -> int:
    """Return how many processors this process may use: its affinity, and a container's quota where there is one."""
    affinity = getattr(os, "sched_getaffinity", None)
    n = len(affinity(0)) if affinity else os.cpu_count() or 1
    try:
        quota, period = _QUOTA.read_text(encoding="ascii").split()
        return max(1, min(n, round(int(quota) / int(period))))
    except (OSError, ValueError):  # no such file, or no quota ("max")
        return n
