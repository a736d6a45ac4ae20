"""The processor, from what Linux says of it, and where nothing says."""

import os

import pytest

from handful._util import processor
from handful._util.processor import has_vnni, usable_threads

X86 = """\
processor\t: 0
vendor_id\t: GenuineIntel
model name\t: Some Processor 3000
flags\t\t: fpu sse2 {flags}
bogomips\t: 5000

processor\t: 1
model name\t: Some Processor 3000
flags\t\t: fpu sse2 {flags}
"""
ARM = "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd {flags}\nCPU implementer\t: 0x41\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (X86.format(flags="avx2"), False),
        (X86.format(flags="avx2 avx_vnni"), True),
        (X86.format(flags="avx2 avx512f avx512_vnni amx_tile amx_int8"), True),
        (X86.format(flags="avx2 my_avx_vnni2"), False),
        (ARM.format(flags="asimddp i8mm"), False),
        (None, False),
        ("cpu : POWER9\nrevision : 2.2\n", False),
    ],
)
def test_vnni_is_there_where_linux_lists_it(tmp_path, monkeypatch, text, expected):
    if text is not None:
        (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(processor, "_CPU_INFO", tmp_path / "cpuinfo")
    assert has_vnni() is expected


def test_threads_follow_a_containers_quota(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for content, n in [("max 100000", 8), ("250000 100000", 2), ("50000 100000", 1), ("9900000 100000", 8)]:
        (tmp_path / "cpu.max").write_text(content)
        monkeypatch.setattr(processor, "_QUOTA", tmp_path / "cpu.max")
        assert usable_threads() == n
