"""The same bytes: a fit and predictions in other circumstances, compared with a plain run.

    python benchmarks/same_bytes.py [--words 3000] [--only TEXT]

Each row is `handful fit` on the garden notes (labels, types and some unlabelled text) and `handful predict` on other
notes, each in a process of its own, with handful-en. Compared are all files of the model, and the predictions as JSON
lines. Where they are not the same: mentions that only one of them has, and the largest difference of the scores of
those that both have, and of the numbers in the model. The last rows pretend that the processor has fewer instructions,
in the library for matrices (OPENBLAS_CORETYPE), in NumPy (NPY_DISABLE_CPU_FEATURES), in the encoder's choice of a
product of 8-bit numbers, and in the C library (GLIBC_TUNABLES).
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
from measure import describe_machine

from handful._util.processor import has_vnni

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PLAIN = {"PYTHONHASHSEED": "0", **dict.fromkeys(THREADS, "1")}
TWO = dict.fromkeys(THREADS, "2")
AVX512 = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
FORKED = """
import multiprocessing, sys
def work():
    from handful.cli import main
    main()
if __name__ == "__main__":
    import handful.tagger, handful.cli.commands
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start(); child.join(); sys.exit(child.exitcode)
"""
WITHOUT_VNNI = """
import os, tempfile
from pathlib import Path
import handful._util.processor as processor
known = processor._CPU_INFO.read_text().replace("avx512_vnni", "").replace("avx_vnni", "")
with tempfile.TemporaryDirectory() as folder:
    processor._CPU_INFO = Path(folder) / "cpuinfo"
    processor._CPU_INFO.write_text(known)
    from handful.cli import main
    main()
"""
MARK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
COMMAND = ("-m", "handful")

# Name: environment, options of fit, options of predict, how Python starts, what else is done.
SAME = {
    "again": ({}, (), (), COMMAND, ""),
    "PYTHONHASHSEED=1": ({"PYTHONHASHSEED": "1"}, (), (), COMMAND, ""),
    "PYTHONHASHSEED=random": ({"PYTHONHASHSEED": "random"}, (), (), COMMAND, ""),
    "2 threads": (TWO, ("--threads", "2"), ("--threads", "2"), COMMAND, ""),
    "2 threads for matrices alone": (TWO, (), (), COMMAND, ""),
    "in a forked process": ({}, (), (), ("-c", FORKED), ""),
    "features kept on disk, first time": ({}, ("cached",), ("--keep-features",), COMMAND, ""),
    "features kept on disk, again": ({}, ("cached",), ("--keep-features",), COMMAND, ""),
    "text in 7 files": ({}, (), (), COMMAND, "files"),
    "lines one at a time, in a pipe": ({}, (), (), COMMAND, "lines"),
    "lines in chunks of 5": ({}, (), (), COMMAND, "chunks"),
    "Dask, 1 worker": ({}, ("--workers", "1"), ("--workers", "1"), COMMAND, "dask"),
    "Dask, 2 workers": ({}, ("--workers", "2"), ("--workers", "2"), COMMAND, "dask"),
}
OTHER = {
    **{
        f"OPENBLAS_CORETYPE={name}": ({"OPENBLAS_CORETYPE": name}, (), (), COMMAND, "")
        for name in ("SkylakeX", "Haswell", "Sandybridge", "Nehalem", "Prescott", "Zen")
    },
    "NumPy without AVX512": ({"NPY_DISABLE_CPU_FEATURES": AVX512}, (), (), COMMAND, ""),
    "NumPy without AVX512 and AVX2": ({"NPY_DISABLE_CPU_FEATURES": f"{AVX512} AVX2 FMA3"}, (), (), COMMAND, ""),
    "encoder as if without VNNI": ({}, (), (), ("-c", WITHOUT_VNNI), ""),
    "C library without AVX2 and FMA": (
        {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA"},
        (),
        (),
        COMMAND,
        "",
    ),
    "Haswell, NumPy without AVX512": (
        {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": AVX512},
        (),
        (),
        COMMAND,
        "",
    ),
}


class Trials:
    """Runs fit and predict, and compares.

    Parameters
    ----------
    garden : the folder of the examples
    place : an empty folder
    n_words : of unlabelled text
    """

    def __init__(self, garden, place, n_words):
        self.place, self.few, self.types = place, garden / "support.txt", garden / "types.txt"
        lines, n = [], 0
        for line in (garden / "unlabelled.txt").read_text(encoding="utf-8").splitlines():
            if line.strip() and n < n_words:
                lines.append(line)
                n += len(line.split())
        self.text = self.write("text.txt", lines)
        self.parts = [
            self.write(f"part{i}.txt", lines[i * len(lines) // 7 : (i + 1) * len(lines) // 7]) for i in range(7)
        ]
        self.notes = [
            line for line in (garden / "heldout.txt").read_text(encoding="utf-8").splitlines() if line.strip()
        ]
        notes = (garden / "heldout.txt").read_text(encoding="utf-8").splitlines()
        notes = [MARK.sub(r"\1", line) for line in notes if line.strip() and not line.startswith("#")]
        self.notes = notes[:60]
        self.new = self.write("new.txt", self.notes)
        self.n_words = n

    def write(self, name, lines):
        """Write lines to a file, and return its path."""
        path = self.place / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    def run(self, name, environment, of_fit, of_predict, start, way):
        """Return the model and the predictions."""
        folder = self.place / "".join(letter if letter.isalnum() else "-" for letter in name)
        environment = os.environ | PLAIN | environment | {"HANDFUL_CACHE": str(self.place / "cache")}
        cached = [] if "cached" in of_fit or way == "dask" else ["--no-cache"]
        of_fit = [one for one in of_fit if one != "cached"]
        of_threads = [] if "--threads" in of_fit else ["--threads", "1"]
        texts = [option for path in (self.parts if way == "files" else [self.text]) for option in ("-u", str(path))]
        python = [sys.executable, *start]
        fit = ["fit", self.few, "--types", self.types, *texts, "--out", folder / "model", "-q"]
        self.call([*python, *fit, *cached, *of_threads, *of_fit], environment)
        predict = [*python, "predict", folder / "model", *of_threads, *of_predict, "-q"]
        if way == "dask":
            self.call([*predict, self.new, "--out", folder / "found"], environment)
            found = b"".join(path.read_bytes() for path in sorted((folder / "found").glob("*.jsonl")))
        elif way in ("lines", "chunks"):
            found = self.piped([*predict, "-", "--to", "jsonl"], environment, 1 if way == "lines" else 5)
        else:
            found = self.call([*predict, self.new, "--to", "jsonl"], environment)
        return folder / "model", found

    def call(self, arguments, environment):
        """Run a command; return its output."""
        done = subprocess.run(list(map(str, arguments)), env=environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def piped(self, arguments, environment, n):
        """Write n lines at a time, and wait for what comes back."""
        found = []
        arguments = list(map(str, arguments))
        with subprocess.Popen(arguments, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            for i in range(0, len(self.notes), n):
                some = self.notes[i : i + n]
                process.stdin.write("".join(f"{line}\n" for line in some).encode())
                process.stdin.flush()
                if n == 1:
                    found.append(process.stdout.readline())
            process.stdin.close()
            return b"".join(found) + process.stdout.read()


def contents(folder):
    """Return all files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def difference(model, found, other_model, other_found):
    """Say how much two results differ."""
    from safetensors.numpy import load_file

    mentions, others = (
        {
            (number, one["start"], one["end"], one["entity_group"]): one["score"]
            for number, line in enumerate(lines.splitlines())
            for one in json.loads(line)["entities"]
        }
        for lines in (found, other_found)
    )
    both = mentions.keys() & others.keys()
    scores = max((abs(mentions[key] - others[key]) for key in both), default=0.0)
    one, other = (load_file(folder / "model.safetensors") for folder in (model, other_model))
    relative = 0.0
    for name in one.keys() & other.keys():
        if one[name].shape == other[name].shape and one[name].dtype.kind == "f":
            scale = np.abs(one[name]).max(initial=1e-30)
            relative = max(relative, float(np.abs(one[name] - other[name]).max(initial=0) / scale))
    return f"{len(mentions.keys() ^ others.keys())} of {len(mentions)}", f"{scores:.1e}", f"{relative:.1e}"


def main(given=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=3000, help="of unlabelled text")
    parser.add_argument("--only", help="rows with this in their name")
    options = parser.parse_args(given)
    print(describe_machine())
    print("with VNNI" if has_vnni() else "without VNNI")
    is_well = True
    with tempfile.TemporaryDirectory() as folder, as_file(files("handful") / "examples") as garden:
        trials = Trials(garden, Path(folder), options.words)
        model, found = trials.run("plain", {}, (), (), COMMAND, "")
        print(f"{trials.n_words:,} words of unlabelled text, {len(trials.notes)} lines to predict")
        print(f"{'':<36}{'model':>10}{'predictions':>13}{'mentions':>12}{'scores':>10}{'numbers':>10}")
        for name, how in {**SAME, **OTHER}.items():
            if options.only and options.only not in name:
                continue
            other_model, other_found = trials.run(name, *how)
            is_same = contents(model) == contents(other_model), found == other_found
            is_well &= all(is_same) or name in OTHER
            words = ("the same" if one else "other" for one in is_same)
            rest = ("", "", "") if all(is_same) else difference(model, found, other_model, other_found)
            print("{:<36}{:>10}{:>13}{:>12}{:>10}{:>10}".format(name, *words, *rest), flush=True)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
