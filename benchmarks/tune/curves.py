"""What tuning gains by the number of labels, beside what people do elsewhere on the same weights.

    python benchmarks/tune/curves.py DATA/ncbi_disease DATA/bc5cdr DATA/btc --out curves.jsonl
    python benchmarks/tune/curves.py corpora/mosaic/dev/ship_log.txt --on dev --shots 5,20 --out curves.jsonl
    python benchmarks/tune/curves.py --table curves.jsonl
    python benchmarks/tune/curves.py DATA/ncbi_disease --minutes

`untuned` is a fit on labels and text, `tuned` is `handful.training.tune` with its choice by held-out labels,
`finetuned` is the method of `finetuned.py`, and `setfit` that of `setfit.py`. Vectors are those of the floats, on a
GPU where there is one, not those of the 8-bit export. `--part 3/15` does every 15th job, for several processes side by
side.

`--minutes` takes ten steps of each training on the processor, and says how long all of them would take.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from finetuned import FineTuned
from setfit import SetFit

from handful import Tagger
from handful.bench._targets import read_target
from handful.bench._tasks import make_task
from handful.bench.settings import Settings
from handful.encoders.opened import EMBEDDED
from handful.evaluate import score
from handful.training import TuneRecipe
from handful.training._tune_run import TuneRun
from handful.training.student import Loop, Student, open_source
from handful.training.tuning import FEWEST

TRAINED = {"finetuned": FineTuned, "setfit": SetFit}
METHODS = ("untuned", "tuned", *TRAINED)


def f1(tagger, scored):
    found = tagger.predict_sentences([sentence.without_labels() for sentence in scored])
    return 100 * score(scored, found).micro.f1


def run(source, task, support, text, device):
    """Yield a row for each method."""
    types = tuple(sorted(task.types, key=lambda one: one.name))
    recipe = TuneRecipe()
    start = time.time()
    as_it_was = Student(source, types, recipe, device, is_named=True).encoder(0.0)
    untuned = Tagger(types, encoder=as_it_was, cache=False).fit(support.sentences, text)
    before = f1(untuned, task.scored)
    yield {"method": "untuned", "f1": before, "seconds": time.time() - start}
    start, row = time.time(), {"method": "tuned", "f1": before, "is_tuned": False}
    if len(support.sentences) >= FEWEST:
        trained = TuneRun(untuned, source, recipe, str(device))
        before, after, error, is_better = trained.train(False)
        row |= {"held_out": {"before": before, "after": after, "error": error}}
        if is_better:
            encoder = trained._student.encoder(recipe.share)
            tuned = Tagger(types, encoder=encoder, cache=False).fit(support.sentences, text)
            row |= {"f1": f1(tuned, task.scored), "is_tuned": True}
    yield row | {"seconds": time.time() - start}
    for method, made in TRAINED.items():
        start = time.time()
        fitted = made("handful-en").fit(support.sentences)
        yield {"method": method, "f1": f1(fitted, task.scored), "seconds": time.time() - start}


def table(rows):
    """Print means over draws, and in how many of them the tuned encoder was taken."""
    cells = {}
    for row in rows:
        cells.setdefault((row["shots"], row["target"]), {}).setdefault(row["method"], []).append(row)
    print("| | labels | draws | untuned | tuned | taken | finetuned | setfit |\n|---|---|---|---|---|---|---|---|")
    gains = {}
    for (shots, target), by in sorted(cells.items()):
        if set(by) != set(METHODS):
            continue
        n = min(len(one) for one in by.values())
        means = {method: np.mean([row["f1"] for row in by[method]]) for method in METHODS}
        taken = sum(row["is_tuned"] for row in by["tuned"])
        shown = [f"{means[method]:.1f}" for method in METHODS]
        print(f"| {target} | {shots} | {n} | {shown[0]} | {shown[1]} | {taken} of {n} | {shown[2]} | {shown[3]} |")
        gains.setdefault(shots, []).append([means["tuned"] - means["untuned"], means["tuned"] - means["finetuned"]])
    for shots, each in gains.items():
        over = np.array(each)
        print(f"{shots} labels: tuned over untuned {over[:, 0].mean():+.1f} (least {over[:, 0].min():+.1f}), ", end="")
        print(f"over finetuned {over[:, 1].mean():+.1f} (least {over[:, 1].min():+.1f})")


def minutes(source, task, support):
    """Print how long the trainings would take on this processor."""
    types = tuple(sorted(task.types, key=lambda one: one.name))
    recipe, sentences = TuneRecipe(), support.sentences
    eye = np.eye(1 + len(types), dtype=bool)
    number = {one.name: 1 + i for i, one in enumerate(types)}
    tags = [np.zeros(len(one.words), int) for one in sentences]
    for sentence, own in zip(sentences, tags, strict=True):
        for span in sentence.spans:
            own[span.start : span.end] = number[span.type]
    shown = []
    for has_adapters in (True, False):
        student = Student(source, types, recipe, torch.device("cpu"), is_named=True, has_adapters=has_adapters)
        loop = Loop(student, sentences, student.loss_of([eye[own] for own in tags]))
        loop.take()
        start = time.perf_counter()
        for _ in range(10):
            loop.take()
        shown.append((time.perf_counter() - start) / 10)
    n, folds = len(sentences), recipe.folds
    tuned = recipe.n_steps(n) + folds * recipe.n_steps(n - n // folds)
    print(
        f"{task.name} {support.shots} labels, {n} sentences: tuned {tuned * shown[0] / 60:.1f} min ({tuned} steps of "
        f"{shown[0]:.2f} s), finetuned {recipe.n_steps(n) * shown[1] / 60:.1f} min "
        f"({recipe.n_steps(n)} steps of {shown[1]:.2f} s)",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--shots", default="5,20,50,100,500")
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--on", default="test")
    parser.add_argument("--text", type=int, default=2000, help="unlabelled sentences")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no job after so many")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path, help="print the means of such a file")
    parser.add_argument("--minutes", action="store_true")
    given = parser.parse_args()
    if given.table:
        table([json.loads(line) for line in given.table.read_text().splitlines()])
        return
    begun, (part, n_parts) = time.time(), map(int, given.part.split("/"))
    jobs = []
    for path in given.targets:
        shots = [int(n) for n in given.shots.split(",")]
        task = make_task(read_target(path), Settings(shots=shots, sets=given.sets, on=given.on, fewer=True))
        jobs += [(task, one) for n in shots for one in task.supports[n]]
    jobs.sort(key=lambda job: -job[1].shots)  # the longest first
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with open_source(EMBEDDED["handful-en"]) as source:
        for task, support in jobs[part::n_parts]:
            if given.minutes:
                minutes(source, task, support)
                continue
            if time.time() - begun > given.seconds:
                print("no time left", flush=True)
                break
            text = [sentence.without_labels() for sentence in task.text("all")][: given.text]
            own = {
                "target": task.name,
                "shots": support.shots,
                "set": support.name,
                "sentences": len(support.sentences),
            }
            for row in run(source, task, support, text, device):
                print(json.dumps(own | row), flush=True)
                with given.out.open("a") as file:
                    file.write(json.dumps(own | row) + "\n")


if __name__ == "__main__":
    main()
