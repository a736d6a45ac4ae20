# ruff: noqa: D101, D102 - a trial, as it was run
"""How to train, how far to go, whether to go at all, and what counts in the tagger then: all of them in one run.

    python benchmarks/tune/choose.py DATA/ncbi_disease --shots 20,100 --sets 2 --recipes base,mask --out rows.jsonl

For each draw and recipe, encoders are trained with all labels and with a third of them held out in turn. Each row has
F1 by share of the change and by weights of evidence (EVIDENCE), of the encoder trained with all labels (`final`) and of
the mean of those trained with a part (`soup`); and, by the same keys, the counts on what was held out (`held_out`).
With --part 3/15 a process does every 15th job, beginning with the third. `--folder train` draws from train.txt, half of
it, and scores on the other half.
"""

import argparse
import json
import time
import traceback
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from handful import Tagger
from handful.bench._targets import read_target
from handful.bench._tasks import make_task
from handful.bench.settings import Settings
from handful.encoders import NameHead, NetworkEncoder
from handful.encoders.loading import EMBEDDED
from handful.evaluate import score
from handful.tagger.decoding import viterbi
from handful.text import Sentence, Span
from handful.training import TuneRecipe
from handful.training._graph_network import GraphNetwork
from handful.training.batches import collate, lay_out_corpus, on_device
from handful.training.lessons import Lesson, Loop
from handful.training.student import Student, open_source

SHARES = (0.35, 0.7, 1.0)
FOLDS = 3
KINDS = ("regression", "nearest", "prototypes", "names")
EVIDENCE = {
    "now": (8, 48, 1 / 40, 8),
    "names16": (8, 48, 1 / 40, 16),
    "names32": (8, 48, 1 / 40, 32),
    "near24": (8, 24, 1 / 40, 16),
    "near0": (8, 0, 1 / 40, 16),
    "clusters": (0, 0, 1 / 40, 16),
    "names-only": (0, 0, 0, 32),
    "names-reg": (16, 0, 0, 16),
    "half-clusters": (8, 48, 1 / 80, 16),
    "no-clusters": (8, 48, 0, 16),
    "no-names": (16, 48, 1 / 40, 0),
    "names4": (8, 48, 1 / 40, 4),
    "names2": (8, 48, 1 / 40, 2),
}
RECIPES = {
    "base": {},
    "e40": {"epochs": 40},
    "r64": {"rank": 64, "lr": 5e-4},
    "lr2": {"lr": 2e-3},
    "mask": {"mask": 0.15},
    "swap": {"swap": 4},
    "swapmask": {"swap": 4, "mask": 0.15},
    "rdrop": {"rdrop": 1.0},
    "full8": {"full": True, "lr": 5e-5, "batch": 8},
    "full8mask": {"full": True, "lr": 5e-5, "batch": 8, "mask": 0.15},
    "noisy": {"noisy": 1.0},
    # the second round, with --quick
    "lr2rdrop": {"lr": 2e-3, "rdrop": 1.0},
    "lr2rdrop4": {"lr": 2e-3, "rdrop": 4.0},
    "lr2-8": {"lr": 2e-3, "batch": 8},
    "lr2-8rdrop": {"lr": 2e-3, "batch": 8, "rdrop": 1.0},
    "full8rdrop": {"full": True, "lr": 5e-5, "batch": 8, "rdrop": 1.0},
    "full8rdrop4": {"full": True, "lr": 5e-5, "batch": 8, "rdrop": 4.0},
    "fullfast": {"full": True, "lr": 1e-4, "batch": 8, "rdrop": 1.0},
}


class Bench:
    """The encoder, its weights as they were, and a network to evaluate with."""

    def __init__(self, source, device):
        self.source, self.device = source, device
        self.net = GraphNetwork(source.graph).to(device).eval()
        self.before = {name: one.detach().clone() for name, one in self.net.weights().items()}
        self.head = source.encoder.names

    def change_of(self, student):
        """Return by how much training changed weights and head."""
        weights = {n: w - self.before[n] for n, w in student.network.merged().items()}
        weights = {n: w for n, w in weights.items() if w.abs().max() > 0}
        after = student.head.trained()
        return weights, [getattr(after, n) - getattr(self.head, n) for n in HEAD]

    @torch.no_grad()
    def encoder(self, change, share):
        weights, head = change if change else ({}, [0, 0, 0, 0])
        for name, one in self.net.weights().items():
            one.copy_(self.before[name])
            if name in weights:
                one.add_(weights[name], alpha=share)
        own = self.source.encoder
        names = NameHead(*(getattr(self.head, n) + share * d for n, d in zip(HEAD, head, strict=True)))
        return NetworkEncoder(
            Running(self.net, self.device, self.source.last), own.tokenizer, dim=own.dim, window=own.window,
            pooling=own.pooling, transitions=own.transitions, names=names,
            batch_tokens=8192 if self.device.type == "cuda" else 1024,
        )  # fmt: skip


HEAD = ("weight", "bias", "o_prototypes", "beta")


class Running:
    def __init__(self, net, device, last):
        self.net, self.device, self.last = net, device, last

    def identity(self):
        return b"%d" % id(self)

    @torch.inference_mode()
    def run(self, inputs):
        known = {name: torch.from_numpy(array).to(self.device) for name, array in inputs.items()}
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            return self.net(known, self.last)[0].float().cpu().numpy()


def mean_change(changes):
    weights = {n: sum(c[0][n] for c in changes) / len(changes) for n in changes[0][0]}
    return weights, [sum(c[1][i] for c in changes) / len(changes) for i in range(len(HEAD))]


def swapped(sentences, copies, rng):
    """Return the sentences, and copies in which mentions stand in each other's places."""
    known = {}
    for s in sentences:
        for span in s.spans:
            known.setdefault(span.type, []).append(s.words[span.start : span.end])
    found = list(sentences)
    for _ in range(copies - 1):
        for s in sentences:
            words, spans, at = [], [], 0
            for span in sorted(s.spans, key=lambda one: one.start):
                words += s.words[at : span.start]
                own = s.words[span.start : span.end]
                if rng.random() < 0.5:
                    own = known[span.type][rng.integers(len(known[span.type]))]
                spans.append(Span(len(words), len(words) + len(own), span.type))
                words += own
                at = span.end
            words += s.words[at:]
            found.append(Sentence(tuple(words), tuple(spans)))
    return found


def tags_of(sentences, names):
    number = {name: i + 1 for i, name in enumerate(names)}
    found = []
    for s in sentences:
        tags = np.zeros(len(s.words), int)
        for span in s.spans:
            tags[span.start : span.end] = number[span.type]
        found.append(tags)
    return found


def train(bench, sentences, types, given, number, targets=None, start=None):
    """Return the student after training on labelled sentences; `targets`: text rows and soft tags of its words."""
    own = {k: v for k, v in given.items() if k in TuneRecipe.__dataclass_fields__}
    recipe = TuneRecipe(**own)
    rng = np.random.default_rng(number)
    if given.get("swap"):
        sentences = swapped(sentences, given["swap"], rng)
        recipe = replace(recipe, epochs=max(1, recipe.epochs // given["swap"]))
    device = bench.device
    student = start or Student(
        bench.source, types, recipe, device, is_named=True, has_adapters=not given.get("full", False)
    )
    eye = np.eye(1 + len(types), dtype=bool)
    allowed = [eye[tags] for tags in tags_of(sentences, [one.name for one in types])]
    lesson = student.lesson(sentences, allowed)
    plain, steps = lesson.loss, np.random.default_rng(number + 77)

    def loss(batch):
        if given.get("mask"):
            hit = torch.rand(batch.ids.shape, device=device) < given["mask"]
            special = (batch.ids == batch.ids[:, :1]) | (batch.mask == 0)
            stride = given["stride"] or 1 << 30  # the shape of the word stays
            masked = batch.ids.div(stride, rounding_mode="floor") * stride + given["mask_id"]
            batch = replace(batch, ids=torch.where(hit & ~special, masked, batch.ids))
        total = plain(batch)
        if given.get("rdrop"):
            p, q = student.logits(batch).log_softmax(1), student.logits(batch).log_softmax(1)
            kl = functional.kl_div(p, q, log_target=True, reduction="none").sum(1)
            kl = kl + functional.kl_div(q, p, log_target=True, reduction="none").sum(1)
            total = total + given["rdrop"] * kl.mean() / 2
        if targets is not None:
            rows, wanted = targets
            chosen = steps.integers(len(rows), size=16)
            more = on_device(collate(rows, chosen), device)
            words = np.concatenate([np.arange(rows.words[i], rows.words[i + 1]) for i in chosen])
            logp = student.logits(more).log_softmax(1)
            total = total - given["noisy"] * (torch.from_numpy(wanted[words]).to(device) * logp).sum(1).mean()
        return total

    loop = Loop(Lesson(lesson.parameters, lesson.decay, loss, lesson.rows, lesson.module), recipe, device, number)
    while loop.step < loop.n_steps:
        loop.take()
    student.eval()
    return student


def soft_tags(tagger, encoder, text, scale=3.0):
    features = encoder.encode(text)
    z = tagger.model_.calibration.by_logit * scale * tagger.model_.logits(features)
    p = np.exp(z - z.max(1, keepdims=True))
    return (p / p.sum(1, keepdims=True)).astype(np.float32)


def by_evidence(tagger, encoder, sentences):
    """Return the spans found by each choice of weights."""
    features, n_words = encoder.encode(sentences), [len(s.words) for s in sentences]
    model = tagger.model_
    from handful.tagger.model import _KINDS

    pieces = {_KINDS[type(piece)]: piece.logits(features) for piece in model.evidence}
    scale = {_KINDS[type(piece)]: piece.weight for piece in model.evidence}
    found = {}
    for name, weights in EVIDENCE.items():
        own = dict(zip(KINDS, weights, strict=True))
        own["prototypes"] *= scale.get("prototypes", 0) * 40  # few words count less
        logits = sum(own[kind] * np.asarray(part, np.float64) for kind, part in pieces.items())
        tags = viterbi(logits, n_words, model.transitions, model.without_prior)
        found[name] = spans_of(tags, sentences, [one.name for one in model.types])
    return found


def spans_of(tags, sentences, names):
    found, at = [], 0
    for s in sentences:
        own, spans, i = tags[at : at + len(s.words)], [], 0
        at += len(s.words)
        while i < len(own):
            j = i + 1
            while j < len(own) and own[j] == own[i]:
                j += 1
            if own[i]:
                spans.append(Span(i, j, names[own[i] - 1]))
            i = j
        found.append(Sentence(s.words, tuple(spans)))
    return found


def counts(gold, found):
    """Return for each sentence the mentions that are right, found and gold."""
    return [[len(set(a.spans) & set(b.spans)), len(b.spans), len(a.spans)] for a, b in zip(gold, found, strict=True)]


def f1s(bench, change, types, support, text, scored, shares=SHARES):
    found = {}
    for share in shares:
        encoder = bench.encoder(change, share)
        tagger = Tagger(encoder, types=types, cache=False).fit(support, text)
        by = by_evidence(tagger, encoder, [s.without_labels() for s in scored])
        found[f"{share:g}"] = {k: round(100 * score(scored, one).micro.f1, 2) for k, one in by.items()}
    return found


def run(bench, task, support, types, name, given, text):
    start = time.time()
    sentences = support.sentences
    row = {"target": task.name, "shots": support.shots, "set": support.name, "recipe": name, "n": len(sentences)}
    if name == "untuned":
        row["final"] = f1s(bench, None, types, sentences, text, task.scored, shares=(0.0,))
        return row | {"seconds": time.time() - start}
    order = np.random.default_rng(0).permutation(len(sentences))
    folds = [np.sort(order[k::FOLDS]) for k in range(FOLDS)]

    def learned(chosen, number):
        first = train(bench, chosen, types, given, number)
        if not given.get("noisy"):
            return first
        encoder = bench.encoder(bench.change_of(first), 1.0)
        tagger = Tagger(encoder, types=types, cache=False).fit(chosen, text)
        own = bench.source.encoder
        rows = lay_out_corpus(text, [0] * sum(len(s.words) for s in text), own.tokenizer, own.window)
        return train(bench, chosen, types, given, number, (rows, soft_tags(tagger, encoder, text)), first)

    change = bench.change_of(learned(sentences, FOLDS))
    if given.get("quick"):
        row["final"] = f1s(bench, change, types, sentences, text, task.scored, (0.7, 1.0))
        return row | {"seconds": time.time() - start}
    row["final"] = f1s(bench, change, types, sentences, text, task.scored)
    changes, held = [], {}
    for k, fold in enumerate(folds):
        rest = [s for i, s in enumerate(sentences) if i not in set(fold.tolist())]
        own = [sentences[i] for i in fold]
        changes.append(bench.change_of(learned(rest, k)))
        for share in (0.0, *SHARES):
            encoder = bench.encoder(changes[-1], share)
            tagger = Tagger(encoder, types=types, cache=False).fit(rest)
            for key, found in by_evidence(tagger, encoder, [s.without_labels() for s in own]).items():
                held.setdefault(f"{share:g}", {}).setdefault(key, []).extend(counts(own, found))
    row["soup"] = f1s(bench, mean_change(changes), types, sentences, text, task.scored)
    row["held_out"] = {s: {k: np.sum(v, 0).tolist() for k, v in by.items()} for s, by in held.items()}
    row["each"] = {s: by["now"] for s, by in held.items()}
    return row | {"seconds": time.time() - start}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--shots", default="100,20,500")
    parser.add_argument("--sets", type=int, default=2)
    parser.add_argument("--recipes", default=",".join(RECIPES))
    parser.add_argument("--text", type=int, default=1500, help="unlabelled sentences")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no job after so many")
    parser.add_argument("--quick", action="store_true", help="nothing is held out, and there is no soup")
    parser.add_argument("--folder", default="dev", choices=("dev", "train"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args()
    device, begun = torch.device(given.device), time.time()
    torch.set_num_threads(1)
    shots = [int(n) for n in given.shots.split(",")]
    part, n_parts = map(int, given.part.split("/"))
    tasks, jobs = {}, []
    for path in given.targets:
        settings = Settings(shots=shots, sets=given.sets, on="dev", fewer=True, most_words=60_000)
        target = read_target(path)
        if given.folder == "train" and not target.is_file:
            half = target.train[:2400]
            target = replace(target, dev=half, train=[], test=[])
        tasks[path] = make_task(target, settings)
        for n in shots:
            if n == 500 and target.is_file:
                continue
            jobs += [
                (path, one, name) for one in tasks[path].supports[n] for name in ("untuned", *given.recipes.split(","))
            ]
    jobs.sort(key=lambda job: (job[1].name, shots.index(job[1].shots)))
    with open_source(EMBEDDED["handful-en"]) as source:
        bench = Bench(source, device)
        words = json.loads((EMBEDDED["handful-en"] / "tokenizer.json").read_text(encoding="utf-8"))
        mask = next(one["id"] for one in words["added_tokens"] if one["content"] in ("[MASK]", "<mask>"))
        masking = {"mask_id": mask, "stride": source.encoder.tokenizer.shape_stride}
        for path, support, name in jobs[part::n_parts]:
            if time.time() - begun > given.seconds:
                print("no time left", flush=True)
                break
            task = tasks[path]
            types = tuple(sorted(task.types, key=lambda one: one.name))
            text = [s.without_labels() for s in task.text("all")][: given.text]
            try:
                row = run(
                    bench, task, support, types, name, RECIPES.get(name, {}) | masking | {"quick": given.quick}, text
                )
            except Exception:
                traceback.print_exc()
                continue
            shown = {s: v["now"] for s, v in row["final"].items()}
            print(task.name, support.shots, support.name, name, shown, round(row["seconds"], 1), flush=True)
            with given.out.open("a") as file:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
