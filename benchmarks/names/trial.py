"""Trials of recipes for an encoder that reads the descriptions of types; their figures are in trials.md.

    python benchmarks/names/trial.py prepare --data DATA --out DIR --base FOLDER    corpora to arrays
    python benchmarks/names/trial.py pieces --out DIR --base FOLDER                 weights of the base to arrays
    python benchmarks/names/trial.py similarities --dir DIR --base FOLDER           which types may mean the same
    python benchmarks/names/trial.py check --dir DIR --base FOLDER                  this encoder against transformers'
    python benchmarks/names/trial.py work --dir DIR --queue DIR                     train the recipes of a queue
    python benchmarks/names/trial.py export --dir DIR --base FOLDER --out DIR       a folder that handful reads

DATA has the source corpora, `mosaic` (train and dev) and the target corpora, each in a folder of its name; BASE is
all-mpnet-base-v2 in the Hugging Face layout. A queue is a folder of JSON files, each with what differs from `RECIPE`;
a file `stop` in it ends the work when all are done. The script is made for trying out many recipes in little time, and
knows MPNet alone. The recipe that came out of it is that of `handful pretrain`.

A step is one packed block of R rows x 256 tokens: sentences of several corpora and the texts of all their types lie in
it one behind the other, attention is kept inside each, and positions start anew. So every step has the same shape, is
one CUDA graph, and nothing is spent on padding. Word vectors x, type vectors n_t = W mean(h) + b; each word sees the
columns of its own corpus.

    s_t(x) = <x, n_t> - 1/2 |n_t|^2 + beta        s_O(x) = log sum_j exp(<x, o_j + d_c> - 1/2 |o_j + d_c|^2)
"""

import argparse
import json
import math
import os
import queue
import random
import re
import sys
import threading
import time
import zlib
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

LENGTH = 256  # tokens in a packed row
SHOTS, SUPPORTS = (1, 5), 5
TARGETS = ("wnut17", "btc", "bc5cdr", "ncbi_disease", "sec_filings")
LAMBDAS = (0.03, 0.1, 0.3, 1.0)  # weights of labels beside names
STRIDE, N_SHAPES, DIM, HEADS = 30527, 9, 768, 12

# Data, made once

KINDS = ("source", "mosaic")  # of corpora that are trained on

ABBREVIATIONS = {
    "per": "person",
    "loc": "location",
    "org": "organization",
    "misc": "miscellaneous",
    "gpe": "geopolitical entity",
    "fac": "facility",
    "veh": "vehicle",
    "prod": "product",
    "corp": "corporation",
    "grp": "group",
    "lang": "language",
    "qty": "quantity",
    "geo": "geographical place",
    "comp": "company",
    "exec": "executive",
}


def readable(label):
    """TOOL -> tool, creative-work -> creative work, ORG -> organization."""
    words = (
        re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label).replace("_", " ").replace("-", " ").replace("/", " ").lower().split()
    )
    return " ".join(ABBREVIATIONS.get(word, word) for word in words)


def read_corpus(paths, types=None):
    """Return the types (label, name, description), those of the files' heads if not given, and the sentences."""
    from handful.text import read

    files = [read(path) for path in paths]
    if types is None:
        types = [(one.name, readable(one.name), one.description) for one in files[0].types]
    known = [label for label, _, _ in types]
    sentences = [
        (s.words, [(span.start, span.end, known.index(span.type)) for span in s.spans]) for file in files for s in file
    ]
    return types, sentences


def read_descriptions(path):
    """Read `source_types.txt`: {corpus: [(label, name, description)]}."""
    found, section = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            left, _, description = line.partition(": ")
            label, _, name = left.partition(" = ")
            section.append((label, name or readable(label), description))
    return found


def draw_support(sentences, numbers, n_types, shots, seed):
    """Draw sentences, rare types first, until each type has `shots` mentions, or as many as there are."""
    rng = random.Random(seed)
    counts = Counter(t for i in numbers for _, _, t in sentences[i][1])
    have, drawn = Counter(), []
    for t in sorted(range(n_types), key=lambda t: (counts[t], t)):
        pool = [i for i in numbers if i not in drawn and any(s[2] == t for s in sentences[i][1])]
        rng.shuffle(pool)
        while have[t] < shots and pool:
            drawn.append(pool.pop())
            have.update(s[2] for s in sentences[drawn[-1]][1])
    return drawn


def prepare(args):
    from handful.encoders.pooling import lay_out
    from handful.encoders.seen import SEEN, write_seen
    from handful.encoders.tokenizer import WordTokenizer
    from handful.text import to_sentence

    data, out, base = Path(args.data), Path(args.out), Path(args.base)
    out.mkdir(parents=True, exist_ok=True)
    text = (base / "tokenizer.json").read_text(encoding="utf-8")
    tokenizer = WordTokenizer.from_json(text, pad_id=1, unknown_id=104, shape_stride=STRIDE)
    corpora = []  # name, kind, weight, o_weight, types, sentences

    def files(folder, *parts):
        return [p for part in parts if (p := data / folder / f"{part}.txt").exists()]

    described = read_descriptions(Path(__file__).with_name("source_types.txt"))
    for name, types in described.items():
        paths = files("fewnerd_inter", name[8:]) if name.startswith("fewnerd_") else files(name, "train", "dev", "test")
        corpora.append(
            (
                name,
                "source",
                0.5 if name == "craft" else 1.0,
                0.3 if name.startswith("fewnerd") else 1.0,
                *read_corpus(paths, types),
            )
        )
    for path in sorted((data / "mosaic/train").iterdir()):
        corpora.append((path.stem, "mosaic", 1.0, 1.0, *read_corpus([path])))
    for path in sorted((data / "mosaic/dev").iterdir()):
        corpora.append((path.stem, "mosaic_dev", 0.0, 1.0, *read_corpus([path])))
    for name in TARGETS:
        types = []
        for line in (data / name / "types.txt").read_text(encoding="utf-8").splitlines():
            label, _, description = line.partition(": ")
            types.append((label, readable(label), description))
        paths = files(name, "train" if name == "sec_filings" else "dev")
        corpora.append((name, "target", 0.0, 1.0, *read_corpus(paths, types)))
    if args.small:
        corpora = [
            (*c[:5], c[5][: args.small]) for c in corpora if c[1] != "mosaic" or zlib.crc32(c[0].encode()) % 40 == 0
        ]

    trained_on = (words for _, kind, *_, sentences in corpora if kind in KINDS for words, _ in sentences)
    write_seen(out / SEEN, trained_on)

    # Words that are O wherever they stand: safe as counterexamples of any type.
    seen, marked = Counter(), Counter()
    for _, kind, *_, sentences in corpora:
        if kind in KINDS:
            for words, spans in sentences:
                inside = {i for a, b, _ in spans for i in range(a, b)}
                seen.update(w.lower() for w in words)
                marked.update(words[i].lower() for i in inside)
    safe = {w for w, n in seen.items() if n >= 100 and marked[w] <= 0.03 * n}

    ids, row_ends, row_corpus, row_sentence, word_ends = [], [], [], [], []
    first, last, tags, begins, safes = [], [], [], [], []
    meta, texts, text_ends, n_types, n_split, number = [], [], [], 0, 0, 0
    for c, (name, kind, weight, o_weight, types, sentences) in enumerate(corpora):
        start = number
        for words, spans in sentences:
            tag, begin = [0] * len(words), [0] * len(words)
            for a, b, t in spans:
                tag[a:b] = [t + 1] * (b - a)
                begin[a] = 1
            subwords = [w if len(w) <= 48 else w[:24] + w[-24:] for w in tokenizer(words)]
            pieces = list(lay_out(subwords, tokenizer, window=LENGTH, pooling="first-last"))
            n_split += len(pieces) > 1
            for piece in pieces:
                if piece.is_open:
                    sys.exit(f"{name}: a word longer than the window")
                ids += piece.ids
                row_ends.append(len(ids))
                row_corpus.append(c)
                row_sentence.append(number)
                first += piece.positions[::2]
                last += piece.positions[1::2]
                word_ends.append(len(first))
            tags += tag
            begins += begin
            safes += [w.lower() in safe for w in words]
            number += 1
        entry = {
            "name": name,
            "kind": kind,
            "weight": weight,
            "o_weight": o_weight,
            "first_type": n_types,
            "types": [list(t) for t in types],
            "sentences": [start, number],
        }
        for _, called, description in types:
            for variant in (f"{called}: {description}", called, description):
                (piece,) = lay_out(
                    tokenizer(to_sentence(variant).words), tokenizer, window=LENGTH, pooling="first-last"
                )
                texts += piece.ids
                text_ends.append(len(texts))
            n_types += 1
        if kind in ("mosaic_dev", "target"):
            order = list(range(len(sentences)))
            random.Random(7).shuffle(order)
            half = sorted(order[: len(order) // 2])
            entry["scored"] = sorted(order[len(order) // 2 :])
            entry["supports"] = {
                str(k): [draw_support(sentences, half, len(types), k, 100 * k + s) for s in range(SUPPORTS)]
                for k in SHOTS
            }
        meta.append(entry)
    np.savez_compressed(
        out / "data.npz",
        ids=np.array(ids, np.int32),
        row_ends=np.array(row_ends, np.int32),
        row_corpus=np.array(row_corpus, np.int16),
        row_sentence=np.array(row_sentence, np.int32),
        word_ends=np.array(word_ends, np.int32),
        first=np.array(first, np.uint8),
        last=np.array(last, np.uint8),
        tags=np.array(tags, np.uint8),
        begins=np.array(begins, bool),
        safe=np.array(safes, bool),
        texts=np.array(texts, np.int32),
        text_ends=np.array(text_ends, np.int32),
    )
    (out / "meta.json").write_text(json.dumps({"corpora": meta}), encoding="utf-8")
    kinds = Counter()
    for e in meta:
        kinds[e["kind"]] += 1
    print(
        dict(kinds),
        f"{n_types} types, {number} sentences ({n_split} split), {len(tags)} words, {len(ids)} tokens",
        f"{len(safe)} safe O words",
    )


def pieces_of_base(args):
    """Write the first 8 layers of the base as float16 files, in parts."""
    from safetensors.numpy import load_file

    out = Path(args.out)
    tensors = {k: v.astype(np.float16) for k, v in load_file(Path(args.base) / "model.safetensors").items()}
    for number, layers in enumerate(([0], [1, 2, 3], [4, 5, 6, 7])):
        part = {k: v for k, v in tensors.items() if any(k.startswith(f"encoder.layer.{n}.") for n in layers)}
        if number == 0:
            part |= {k: v for k, v in tensors.items() if k.startswith("embeddings.") or "relative" in k}
        part = {k: v for k, v in part.items() if "position_ids" not in k}
        (out / f"part{number}").mkdir(parents=True, exist_ok=True)
        np.savez(out / f"part{number}" / f"base{number}.npz", **part)


def similarities(args):
    """Write a vector for each type's text by the whole base, to tell which types may mean the same."""
    from transformers import AutoModel

    folder = Path(args.dir)
    arrays = np.load(folder / "data.npz")
    model = AutoModel.from_pretrained(args.base).eval()
    ends, texts = arrays["text_ends"][::1], arrays["texts"] % STRIDE
    starts = np.concatenate([[0], ends[:-1]])
    order = np.argsort(ends[::3] - starts[::3])
    vectors = np.zeros((len(order), DIM), np.float16)
    with torch.inference_mode():
        for i in range(0, len(order), 64):
            block = order[i : i + 64]
            longest = max(ends[3 * g] - starts[3 * g] for g in block)
            ids = torch.ones(len(block), longest, dtype=torch.long)
            for row, g in zip(ids, block, strict=True):
                row[: ends[3 * g] - starts[3 * g]] = torch.from_numpy(texts[starts[3 * g] : ends[3 * g]]).long()
            mask = (ids != 1).float()
            h = (model(input_ids=ids, attention_mask=mask.long()).last_hidden_state * mask[..., None]).sum(
                1
            ) / mask.sum(1, keepdim=True)
            vectors[block] = torch.nn.functional.normalize(h).numpy()
    np.save(folder / "type_vectors.npy", vectors)


class Data:
    """The prepared arrays."""

    def __init__(self, folder):
        arrays = np.load(folder / "data.npz")
        for key in arrays.files:
            setattr(self, key, arrays[key])
        self.corpora = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["corpora"]
        self.row_starts = np.concatenate([[0], self.row_ends[:-1]]).astype(np.int64)
        self.row_lengths = (self.row_ends - self.row_starts).astype(np.int64)
        self.word_starts = np.concatenate([[0], self.word_ends[:-1]]).astype(np.int64)
        self.word_counts = (self.word_ends - self.word_starts).astype(np.int64)
        self.text_starts = np.concatenate([[0], self.text_ends[:-1]]).astype(np.int64)
        self.text_lengths = (self.text_ends - self.text_starts).astype(np.int64)
        self.n_types = len(self.text_ends) // 3
        self.type_vectors = np.load(p) if (p := folder / "type_vectors.npy").exists() else None
        bounds = np.searchsorted(self.row_corpus, np.arange(len(self.corpora) + 1))
        self.rows_of = [np.arange(a, b) for a, b in pairwise(bounds)]


def ranges(starts, lengths):
    """Concatenate arange(start, start + length)."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1] if len(ends) else 0)


# Recipe

RECIPE = {
    "name": "base",
    "seed": 0,
    "layers": 7,
    "epochs": 3.0,
    "tokens": 4096,
    "chunk": 512,
    "lr": 1e-4,
    "head_lr": 1e-3,
    "name_lr": None,
    "warmup": 0.05,
    "dropout": 0.1,
    "n_mosaic": 395,
    "mosaic_weight": 1.0,
    "source_weight": 1.0,
    "variants": [1.0, 0.0, 0.0],
    "o_weight": 1.0,
    "hide": 0.0,
    "negatives": 0.0,
    "safe_o": False,
    "free": 0.0,
    "free_on": "source",
    "names": 1.0,
    "contrast": 0.0,
    "pool": "mean",
    "mlp": False,
    "smoothing": 0.0,
    "average": 0.0,
    "n_o": 8,
    "shift": True,
    "decay": 0.01,
    "save": False,
    "scale_types": "none",
    "drop_sources": [],
    "lower": 0.0,
    "floor": 0.0,
}


# The best of the trials (run "e-mlp-s1" with seed 1).
BEST = RECIPE | {
    "tokens": 8192,
    "lr": 1.4e-4,
    "variants": [0.5, 0.25, 0.25],
    "mosaic_weight": 4.0,
    "source_weight": 0.5,
    "contrast": 0.1,
    "negatives": 0.12,
    "safe_o": True,
    "mlp": True,
    "name_lr": 3e-4,
    "seed": 1,
}


# Batches


class Layout:
    """The fields of a step, all in one buffer of 32-bit numbers."""

    def __init__(self, tokens):
        self.tokens, self.words, self.columns, self.text = tokens, tokens, 320, tokens
        self.contrast = 1024
        sizes = {
            "ids": tokens,
            "pos": tokens,
            "seq": tokens,
            "first": self.words,
            "last": self.words,
            "target": self.words,
            "corpus": self.words,
            "safe": self.words,
            "sentence": self.words,
            "weight": self.words,
            "column_corpus": self.columns,
            "column_type": self.columns,
            "cls": self.columns,
            "text_at": self.text,
            "text_column": self.text,
            "text_share": self.text,
            "contrast": self.contrast,
            "n_words": 1,
        }
        self.slices, at = {}, 0
        for key, n in sizes.items():
            self.slices[key] = slice(at, at + n)
            at += n
        self.size = at

    def new(self):
        """Return an empty buffer, and its fields."""
        buffer = np.zeros(self.size, np.int32)
        return buffer, {
            key: buffer[part].view(np.float32) if key in ("weight", "text_share", "n_words") else buffer[part]
            for key, part in self.slices.items()
        }


def fit(lengths, n_rows, room=LENGTH):
    """First fit: an offset in the block for each item, -1 where it does not fit."""
    free = [room] * n_rows
    start, offsets = 0, []
    for n in lengths:
        for row in range(start, n_rows):
            if free[row] >= n:
                offsets.append(row * room + room - free[row])
                free[row] -= n
                break
        else:
            offsets.append(-1)
        while start < n_rows - 1 and free[start] < 4:
            start += 1
    return np.array(offsets, np.int64)


class Planner:
    """Steps of a training, in order; a pure function of the recipe."""

    def __init__(self, data, recipe):
        self.data, self.recipe = data, recipe
        self.layout = Layout(recipe["tokens"])
        mosaic = [c for c, e in enumerate(data.corpora) if e["kind"] == "mosaic"]
        random.Random(1).shuffle(mosaic)
        kept = set(mosaic[: recipe["n_mosaic"]])
        self.shares = [
            e["weight"] * recipe["source_weight"]
            if e["kind"] == "source" and e["name"] not in recipe["drop_sources"]
            else e["weight"] * recipe["mosaic_weight"]
            if c in kept
            else 0.0
            for c, e in enumerate(data.corpora)
        ]
        self.dropped = 0
        words = sum(s * data.word_counts[rows].sum() for s, rows in zip(self.shares, data.rows_of, strict=True))
        self.n_words = recipe["epochs"] * words

    def chunks(self, epoch, part):
        """Return (corpus, rows) of an epoch (or its first part), shuffled; rows of one corpus, about `chunk` tokens."""
        found = []
        for c, (share, rows) in enumerate(zip(self.shares, self.data.rows_of, strict=True)):
            n = len(rows)
            begin, end = (math.floor(i * share * n + 0.5) for i in (epoch, epoch + part))
            orders = range(begin // max(n, 1), -(-end // max(n, 1)))
            if not share or end <= begin:
                continue
            drawn = np.concatenate(
                [np.random.default_rng([self.recipe["seed"], 0, c, o]).permutation(n) for o in orders]
            )
            taken = rows[drawn[begin - orders[0] * n : end - orders[0] * n]]
            total = np.cumsum(self.data.row_lengths[taken])
            n_chunks = max(1, round(total[-1] / self.recipe["chunk"]))
            cuts = np.searchsorted(total, total[-1] * np.arange(1, n_chunks) / n_chunks)
            found += [(c, block) for block in np.split(taken, cuts) if len(block)]
        order = np.random.default_rng([self.recipe["seed"], 1, epoch]).permutation(len(found))
        return [found[i] for i in order]

    def steps(self):
        """Yield (progress from 0 to 1, buffer) of each step."""
        done = 0
        waiting = []
        for epoch in range(math.ceil(self.recipe["epochs"])):
            part = min(1.0, self.recipe["epochs"] - epoch)
            rng = np.random.default_rng([self.recipe["seed"], 2, epoch])
            chosen, tokens = {}, 0
            for c, rows in self.chunks(epoch, part):
                texts = {} if c in chosen else self._texts(c, rng)
                more = self.data.row_lengths[rows].sum() + sum(self.data.text_lengths[t] for t in texts.values())
                n_columns = sum(len(v) for v in chosen.values()) + len(texts)
                if waiting and (tokens + more > 0.975 * self.layout.tokens or n_columns > self.layout.columns):
                    buffer, n = self._build(waiting, chosen, rng)
                    yield done / self.n_words, buffer
                    done += n
                    waiting, chosen, tokens = [], {}, 0
                    texts = texts or self._texts(c, rng)
                    more = self.data.row_lengths[rows].sum() + sum(self.data.text_lengths[t] for t in texts.values())
                chosen.setdefault(c, texts)
                waiting.append((c, rows))
                tokens += more
            if waiting:
                buffer, n = self._build(waiting, chosen, rng)
                yield min(1.0, done / self.n_words), buffer
                done += n
                waiting = []

    def _texts(self, c, rng):
        """Choose the types asked for, and a text for each: {type: number of the text}."""
        entry = self.data.corpora[c]
        n = len(entry["types"])
        kept = np.flatnonzero(rng.random(n) >= self.recipe["hide"]) if self.recipe["hide"] else np.arange(n)
        if not len(kept):
            kept = rng.integers(n, size=1)
        variants = rng.choice(3, size=len(kept), p=self.recipe["variants"])
        types = [entry["first_type"] + int(k) for k in kept]
        return {g: 3 * g + int(v) for g, v in zip(types, variants, strict=True)}

    def _build(self, chunks, chosen, rng):
        data, layout, recipe = self.data, self.layout, self.recipe
        types = [(c, g, t) for c, found in chosen.items() for g, t in found.items()]
        text = np.array([t for _, _, t in types])
        rows = np.concatenate([r for _, r in chunks])
        rows = rows[np.argsort(-data.row_lengths[rows], kind="stable")]
        lengths = np.concatenate([data.text_lengths[text], data.row_lengths[rows]])
        offsets = fit(lengths.tolist(), layout.tokens // LENGTH)
        k = len(text)
        fits = offsets[k:] >= 0
        self.dropped += int((~fits).sum())
        rows, at = rows[fits], offsets[k:][fits]
        lengths = np.concatenate([data.text_lengths[text], data.row_lengths[rows]])
        offsets = np.concatenate([offsets[:k], at])
        buffer, f = layout.new()
        f["ids"][:] = 1
        f["seq"][:] = -1
        place = ranges(offsets, lengths)
        f["ids"][place] = np.concatenate(
            [
                data.texts[ranges(data.text_starts[text], data.text_lengths[text])],
                data.ids[ranges(data.row_starts[rows], data.row_lengths[rows])],
            ]
        )
        f["pos"][place] = ranges(np.zeros(len(lengths), np.int64), lengths)
        f["seq"][place] = np.repeat(np.arange(len(lengths)), lengths)
        # types: the mean is over the sub-words without the special ones
        inner = data.text_lengths[text] - 2
        n = int(inner.sum())
        f["text_at"][:n] = ranges(offsets[:k] + 1, inner)
        f["text_column"][:] = layout.columns
        f["text_column"][:n] = np.repeat(np.arange(k), inner)
        f["text_share"][:n] = np.repeat(1 / inner, inner)
        f["cls"][:k] = offsets[:k]
        f["column_corpus"][:] = -1
        f["column_corpus"][:k] = [c for c, _, _ in types]
        f["column_type"][:k] = [g for _, g, _ in types]
        # words
        counts = data.word_counts[rows]
        word = ranges(data.word_starts[rows], counts)
        n = len(word)
        shift = np.repeat(at, counts)
        f["first"][:n] = data.first[word] + shift
        f["last"][:n] = data.last[word] + shift
        corpus = np.repeat(data.row_corpus[rows].astype(np.int64), counts)
        tags = data.tags[word].astype(np.int64)
        first_type = np.array([e["first_type"] for e in data.corpora])
        column_of = np.full(data.n_types + 1, -1)
        column_of[[g for _, g, _ in types]] = np.arange(k)
        column = np.where(
            tags > 0, column_of[np.where(tags > 0, first_type[corpus] + tags - 1, data.n_types)], layout.columns
        )
        o_weights = np.array([e["o_weight"] for e in data.corpora]) * recipe["o_weight"]
        weight = np.where(tags > 0, 1.0, o_weights[corpus])
        weight[column < 0] = 0.0  # a hidden type: neither it nor O is right
        f["target"][:] = layout.columns
        f["target"][:n] = np.where(column < 0, layout.columns, column)
        f["corpus"][:n] = corpus
        f["safe"][:n] = data.safe[word]
        f["sentence"][:n] = np.repeat(data.row_sentence[rows], counts)
        f["weight"][:n] = weight
        f["n_words"][:] = n
        mentions, others = np.flatnonzero((tags > 0) & (weight > 0)), np.flatnonzero(tags == 0)
        m = min(len(mentions), layout.contrast * 3 // 4)
        picked = np.concatenate([rng.permutation(mentions)[:m], rng.permutation(others)[: layout.contrast - m]])
        f["contrast"][: len(picked)] = picked
        f["contrast"][len(picked) :] = picked[0] if len(picked) else 0
        return buffer, n


def ahead(steps, depth=24):
    """Make steps in a thread of its own."""
    waiting = queue.Queue(depth)

    def make():
        try:
            for step in steps:
                waiting.put(step)
            waiting.put(None)
        except BaseException as error:
            waiting.put(error)

    threading.Thread(target=make, daemon=True).start()
    while (step := waiting.get()) is not None:
        if isinstance(step, BaseException):
            raise step
        yield step


# Network


class Layer(nn.Module):
    """A layer of MPNet."""

    def __init__(self, dropout):
        super().__init__()
        self.p = dropout
        for name in ("q", "k", "v", "o"):
            setattr(self, name, nn.Linear(DIM, DIM))
        self.norm1, self.norm2 = nn.LayerNorm(DIM, eps=1e-5), nn.LayerNorm(DIM, eps=1e-5)
        self.up, self.down = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)

    def forward(self, h, bias):
        """Return the next (rows, length, dim); `bias` is added to the scores of attention."""
        rows, length, _ = h.shape
        p = self.p if self.training else 0.0
        weight = torch.cat([self.q.weight, self.k.weight, self.v.weight])
        qkv = functional.linear(h, weight, torch.cat([self.q.bias, self.k.bias, self.v.bias]))
        q, k, v = qkv.view(rows, length, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        a = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=p)
        a = self.o(a.transpose(1, 2).reshape(rows, length, DIM))
        h = self.norm1(functional.dropout(a, p, self.training) + h)
        return self.norm2(functional.dropout(self.down(functional.gelu(self.up(h))), p, self.training) + h)


# Names in the layer here and in a Hugging Face file.
_NAMES = {
    "attention.attn.q": "q",
    "attention.attn.k": "k",
    "attention.attn.v": "v",
    "attention.attn.o": "o",
    "attention.LayerNorm": "norm1",
    "intermediate.dense": "up",
    "output.dense": "down",
    "output.LayerNorm": "norm2",
}


def buckets(length):
    """MPNet's bucket of the distance between two positions, (length, length)."""
    n = torch.arange(length)[:, None] - torch.arange(length)[None, :]
    bucket = (n < 0).long() * 16
    n = n.abs()
    large = 8 + (torch.log(n.float() / 8) / math.log(128 / 8) * 8).long()
    return bucket + torch.where(n < 8, n, large.clamp(max=15))


class Encoder(nn.Module):
    """MPNet's first layers on packed rows; the table of relative positions stays as it is."""

    def __init__(self, tensors, layers, dropout):
        super().__init__()
        self.p = dropout
        self.words = nn.Parameter(torch.empty(STRIDE, DIM))
        self.shapes = nn.Parameter(torch.zeros(N_SHAPES, DIM))
        self.positions = nn.Parameter(torch.empty(514, DIM))
        self.norm = nn.LayerNorm(DIM, eps=1e-5)
        self.layers = nn.ModuleList(Layer(dropout) for _ in range(layers))
        self.register_buffer("relative", torch.empty(32, HEADS))
        self.register_buffer("bucket", buckets(LENGTH), persistent=False)
        with torch.no_grad():
            for mine, theirs in self.names().items():
                if theirs in tensors:
                    self.state_dict(keep_vars=True)[mine].copy_(
                        torch.from_numpy(np.asarray(tensors[theirs], np.float32))
                    )
                elif mine != "shapes":
                    raise KeyError(theirs)

    def names(self):
        """{name here: name in a Hugging Face file}."""
        found = {
            "words": "embeddings.word_embeddings.weight",
            "positions": "embeddings.position_embeddings.weight",
            "norm.weight": "embeddings.LayerNorm.weight",
            "norm.bias": "embeddings.LayerNorm.bias",
            "relative": "encoder.relative_attention_bias.weight",
            "shapes": "word_shapes",
        }
        for i in range(len(self.layers)):
            for theirs, mine in _NAMES.items():
                for part in ("weight", "bias"):
                    found[f"layers.{i}.{mine}.{part}"] = f"encoder.layer.{i}.{theirs}.{part}"
        return found

    def forward(self, ids, pos, seq):
        """Return (tokens, dim) of flat arrays (tokens,), whose length is a multiple of LENGTH."""
        h = self.words.index_select(0, ids % STRIDE) + self.shapes.index_select(0, ids // STRIDE)
        h = h + self.positions.index_select(0, pos + 2)
        h = functional.dropout(self.norm(h), self.p, self.training).view(-1, LENGTH, DIM)
        seq = seq.view(-1, LENGTH)
        same = (seq[:, :, None] == seq[:, None, :])[:, None]
        bias = torch.where(same, self.relative[self.bucket].permute(2, 0, 1).contiguous()[None], -1e4).contiguous()
        bias = bias.to(torch.bfloat16 if h.is_cuda else h.dtype)
        for layer in self.layers:
            h = layer(h, bias)
        return h.flatten(0, 1).float()


def lse(x, mask):
    return torch.where(mask, x, -1e9).logsumexp(1)


class Network(nn.Module):
    """The encoder with its heads."""

    def __init__(self, encoder, data, recipe, layout):
        super().__init__()
        self.recipe, self.layout = recipe, layout
        self.encoder = encoder
        g = torch.Generator().manual_seed(recipe["seed"])
        self.name = nn.Linear(DIM, DIM)
        with torch.no_grad():
            self.name.weight.copy_(torch.eye(DIM))
            self.name.bias.zero_()
        self.mlp = nn.Sequential(nn.Linear(DIM, DIM), nn.GELU(), nn.Linear(DIM, DIM)) if recipe["mlp"] else None
        if self.mlp is not None:
            nn.init.zeros_(self.mlp[2].weight)
            nn.init.zeros_(self.mlp[2].bias)
        self.beta = nn.Parameter(torch.zeros(()))
        self.o = nn.Parameter(torch.randn(recipe["n_o"], DIM, generator=g) * 0.02)
        self.shift = nn.Parameter(torch.zeros(len(data.corpora), DIM))
        self.query = nn.Parameter(torch.zeros(DIM))
        self.log_scale = nn.Parameter(torch.zeros(()))
        self.contrast_scale = nn.Parameter(torch.tensor(-2.0))
        if recipe["free"]:
            self.free = nn.Parameter(torch.randn(data.n_types, DIM, generator=g) * 0.02)
            self.free_o = nn.Parameter(torch.randn(len(data.corpora), DIM, generator=g) * 0.02)
        is_source = torch.tensor([e["kind"] == "source" or recipe["free_on"] == "all" for e in data.corpora])
        self.register_buffer("is_source", is_source.float(), persistent=False)
        if recipe["negatives"]:
            v = torch.from_numpy(data.type_vectors.astype(np.float32))
            self.register_buffer("apart", v @ v.T < recipe["negatives"], persistent=False)

    def type_vectors(self, h, at, column, share, cls, n):
        """Return the vectors of n types from those of the tokens of their texts."""
        if self.recipe["pool"] == "cls":
            raw = h.index_select(0, cls)
        else:
            v = h.index_select(0, at)
            if self.recipe["pool"] == "attention":
                score = (v @ self.query).clamp(-20, 20).exp() * (share > 0)
                total = torch.zeros(n + 1, device=h.device).index_add(0, column, score)
                share = score / total[column.long()].clamp(min=1e-6)
            raw = torch.zeros(n + 1, DIM, device=h.device).index_add(0, column, v * share[:, None])[:n]
        found = self.name(raw)
        if self.mlp is not None:
            found = found + self.mlp(raw)
        if self.recipe["scale_types"] == "learned":
            found = found * self.log_scale.exp()
        return found

    def o_logits(self, x, shift=None):
        """Return the log-sum over the prototypes of O; `shift` has one row per word."""
        if shift is None:
            return (x @ self.o.T - 0.5 * self.o.square().sum(1)).logsumexp(1)
        inner = x @ self.o.T + (x * shift).sum(1, keepdim=True)
        norms = self.o.square().sum(1) + 2 * shift @ self.o.T + shift.square().sum(1, keepdim=True)
        return (inner - 0.5 * norms).logsumexp(1)

    def type_logits(self, x, n):
        """Return the scores of words for types."""
        return x @ n.T - 0.5 * n.square().sum(1) + self.beta

    def loss(self, f):
        """Return the loss of a step."""
        recipe, k = self.recipe, self.layout.columns
        h = self.encode(f["ids"], f["pos"], f["seq"])
        x = 0.5 * (h.index_select(0, f["first"]) + h.index_select(0, f["last"]))
        own = f["column_corpus"][None, :] == f["corpus"][:, None]
        target, weight = f["target"].long(), f["weight"]
        total = torch.zeros((), device=h.device)
        if recipe["names"]:
            n = self.type_vectors(h, f["text_at"], f["text_column"], f["text_share"], f["cls"], k)
            seen = own
            if recipe["negatives"]:
                columns = f["column_type"].long()
                apart = torch.cat(
                    [self.apart[columns][:, columns], torch.zeros(1, k, dtype=torch.bool, device=h.device)]
                )
                real = (f["column_corpus"] >= 0)[None, :]
                seen = own | (apart[target] & real)
                if recipe["safe_o"]:
                    seen = seen | ((f["safe"] > 0) & (target == k))[:, None] & real
            s = torch.where(seen, self.type_logits(x, n), -1e9)
            o = self.o_logits(x, self.shift.index_select(0, f["corpus"]) if recipe["shift"] else None)
            s = torch.cat([s, o[:, None]], 1)
            loss = functional.cross_entropy(s, target, reduction="none")
            if recipe["smoothing"]:
                spread = s.logsumexp(1) - torch.where(s > -1e8, s, 0.0).sum(1) / (s > -1e8).sum(1)
                loss = (1 - recipe["smoothing"]) * loss + recipe["smoothing"] * spread
            total = total + recipe["names"] * (loss * weight).sum() / f["n_words"][0]
        if recipe["free"]:
            c = self.free.index_select(0, f["column_type"])
            s = torch.where(own, x @ c.T - 0.5 * c.square().sum(1), -1e9)
            o = self.free_o.index_select(0, f["corpus"])
            s = torch.cat([s, ((x * o).sum(1) - 0.5 * o.square().sum(1))[:, None]], 1)
            loss = (
                functional.cross_entropy(s, target, reduction="none")
                * weight
                * self.is_source.index_select(0, f["corpus"])
            )
            total = total + recipe["free"] * loss.sum() / f["n_words"][0]
        if recipe["contrast"]:
            z = x.index_select(0, f["contrast"])
            tag, corpus, sentence = (f[key].index_select(0, f["contrast"]) for key in ("target", "corpus", "sentence"))
            live = weight.index_select(0, f["contrast"]) > 0
            square = z.square().sum(1)
            d = self.contrast_scale.exp() * (z @ z.T - 0.5 * square[:, None] - 0.5 * square[None, :])
            others = (corpus[:, None] == corpus[None, :]) & (sentence[:, None] != sentence[None, :]) & live[None, :]
            alike = others & (tag[:, None] == tag[None, :])
            has = alike.any(1) & live
            loss = (lse(d, others) - lse(d, alike)) * has
            total = total + recipe["contrast"] * loss.sum() / has.sum().clamp(min=1)
        return total

    def encode(self, ids, pos, seq):
        """Return the vectors of all tokens, on a GPU computed in bfloat16."""
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=ids.is_cuda, cache_enabled=False):
            return self.encoder(ids, pos, seq)


# Training


def groups_of(network, recipe, device):
    head = [p for n, p in network.named_parameters() if not n.startswith(("encoder.", "name.", "mlp."))]
    head.append(network.encoder.shapes)
    name = [p for n, p in network.named_parameters() if n.startswith(("name.", "mlp."))]
    old = [p for n, p in network.encoder.named_parameters() if n != "shapes"]
    groups = [
        {"params": [p for p in old if p.ndim > 1], "lr": recipe["lr"], "weight_decay": recipe["decay"]},
        {"params": [p for p in old if p.ndim <= 1], "lr": recipe["lr"], "weight_decay": 0.0},
        {"params": name, "lr": recipe["name_lr"] or recipe["lr"], "weight_decay": 0.0},
        {"params": head, "lr": recipe["head_lr"], "weight_decay": 0.0},
    ]
    rates = [g["lr"] for g in groups]
    for g in groups:
        g["lr"] = torch.tensor(g["lr"], device=device) if device.type == "cuda" else g["lr"]
    return groups, rates


class Step:
    """One step of training; on a GPU one CUDA graph."""

    def __init__(self, network, recipe, layout, device):
        self.device, self.layout, self.network = device, layout, network
        self.buffer = torch.zeros(layout.size, dtype=torch.int32, device=device)
        self.fields = {
            key: self.buffer[part].view(torch.float32)
            if key in ("weight", "text_share", "n_words")
            else self.buffer[part]
            for key, part in layout.slices.items()
        }
        groups, self.rates = groups_of(network, recipe, device)
        is_cuda = device.type == "cuda"
        self.optimizer = torch.optim.AdamW(groups, fused=is_cuda or None, capturable=is_cuda)
        self.parameters = list(network.parameters())
        self.total = torch.zeros((), device=device)
        self.graph = None

    def _once(self):
        self.optimizer.zero_grad(set_to_none=False)
        loss = self.network.loss(self.fields)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([p for p in self.parameters if p.grad is not None], 1.0)
        self.optimizer.step()
        self.total += loss.detach()

    def capture(self, buffer):
        """Record a step as a CUDA graph; weights and moments stay as they are."""
        self.buffer.copy_(torch.from_numpy(buffer))
        for g in self.optimizer.param_groups:
            g["lr"].fill_(0.0)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self._once()
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self._once()
        for state in self.optimizer.state.values():
            for value in state.values():
                value.zero_()
        self.total.zero_()

    def take(self, buffer, factor):
        """Take a step with a share of the full learning rate."""
        host = torch.from_numpy(buffer)
        if self.device.type == "cuda":
            if self.graph is None:
                self.capture(buffer)
            self.buffer.copy_(host.pin_memory(), non_blocking=True)
            for g, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
                g["lr"].fill_(rate * factor)
            self.graph.replay()
        else:
            self.buffer.copy_(host)
            for g, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
                g["lr"] = rate * factor
            self._once()


def train(data, base, recipe, device, say=print):
    planner = Planner(data, recipe)
    torch.manual_seed(recipe["seed"])
    network = (
        Network(Encoder(base, recipe["layers"], recipe["dropout"]), data, recipe, planner.layout).to(device).train()
    )
    step = Step(network, recipe, planner.layout, device)
    began, warm = time.time(), recipe["warmup"]
    averaged, n_averaged = None, 0
    n = 0
    for progress, buffer in ahead(planner.steps()):
        factor = (
            progress / warm
            if progress < warm
            else recipe["floor"] + (1 - recipe["floor"]) * (1 - progress) / (1 - warm)
        )
        step.take(buffer, max(factor, 1e-3))
        if n == 0:
            if device.type == "cuda":
                torch.cuda.synchronize()
            first = time.time()
        n += 1
        if recipe["average"] and progress >= 1 - recipe["average"] and n % 4 == 0:
            n_averaged += 1
            now = [p.detach() for p in network.parameters()]
            if averaged is None:
                averaged = [p.clone() for p in now]
            else:
                torch._foreach_lerp_(averaged, now, 1 / n_averaged)
        if n % 200 == 0:
            loss = float(step.total) / 200
            step.total.zero_()
            say(f"  {recipe['name']} step {n} {progress:.2f} loss {loss:.4f} {time.time() - began:.1f} s")
            if not math.isfinite(loss):
                break
    if device.type == "cuda":
        torch.cuda.synchronize()
    seconds = time.time() - began
    if averaged is not None:
        with torch.no_grad():
            for p, value in zip(network.parameters(), averaged, strict=True):
                p.copy_(value)
    figures = {
        "seconds": round(seconds, 1),
        "steps": n,
        "words_s": round(planner.n_words / seconds),
        "dropped": planner.dropped,
        "step_ms": round(1000 * (time.time() - first) / max(1, n - 1), 2),
        "beta": float(network.beta.detach()),
    }
    return network.eval(), figures


# Evaluation


@torch.inference_mode()
def encode_items(encode, ids, starts, lengths, device, tokens=32768):
    """Encode sequences; return (all tokens, dim) in their order, on the device."""
    order = np.argsort(-lengths, kind="stable")
    ends = np.cumsum(lengths)
    out = torch.empty(int(ends[-1]), DIM, device=device)
    done = 0
    while done < len(order):
        total = np.cumsum(lengths[order[done:]])
        take = max(1, int(np.searchsorted(total, 0.9 * tokens)))
        block = order[done : done + take]
        offsets = fit(lengths[block].tolist(), tokens // LENGTH)
        fits = offsets >= 0
        assert fits.all() or fits.sum() > 0
        left = block[~fits]
        block, offsets = block[fits], offsets[fits]
        order = np.concatenate([order[:done], block, left, order[done + take :]])
        done += len(block)
        place = ranges(offsets, lengths[block])
        f = np.full((3, tokens), -1, np.int64)
        f[0], f[1] = 1, 0
        f[0, place] = ids[ranges(starts[block], lengths[block])]
        f[1, place] = ranges(np.zeros(len(block), np.int64), lengths[block])
        f[2, place] = np.repeat(np.arange(len(block)), lengths[block])
        f = torch.from_numpy(f).to(device)
        h = encode(f[0], f[1], f[2])
        to = ranges((ends - lengths)[block], lengths[block])
        out[torch.from_numpy(to).to(device)] = h[torch.from_numpy(place).to(device)]
    return out


def spans_of(tags, sentence, begins=None):
    """Return runs of one tag as keys start * 2^40 + stop * 2^8 + tag."""
    change = np.ones(len(tags), bool)
    change[1:] = (tags[1:] != tags[:-1]) | (sentence[1:] != sentence[:-1])
    if begins is not None:
        change |= begins
    starts = np.flatnonzero(change)
    stops = np.append(starts[1:], len(tags))
    kept = tags[starts] > 0
    return (starts[kept].astype(np.int64) << 40) + (stops[kept].astype(np.int64) << 8) + tags[starts[kept]]


def f1(tags, gold_spans, sentence):
    found = spans_of(tags, sentence)
    hits = len(np.intersect1d(found, gold_spans, assume_unique=True))
    return 200 * hits / max(1, len(found) + len(gold_spans))


@torch.inference_mode()
def evaluate(network, data, device):
    """Return {corpus: figures} over mosaic/dev and the targets' halves."""
    results = {}
    tokens = 32768 if device.type == "cuda" else 1024
    for c, entry in enumerate(data.corpora):
        if entry["kind"] not in ("mosaic_dev", "target"):
            continue
        rows = data.rows_of[c]
        lengths = data.row_lengths[rows]
        small = (
            min(tokens, max(2048, -(-int(lengths.sum() * 1.15) // LENGTH) * LENGTH))
            if device.type == "cuda"
            else tokens
        )
        h = encode_items(network.encode, data.ids, data.row_starts[rows], lengths, device, small)
        word = ranges(data.word_starts[rows], data.word_counts[rows])
        shift = np.repeat(np.cumsum(lengths) - lengths, data.word_counts[rows])
        first, last = (torch.from_numpy(a[word] + shift).to(device) for a in (data.first, data.last))
        x = 0.5 * (h[first] + h[last])
        tags, begins = data.tags[word], data.begins[word]
        sentence = np.repeat(data.row_sentence[rows], data.word_counts[rows]) - entry["sentences"][0]
        n_types = len(entry["types"])
        # names
        text = 3 * entry["first_type"] + np.arange(3 * n_types)
        lengths = data.text_lengths[text]
        h = encode_items(
            network.encode,
            data.texts,
            data.text_starts[text],
            lengths,
            device,
            4096 if device.type == "cuda" else tokens,
        )
        ends = np.cumsum(lengths)
        inner = lengths - 2
        at = torch.from_numpy(ranges(ends - lengths + 1, inner)).to(device)
        column = torch.from_numpy(np.repeat(np.arange(3 * n_types), inner)).to(device)
        share = torch.from_numpy(np.repeat(1 / inner, inner).astype(np.float32)).to(device)
        n = network.type_vectors(h, at, column, share, torch.from_numpy(ends - lengths).to(device), 3 * n_types)
        s_o = network.o_logits(x)
        names = {
            key: torch.cat([s_o[:, None], network.type_logits(x, n[i::3])], 1)
            for i, key in enumerate(("desc", "bare", "only"))
        }
        names["both"] = (names["desc"] + names["bare"]) / 2
        # all sentences for mosaic, the scored half for targets and labels
        scored = np.isin(sentence, entry["scored"])
        part = scored if entry["kind"] == "target" else np.ones(len(tags), bool)
        gold = spans_of(tags[part], sentence[part], begins[part])
        figures = {}
        for key, s in names.items():
            figures[key] = f1(s.argmax(1).cpu().numpy()[part], gold, sentence[part])
        for bias in (-1.0, 1.0):  # how well O is placed: more and less of it
            moved = names["desc"].clone()
            moved[:, 0] += bias
            figures[f"o{bias:+.0f}"] = f1(moved.argmax(1).cpu().numpy()[part], gold, sentence[part])
        gold = spans_of(tags[scored], sentence[scored], begins[scored])
        query, s = x[torch.from_numpy(scored).to(device)], names["desc"][torch.from_numpy(scored).to(device)]
        square = query.square().sum(1)
        for shots in SHOTS:
            sums = Counter()
            for support in entry["supports"][str(shots)]:
                chosen = np.isin(sentence, support)
                z = x[torch.from_numpy(chosen).to(device)]
                tag = torch.from_numpy(tags[chosen].astype(np.int64)).to(device)
                d = 0.5 * (square[:, None] + z.square().sum(1) - 2 * query @ z.T)
                near, mean = [], []
                for t in range(n_types + 1):
                    if bool((tag == t).any()):
                        near.append(-d[:, tag == t].amin(1))
                        center = z[tag == t].mean(0)
                        mean.append(query @ center - 0.5 * center.square().sum() - 0.5 * square)
                    else:
                        near.append(torch.full_like(square, -1e4))
                        mean.append(torch.full_like(square, -1e4))
                near, mean = torch.stack(near, 1), torch.stack(mean, 1)
                scores = {"nn": near, "proto": mean}
                for weight in LAMBDAS:
                    scores[f"nn+{weight}"] = s + weight * near
                    scores[f"proto+{weight}"] = s + weight * mean
                for key, value in scores.items():
                    sums[key] += f1(value.argmax(1).cpu().numpy(), gold, sentence[scored]) / SUPPORTS
            figures |= {f"{key}@{shots}": value for key, value in sums.items()}
        results[entry["name"]] = {"kind": entry["kind"]} | {k: round(v, 2) for k, v in figures.items()}
    return results


def summary(results):
    """Means over mosaic/dev and over the targets; the weight of labels beside names is chosen on mosaic/dev."""
    means = {}
    for kind, short in (("mosaic_dev", "m"), ("target", "t")):
        rows = [r for r in results.values() if r["kind"] == kind]
        for key in rows[0]:
            if key != "kind":
                means[f"{short}.{key}"] = round(sum(r[key] for r in rows) / len(rows), 2)
    for shots in SHOTS:
        keys = [f"{how}+{w}@{shots}" for how in ("nn", "proto") for w in LAMBDAS]
        best = max(keys, key=lambda k: means["m." + k])
        means |= {f"m.comb@{shots}": means["m." + best], f"t.comb@{shots}": means["t." + best], f"comb@{shots}": best}
    return means


COLUMNS = [
    "m.desc",
    "m.bare",
    "m.both",
    "t.desc",
    "t.bare",
    *TARGETS,
    "m.nn@1",
    "m.nn@5",
    "m.proto@5",
    "t.nn@1",
    "t.nn@5",
    "t.proto@5",
    "m.comb@1",
    "m.comb@5",
    "t.comb@1",
    "t.comb@5",
]


def line(name, figures, means, results):
    cells = [results[c]["desc"] if c in results else means[c] for c in COLUMNS]
    return f"{name:24s} {figures['seconds']:5.0f}s {figures['steps']:5d} " + " ".join(f"{v:5.1f}" for v in cells)


def save(network, path):
    """Everything in float16 under Hugging Face's names, and the head under its own."""
    names = network.encoder.names()
    tensors = {names[k]: v for k, v in network.encoder.state_dict().items() if k in names}
    tensors |= {
        f"names.{k}": v
        for k, v in network.state_dict().items()
        if k.split(".")[0] in ("name", "beta", "o", "mlp", "query", "log_scale")
    }
    np.savez(
        path,
        **{
            k: v.detach().cpu().numpy().astype(np.float16 if v.ndim > 1 and not k.startswith("names.") else np.float32)
            for k, v in tensors.items()
        },
    )


def load_base(folder):
    tensors = {}
    for path in sorted(folder.rglob("base*.npz")):
        with np.load(path) as part:
            tensors |= {key: part[key] for key in part.files}
    return tensors


def work(args):
    """Take recipes from the queue one after the other, until there is none and `stop` is there."""
    folder, todo = Path(args.dir), Path(args.queue)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_num_threads(2)
    torch.set_float32_matmul_precision("high")
    data, base = Data(folder), load_base(folder)
    (todo / f"pid-{os.getpid()}").touch()
    done = todo / "done"
    done.mkdir(parents=True, exist_ok=True)
    while True:
        taken = None
        for path in sorted(todo.glob("*.json")):
            try:
                taken = path.rename(todo / f"{path.stem}.taken")
                break
            except OSError:
                continue
        if taken is None:
            if (todo / "stop").exists():
                return
            time.sleep(0.3)
            continue
        name = taken.stem.partition("-")[2] or taken.stem
        try:
            recipe = RECIPE | json.loads(taken.read_text()) | {"name": name}
            assert not set(recipe) - set(RECIPE), set(recipe) - set(RECIPE)
            network, figures = train(data, base, recipe, device, lambda text: print(text, flush=True))
            began = time.time()
            results = evaluate(network, data, device)
            figures["eval_seconds"] = round(time.time() - began, 1)
            means = summary(results)
            (done / f"{name}.json").write_text(
                json.dumps({"recipe": recipe, "figures": figures, "means": means, "results": results})
            )
            if recipe["save"]:
                save(network, done / f"{name}.npz")
            text = line(name, figures, means, results)
            del network
        except Exception as error:
            import traceback

            traceback.print_exc()
            text = f"{name:24s} FAILED {type(error).__name__}: {str(error)[:300]}"
        with (done / "table.txt").open("a") as table:
            table.write(text + "\n")
        print(text, flush=True)
        if device.type == "cuda":
            torch.cuda.empty_cache()


def export(args):
    """Make of saved weights (DIR/weights.npz) a Hugging Face folder that handful reads, with the names head in it."""
    import shutil

    from safetensors.numpy import save_file

    from handful.encoders import NameHead
    from handful.encoders.seen import SEEN

    folder = Path(args.dir)
    with np.load(folder / "weights.npz") as file:
        tensors = {key: file[key] for key in file.files}
    shapes = tensors.pop("word_shapes")
    head = {key[6:]: tensors.pop(key) for key in list(tensors) if key.startswith("names.")}
    config = json.loads((Path(args.base) / "config.json").read_text())
    config["num_hidden_layers"] = 1 + max(int(key.split(".")[2]) for key in tensors if key.startswith("encoder.layer."))
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    save_file(
        {k: v.astype(np.float16) for k, v in tensors.items()}, folder / "model.safetensors", metadata={"format": "pt"}
    )
    save_file({"weight": shapes.astype(np.float32)}, folder / "word_shapes.safetensors")
    if "mlp.0.weight" in head:
        raise SystemExit("a head with an MLP cannot be exported: handful reads none")
    NameHead(head["name.weight"], head["name.bias"], head["o"], float(head["beta"])).save(folder / "names.safetensors")
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        shutil.copy(Path(args.base) / name, folder / name)
    if args.out:  # what `prepare` wrote
        shutil.copy(Path(args.out) / SEEN, folder / SEEN)


def check(args):
    """Compare with transformers on the CPU, sentences packed here and padded there."""
    from transformers import AutoModel

    from handful.encoders.shapes import add_word_shapes

    data, base = Data(Path(args.dir)), load_base(Path(args.dir))
    model = AutoModel.from_pretrained(args.base).eval()
    model.encoder.layer = model.encoder.layer[:7]
    model.load_state_dict({k: torch.from_numpy(v.astype(np.float32)) for k, v in base.items()}, strict=False)
    shapes = torch.randn(N_SHAPES, DIM) * 0.02
    shapes[0] = 0
    add_word_shapes(model, shapes)
    encoder = Encoder(base, 7, 0.1).eval()
    encoder.shapes.data.copy_(shapes)
    rows = np.concatenate([data.rows_of[0][:20], data.rows_of[10][:20]])
    with torch.inference_mode():
        mine = encode_items(encoder, data.ids, data.row_starts[rows], data.row_lengths[rows], torch.device("cpu"), 1024)
        at = 0
        worst = 0.0
        for row in rows:
            ids = torch.from_numpy(data.ids[data.row_starts[row] : data.row_ends[row]].astype(np.int64))[None]
            # positions: transformers counts ids that are not padding, which is 1 here too
            theirs = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0]
            worst = max(worst, float((theirs - mine[at : at + len(theirs)]).abs().max()))
            at += len(theirs)
    print(f"greatest difference to transformers: {worst:.2e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["prepare", "pieces", "similarities", "check", "work", "export"])
    parser.add_argument("--data", default="data")
    parser.add_argument("--base", default="mpnet")
    parser.add_argument("--out")
    parser.add_argument("--dir")
    parser.add_argument("--queue")
    parser.add_argument("--small", type=int, default=0)
    args = parser.parse_args()
    {
        "prepare": prepare,
        "pieces": pieces_of_base,
        "similarities": similarities,
        "check": check,
        "work": work,
        "export": export,
    }[args.what](args)


if __name__ == "__main__":
    main()
