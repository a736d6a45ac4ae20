"""The processor's kind, from what Linux says of it, and where nothing says."""

import os
import platform

import pytest

from handful._util import processor
from handful._util.processor import Processor, usable_threads

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
        (X86.format(flags="avx2"), "AVX2"),
        (X86.format(flags="avx2 avx_vnni"), "AVX2 VNNI"),
        (X86.format(flags="avx2 avx512f avx512_vnni amx_tile amx_int8"), "AVX2 AVX512 VNNI AMX"),
        (X86.format(flags="avx"), ""),
        (ARM.format(flags="asimddp i8mm"), "dotprod i8mm"),
        (ARM.format(flags="asimddp"), "dotprod"),
        (ARM.format(flags="crc32"), ""),
    ],
)
def test_instructions_that_linux_lists(tmp_path, monkeypatch, text, expected):
    (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(processor, "_CPU_INFO", tmp_path / "cpuinfo")
    found = Processor.here()
    assert [name for name, has in found.instructions.items() if has] == expected.split()
    for name, has in found.instructions.items():
        assert f"{'with' if has else 'without'} {name}" in str(found)
    if "model name" in text:
        assert found.name == "Some Processor 3000"


@pytest.mark.parametrize("text", [None, "", "cpu : POWER9\nrevision : 2.2\n"])
def test_elsewhere_it_is_unknown(tmp_path, monkeypatch, text):
    if text is not None:
        (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(processor, "_CPU_INFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(platform, "machine", lambda: "arm")
    assert Processor.here() == Processor("arm", None)
    assert str(Processor.here()) == "arm; which instructions it has is unknown"


def test_threads_follow_a_containers_quota(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for content, n in [("max 100000", 8), ("250000 100000", 2), ("50000 100000", 1), ("9900000 100000", 8)]:
        (tmp_path / "cpu.max").write_text(content)
        monkeypatch.setattr(processor, "_QUOTA", tmp_path / "cpu.max")
        assert usable_threads() == n
