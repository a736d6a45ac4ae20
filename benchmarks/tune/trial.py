# ruff: noqa: D101, D102 - a trial, as it was run
"""Recipes for tuning the encoder, compared on the development halves of corpora (docs/decisions/0010).

    python benchmarks/tune/trial.py DATA/ncbi_disease DATA/bc5cdr --shots 20,100 --sets 3 --out trials.jsonl

Features are those of the thawed encoder in float32 (bfloat16 on a GPU), not of the int8 export.
"""

import argparse
import json
import time
import traceback
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from handful import Tagger
from handful.baselines import make_baseline
from handful.bench._targets import read_target
from handful.bench._tasks import make_task
from handful.bench.settings import Settings
from handful.encoders import NameHead, NetworkEncoder, load
from handful.encoders.loading import EMBEDDED
from handful.encoders.thaw import read_graph, thaw
from handful.encoders.type_texts import text_of
from handful.evaluate import score
from handful.text import to_sentence
from handful.training._graph_network import GraphNetwork
from handful.training._heads import NamesHead
from handful.training.batches import collate, lay_out_corpus, lay_out_texts, on_device

BASE = dict(  # noqa: C408
    top=0, epochs=20, steps=0, batch=16, lr=5e-5, head_lr=5e-4, dropout=0.1, text=0.0, text_batch=16, teacher="fixed",
    rounds=1, temperature=1.0, alpha=1.0, wd=0.01, warmup=0.1, head="names", sure=0.0, start=0.0, final="all", ema=0.99,
    scale=1.0, text_share=1.0, seeds=1, lora=0, noisy="",
)  # fmt: skip

RECIPES = {
    # the first round
    "labels": {},
    "lr1e-4": {"lr": 1e-4},
    "lr1e-4-a0.6": {"lr": 1e-4, "alpha": 0.6},
    "epochs40": {"epochs": 40},
    "slow-head": {"head_lr": 5e-5},
    "text": {"text": 0.5, "scale": 2.0},
    "noisy": {"text": 1.0, "scale": 3.0, "noisy": "again", "epochs": 30},
    "noisy-on": {"text": 1.0, "scale": 3.0, "noisy": "on"},
    "soup3": {"seeds": 3},
    "top4": {"top": 4, "lr": 2e-4},
    "top2": {"top": 2, "lr": 3e-4},
    "text-cold": {"text": 1.0, "scale": 3.0},
    "text-half": {"text": 0.5},
    "ema": {"text": 1.0, "teacher": "ema"},
    "lora": {"lora": 16, "lr": 1e-3},
    "plain": {"head": "free"},
    "plain-lr1e-4": {"head": "free", "lr": 1e-4},
    # the second round
    "full-a": {"lr": 1e-4, "alpha": 0.6},
    "full-40-a": {"epochs": 40, "alpha": 0.8},
    "full-8-a": {"batch": 8, "alpha": 0.7},
    "full-noisy-a": {"lr": 1e-4, "alpha": 0.6, "text": 1.0, "scale": 3.0, "noisy": "on"},
    "lora-5": {"lora": 16, "lr": 5e-4, "epochs": 30},
    "lora-a": {"lora": 16, "lr": 1e-3, "alpha": 0.7},
    "lora-drop": {"lora": 16, "lr": 1e-3, "dropout": 0.2},
    "lora-noisy": {"lora": 16, "lr": 1e-3, "text": 1.0, "scale": 3.0, "noisy": "on"},
    "setfit": {"head": "contrast"},
}


class LowRank(GraphNetwork):
    """Adds a product of two thin matrices to each matrix of the layers."""

    def add(self, rank):
        self.added = {}
        weights = self.weights()
        for name, one in weights.items():
            if name.startswith("thawed") and one.dim() == 2 and min(one.shape) >= 768 and max(one.shape) < 9999:
                a = torch.randn(one.shape[0], rank, device=one.device) * 0.02
                b = torch.zeros(rank, one.shape[1], device=one.device)
                self.added[name] = (a.requires_grad_(), b.requires_grad_())
        return [each for pair in self.added.values() for each in pair]

    def _constant(self, name):
        found = super()._constant(name)
        pair = getattr(self, "added", {}).get(name)
        return found if pair is None else found + pair[0] @ pair[1]


class TorchNetwork:
    def __init__(self, net, device):
        self.net, self.device = net, device

    def identity(self):
        return b"%d" % id(self)

    @torch.inference_mode()
    def run(self, inputs):
        self.net.eval()
        known = {name: torch.from_numpy(array).to(self.device) for name, array in inputs.items()}
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            hidden = self.net(known, "layer_7")[0]
        return hidden.float().cpu().numpy()


def encoder_of(base, net, head, device):
    return NetworkEncoder(
        TorchNetwork(net, device), base.tokenizer, dim=base.dim, window=base.window, pooling="first-last",
        batch_tokens=8192 if device.type == "cuda" else 1024, transitions=base.transitions, names=head,
    )  # fmt: skip


def io_tags(sentences, types):
    number = {name: i + 1 for i, name in enumerate(types)}
    found = []
    for sentence in sentences:
        tags = [0] * len(sentence.words)
        for span in sentence.spans:
            tags[span.start : span.end] = [number[span.type]] * (span.end - span.start)
        found += tags
    return found


class Student:
    def __init__(self, base, graph, head, types, recipe, device, seed=0):
        torch.manual_seed(seed)
        self.device, self.recipe, self.base = device, recipe, base
        self.net = (LowRank if recipe["lora"] else GraphNetwork)(graph).to(device)
        self.net.dropout = recipe["dropout"]
        self.names = NamesHead(1, base.dim, seed=0).to(device)
        with torch.no_grad():
            self.names.linear.weight.copy_(torch.from_numpy(head.weight))
            self.names.linear.bias.copy_(torch.from_numpy(head.bias))
            self.names.o_prototypes = torch.nn.Parameter(torch.from_numpy(head.o_prototypes.copy()).to(device))
            self.names.beta.fill_(head.beta)
        self.texts = lay_out_texts([to_sentence(text_of(one)).words for one in types], base.tokenizer, base.window)
        self.free = torch.nn.Linear(base.dim, 1 + len(types)).to(device)
        torch.nn.init.normal_(self.free.weight, std=0.02)
        torch.nn.init.zeros_(self.free.bias)
        self.norms = layer_norms(graph)
        top = recipe["top"]
        self.boundary = self.norms[-1 - 2 * top] if top else None
        for one in self.net.parameters():
            one.requires_grad_(False)
        weights = self.net.weights()
        inputs = ["input_ids", "attention_mask"]
        used = leading_to(self.net, "layer_7", [*inputs, self.boundary] if top else inputs)
        if top:
            used -= leading_to(self.net, self.boundary, inputs)
        self.trained = [weights[name] for name in sorted(used)]
        if recipe["lora"]:
            self.trained = self.net.add(recipe["lora"])
        for one in self.trained:
            one.requires_grad_(True)

    def hidden(self, batch):
        known = {"input_ids": batch.ids, "attention_mask": batch.mask}
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            if self.boundary:
                with torch.no_grad():
                    self.net.eval()
                    below = self.net(known, self.boundary)[0]
                    self.net.train(self.is_training)
                known = {**known, self.boundary: below}
            found = self.net(known, "layer_7")[0]
        return found.flatten(0, 1).float()

    def train(self, is_training=True):
        self.is_training = is_training
        self.net.train(is_training)

    def logits(self, batch):
        hidden = self.hidden(batch)
        x = 0.5 * (hidden.index_select(0, batch.first) + hidden.index_select(0, batch.last))
        if self.recipe["head"] == "free":
            return self.free(x)
        texts = on_device(collate(self.texts, np.arange(len(self.texts))), self.device)
        n_words = torch.from_numpy(np.diff(self.texts.words))
        means = functional.embedding_bag(texts.first, self.hidden(texts), (n_words.cumsum(0) - n_words).to(self.device))
        of_o, of_types = self.names(x, means)
        return torch.cat((of_o[:, None], of_types), 1)

    def words(self, batch):
        hidden = self.hidden(batch)
        return 0.5 * (hidden.index_select(0, batch.first) + hidden.index_select(0, batch.last))

    def parameters(self):
        if self.recipe["head"] == "contrast":
            return self.trained, []
        head = self.free.parameters() if self.recipe["head"] == "free" else [
            self.names.linear.weight, self.names.linear.bias, self.names.o_prototypes, self.names.beta]  # fmt: skip
        return self.trained, list(head)


def leading_to(net, wanted, known):
    """Return the names of the weights that are used between what is known and what is wanted."""
    return {name for node in net._plan((wanted,), frozenset(known)) for name in node.input} & set(net.weights())


def layer_norms(graph):
    return [node.output[0] for node in graph.graph.node if node.op_type == "LayerNormalization"]


def batches(n, size, rng):
    while True:
        order = rng.permutation(n)
        for i in range(0, n - n % size if n >= size else n, size):
            yield order[i : i + size]


def train(student, rows, text_rows, targets, recipe, seed=0):
    """targets: (n_words, n_tags) soft, or None."""
    device = student.device
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    slow, fast = student.parameters()
    size = recipe["batch"]
    per_epoch = max(1, -(-len(rows) // size))
    n_steps = recipe["steps"] or max(100, recipe["epochs"] * per_epoch)
    n_steps = min(n_steps, 1500)
    head_lr = recipe["lr"] if recipe["head"] == "names" and not recipe["head_lr"] else recipe["head_lr"]
    optimizer = torch.optim.AdamW(
        [{"params": slow, "lr": recipe["lr"], "weight_decay": recipe["wd"]},
         {"params": fast, "lr": head_lr, "weight_decay": 0.0}], fused=device.type == "cuda")  # fmt: skip
    rates = [group["lr"] for group in optimizer.param_groups]
    own = batches(len(rows), size, rng)
    uses_text = recipe["text"] > 0 and text_rows is not None
    text = batches(len(text_rows), recipe["text_batch"], rng) if uses_text else None
    before = [one.detach().clone() for one in (*slow, *fast)]
    average = [one.clone() for one in before] if recipe["teacher"] == "ema" else None
    student.train()
    for step in range(n_steps):
        warm = max(1, int(recipe["warmup"] * n_steps))
        factor = (step + 1) / warm if step < warm else (n_steps - step) / max(1, n_steps - warm)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * factor
        batch = on_device(collate(rows, next(own)), device)
        if recipe["head"] == "contrast":
            loss = contrastive(student.words(batch), batch.tags)
        else:
            loss = functional.cross_entropy(student.logits(batch), batch.tags)
        if uses_text:
            chosen = next(text)
            more = on_device(collate(text_rows, chosen), device)
            if average is not None:
                every = [*slow, *fast]
                kept = [one.data for one in every]
                for one, mean in zip(every, average, strict=True):
                    one.data = mean
                student.train(False)
                with torch.no_grad():
                    wanted = (student.logits(more) / recipe["temperature"]).softmax(1)
                student.train()
                for one, data in zip(every, kept, strict=True):
                    one.data = data
            else:
                words = np.concatenate([np.arange(text_rows.words[i], text_rows.words[i + 1]) for i in chosen])
                wanted = torch.from_numpy(targets[words]).to(device)
            logp = student.logits(more).log_softmax(1)
            each = -(wanted * logp).sum(1)
            if recipe["sure"]:
                each = each * (wanted.amax(1) > recipe["sure"])
            loss = loss + recipe["text"] * each.mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*slow, *fast], 1.0)
        optimizer.step()
        if average is not None:
            rate = min(recipe["ema"], (step + 1) / (step + 10))
            with torch.no_grad():
                torch._foreach_lerp_(average, [one.data for one in (*slow, *fast)], 1 - rate)
    if average is not None:
        for one, mean in zip((*slow, *fast), average, strict=True):
            one.data = mean
    if recipe["alpha"] != 1:
        for one, old in zip((*slow, *fast), before, strict=True):
            one.data = torch.lerp(old, one.data, recipe["alpha"])
    student.train(False)
    return n_steps


def contrastive(x, tags, most=512, temperature=0.1):
    """Words with the same tag are to be near each other, by cosine; O words as many as others."""
    others = (tags == 0).nonzero()[:, 0]
    mentions = (tags > 0).nonzero()[:most, 0]
    chosen = torch.cat((mentions, others[torch.randperm(len(others), device=x.device)[: max(16, len(mentions))]]))
    z, own = functional.normalize(x[chosen], dim=1), tags[chosen]
    near = (z @ z.T / temperature).fill_diagonal_(-1e9)
    same = (own[:, None] == own) & ~torch.eye(len(own), dtype=torch.bool, device=x.device)
    logp = near - near.logsumexp(1, keepdim=True)
    return -((logp * same).sum(1) / same.sum(1).clamp(min=1)).mean()


def tuned_by(recipe, base, graph, head, types, device, rows, text_rows, teacher, text, student=None):
    is_second = student is not None or (recipe["noisy"] and getattr(teacher, "is_tuned", False))
    own = recipe if is_second or not recipe["noisy"] else recipe | {"text": 0.0}
    targets = soft_targets(teacher, text, teacher.encoder, recipe["scale"]) if own["text"] else None
    found = []
    for seed in range(recipe["seeds"]):
        one = student or Student(base, graph, head, types, recipe, device, seed)
        steps = train(one, rows, text_rows, targets, own, seed)
        found.append(one)
    first = found[0]
    if len(found) > 1:
        with torch.no_grad():
            for several in zip(*([*a, *b] for a, b in (one.parameters() for one in found)), strict=True):
                several[0].copy_(torch.stack([each.data for each in several]).mean(0))
    return first, steps


def soft_targets(tagger, sentences, encoder, scale):
    """Return the tagger's belief of each word: a softmax of its logits at the scale that its calibration has."""
    model = tagger.model_
    features = encoder.encode(sentences)
    n_words = [len(s.words) for s in sentences]
    logits = model.logits(features)
    _, tags = model.tag(features, n_words)
    by = model.calibration.by_logit * scale
    z = by * logits
    p = np.exp(z - z.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    # Viterbi's choice of tag gets the largest share.
    best = p.argmax(1)
    differs = best != tags
    rows = np.flatnonzero(differs)
    p[rows, best[rows]], p[rows, tags[rows]] = p[rows, tags[rows]].copy(), p[rows, best[rows]].copy()
    return p.astype(np.float32)


def f1_of(tagger, scored):
    found = tagger.predict_sentences([s.without_labels() for s in scored])
    return 100 * score(scored, found).micro.f1


def head_f1(student, base, scored, types):
    from handful.text import Sentence, Span

    rows = lay_out_corpus(scored, [0] * sum(len(s.words) for s in scored), base.tokenizer, base.window)
    tags = []
    with torch.no_grad():
        for i in range(0, len(rows), 64):
            batch = on_device(collate(rows, np.arange(i, min(i + 64, len(rows)))), student.device)
            tags.append(student.logits(batch).argmax(1).cpu().numpy())
    tags, found, at = np.concatenate(tags), [], 0
    for s in scored:
        own, spans, i = tags[at : at + len(s.words)], [], 0
        at += len(s.words)
        while i < len(own):
            j = i + 1
            while j < len(own) and own[j] == own[i]:
                j += 1
            if own[i]:
                spans.append(Span(i, j, types[own[i] - 1]))
            i = j
        found.append(Sentence(s.words, tuple(spans)))
    return 100 * score(scored, found).micro.f1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--shots", default="20,100")
    parser.add_argument("--sets", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="the first set")
    parser.add_argument("--on", default="dev")
    parser.add_argument("--recipes", default=",".join(RECIPES))
    parser.add_argument("--own", default="{}", help="more recipes, JSON")
    parser.add_argument("--text", type=int, default=5000, help="unlabelled sentences")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args()
    recipes = RECIPES | json.loads(given.own)
    device = torch.device(given.device)
    base = load("handful-en")
    folder = EMBEDDED["handful-en"]
    graph = read_graph(folder / "model.onnx")
    thaw(graph)
    head = NameHead.load(folder / "names.safetensors", base.dim)
    plain_net = GraphNetwork(graph).to(device)
    shots = [int(n) for n in given.shots.split(",")]
    for path in given.targets:
        settings = Settings(shots=shots, sets=given.sets, on=given.on, fewer=True, most_words=120_000)
        task = make_task(read_target(path), settings)
        types = tuple(sorted(task.types, key=lambda one: one.name))
        names = [one.name for one in types]
        text = [s.without_labels() for s in task.text("all")][: given.text]
        for n in shots:
            for support in task.supports[n][given.first :]:
                row = {"target": task.name, "shots": n, "set": support.name, "sentences": len(support.sentences)}
                encoder = encoder_of(base, plain_net, head, device)
                start = time.time()
                teacher = Tagger(encoder, types=types, cache=False).fit(support.sentences, text)
                before = f1_of(teacher, task.scored)
                write(given.out, row | {"recipe": "untuned", "f1": before, "seconds": time.time() - start})
                rows = lay_out_corpus(support.sentences, io_tags(support.sentences, names), base.tokenizer, base.window)
                text_rows = lay_out_corpus(text, [0] * sum(len(s.words) for s in text), base.tokenizer, base.window)
                for name in given.recipes.split(","):
                    try:
                        recipe = BASE | recipes[name]
                        print(name, flush=True)
                        start = time.time()
                        student, steps = tuned_by(
                            recipe, base, graph, head, types, device, rows, text_rows, teacher, text
                        )
                        seconds = time.time() - start
                        if recipe["noisy"]:
                            first = encoder_of(base, student.net, student.names.trained(), device)
                            second = Tagger(first, types=types, cache=False).fit(support.sentences, text)
                            second.is_tuned = True
                            student, steps = tuned_by(
                                recipe, base, graph, head, types, device, rows, text_rows, second, text,
                                student if recipe["noisy"] == "on" else None)  # fmt: skip
                        f1s = {}
                        if recipe["head"] == "free":
                            f1s["head"] = head_f1(student, base, task.scored, names)
                        elif recipe["head"] == "contrast":
                            tuned = encoder_of(base, student.net, None, device)
                            f1s["head"] = f1_of(make_baseline("regression", tuned).fit(support.sentences), task.scored)
                        else:
                            tuned = encoder_of(base, student.net, student.names.trained(), device)
                            f1s["all"] = f1_of(
                                Tagger(tuned, types=types, cache=False).fit(support.sentences, text), task.scored
                            )
                        write(given.out, row | {"recipe": name, "steps": steps, "seconds": seconds, **f1s})
                        del student
                    except Exception:
                        traceback.print_exc()


def write(out, row):
    print(json.dumps({k: round(v, 1) if isinstance(v, float) else v for k, v in row.items()}), flush=True)
    with out.open("a") as file:
        file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
