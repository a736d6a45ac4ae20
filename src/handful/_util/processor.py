"""The processor: its kind, as far as the system says, and how much of it this process may use."""

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_CPU_INFO = Path("/proc/cpuinfo")

# Where Linux tells a container how much of the processors it may use.
_QUOTA = Path("/sys/fs/cgroup/cpu.max")

# The names of the instructions on Linux, by the name of the entry that lists them: x86 has "flags", ARM has "Features".
_INSTRUCTIONS = {
    "flags": {"AVX2": {"avx2"}, "AVX512": {"avx512f"}, "VNNI": {"avx_vnni", "avx512_vnni"}, "AMX": {"amx_int8"}},
    "Features": {"dotprod": {"asimddp"}, "i8mm": {"i8mm"}},
}


@dataclass(frozen=True)
class Processor:
    """A kind of processor: its name, and whether it has some instructions; None where the system does not say."""

    name: str
    instructions: Mapping[str, bool] | None

    @classmethod
    def here(cls) -> "Processor":
        """Return that of this machine; only Linux says which instructions it has."""
        try:
            text = _CPU_INFO.read_text(encoding="utf-8", errors="replace")
        except OSError:
            text = ""
        entries: dict[str, str] = {}
        for line in text.splitlines():
            name, _, value = line.partition(":")
            entries.setdefault(name.strip(), value.strip())
        instructions = None
        for entry, names in _INSTRUCTIONS.items():
            if entry in entries:
                found = set(entries[entry].split())
                instructions = {name: bool(found & flags) for name, flags in names.items()}
        return cls(entries.get("model name") or platform.machine() or "unknown", instructions)

    def __str__(self) -> str:
        if self.instructions is None:
            return f"{self.name}; which instructions it has is unknown"
        said = ", ".join(f"{'with' if has else 'without'} {name}" for name, has in self.instructions.items())
        return f"{self.name}; {said}"


def usable_threads() -> int:
    """Return how many processors this process may use: its affinity, and a container's quota where there is one."""
    affinity = getattr(os, "sched_getaffinity", None)
    n = len(affinity(0)) if affinity else os.cpu_count() or 1
    try:
        quota, period = _QUOTA.read_text(encoding="ascii").split()
        return max(1, min(n, round(int(quota) / int(period))))
    except (OSError, ValueError):  # no such file, or no quota ("max")
        return n
