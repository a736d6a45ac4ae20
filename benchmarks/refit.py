"""How long one more label takes: `Tagger.add` of a new sentence and of other labels, beside a fit from scratch.

    python benchmarks/refit.py                                  made-up features of 768 numbers
    python benchmarks/refit.py TEXT                             the features of handful-en on a text, which may be .gz
    python benchmarks/refit.py --words 5000,50000 --repeats 9   other sizes of the text
    python benchmarks/refit.py --words 50000 --profile          where the time of an `add` goes
    python benchmarks/refit.py --words 50000 --beside OLD/src   another version of the package, in turn with this one

A text is repeated if it is shorter than asked for. It is encoded before anything is measured, and what that takes is no
part of a fit from scratch; a sentence that is added is encoded while it is measured. With TEXT, the labels are what
handful-en finds by the names of types. After each `add`, the model is compared with that of a fit from scratch on the
same sentences: they must be the same, to the last bit. With --beside, each version adds the same sentences in a process
of its own, one after the other, so that other work on the machine slows both alike.
"""

import argparse
import cProfile
import itertools
import os
import pstats
import statistics
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np
from measure import describe_machine
from rich.console import Console
from rich.table import Table

from handful import Sentence, Span, Tagger
from handful._util.passes import ByBlock
from handful.encoders import TypeVectors, load
from handful.encoders.encoder import WrappedEncoder
from handful.text import stream, types_of

N_LABELLED = 30  # sentences, before the first `add`
TYPES = {
    "PERSON": "the name of a person",
    "PLACE": "a country, a city, a river or another place that is on maps",
    "GROUP": "a company, a party, a team or another organisation",
    "WORK": "the title of a book, a film, a song or a newspaper",
    "TIME": "a date or a time of the day",
    "LAW": "a law, a treaty or a court case",
}


class MadeEncoder:
    """Features of made-up words, which have their type in their name; types lie apart, and so do their names."""

    fingerprint, has_names, dim = "made", True, 768

    def encode(self, sentences, *, progress=None):
        """Return one vector per word; it depends on the words of the sentence."""
        vectors = np.empty((sum(len(sentence.words) for sentence in sentences), self.dim), np.float32)
        start = 0
        for sentence in sentences:
            n = len(sentence.words)
            rng = np.random.default_rng(zlib.crc32(" ".join(sentence.words).encode()))
            rng.standard_normal(dtype=np.float32, out=vectors[start : start + n])
            vectors[np.arange(start, start + n), [int(word.split("_")[0]) for word in sentence.words]] += 6
            start += n
        return vectors

    def encode_types(self, types):
        """Return the middle of the words of each type, and that of O."""
        types = types_of(types)
        middles = 6 * np.eye(1 + len(types), self.dim, dtype=np.float32)
        biases = -0.5 * (middles**2).sum(axis=1)
        return TypeVectors(types, middles[1:], biases[1:], middles[:1], biases[:1])


def made_sentences(n_words, n_types, rng, length=20):
    names = [one.name for one in sorted(types_of(TYPES), key=lambda one: one.name)][:n_types]
    for i in range(-(-n_words // length)):
        kinds = np.where(rng.random(length) < 0.1, rng.integers(1, n_types + 1, length), 0)
        words = tuple(f"{kind}_{i}_{j}" for j, kind in enumerate(kinds))
        yield Sentence(words, tuple(Span(j, j + 1, names[kind - 1]) for j, kind in enumerate(kinds) if kind))


class Known(WrappedEncoder):
    """An encoder that knows a text already: its features are there, other sentences are encoded."""

    def __init__(self, encoder, text, features):
        super().__init__(encoder)
        self.n_text, self.features = len(text), features
        self.seconds = 0.0  # spent on copying the features of the text

    def encode(self, sentences, *, progress=None):
        """Return the features of the text, and encode what comes after it, or other sentences."""
        if len(sentences) < self.n_text:
            return self.encoder.encode(sentences, progress=False)
        more = [self.encode(sentences[self.n_text :])] if len(sentences) > self.n_text else []
        start = time.perf_counter()
        both = np.concatenate([self.features, *more])
        self.seconds += time.perf_counter() - start
        return both


def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def taken(sentences, n_words):
    """Return sentences until they have so many words; they start again from the first if need be."""
    found, n = [], 0
    for sentence in itertools.cycle(sentences):
        if n >= n_words:
            return found
        found.append(sentence)
        n += len(sentence.words)


def is_same(one, other):
    """Whether two taggers learned the same, to the last bit."""
    return all(
        array.tobytes() == piece.save()[name].tobytes()
        for kept, piece in zip(one.model_.evidence, other.model_.evidence, strict=True)
        for name, array in kept.save().items()
    )


def measure(encoder, text, features, labelled, repeats):
    """Return the times of fits from scratch, of adding a sentence, and of other labels for it; and the bytes kept."""
    known = Known(encoder, text, features)

    def tagger():
        return Tagger(TYPES, encoder=known, cache=False)

    model = tagger().fit(labelled[:N_LABELLED], text)
    times = {"fit from scratch": [], "add a sentence": [], "other labels": []}
    for n in range(N_LABELLED, N_LABELLED + repeats):
        new = labelled[n]
        other = Sentence(new.words, new.spans[:-1])
        times["add a sentence"].append(seconds(lambda new=new: model.add([new])))
        times["other labels"].append(seconds(lambda other=other: model.add([other])))
        model.add([new])
        scratch = tagger()
        known.seconds = 0.0
        whole = seconds(lambda n=n, scratch=scratch: scratch.fit(labelled[: n + 1], text))
        times["fit from scratch"].append(whole - known.seconds)
        assert is_same(model, scratch), "an add and a fit from scratch differ"
    kept = sum(n_bytes(value) for _, value in model.text_.text._known.values())
    return {name: statistics.median(found) for name, found in times.items()}, kept


def n_bytes(kept):
    """Return the size of what is kept about the text: moments, or arrays by block."""
    arrays = kept.values if isinstance(kept, ByBlock) else [getattr(kept, "scatter", kept)]
    return sum(array.nbytes for array in arrays)


def profile(encoder, text, features, labelled):
    """Show where the time of an `add` goes, in one thread."""
    from threadpoolctl import threadpool_limits

    model = Tagger(TYPES, encoder=Known(encoder, text, features), cache=False).fit(labelled[:N_LABELLED], text)
    model.add(labelled[N_LABELLED : N_LABELLED + 1])
    watch = cProfile.Profile()
    with threadpool_limits(1):
        watch.enable()
        model.add(labelled[N_LABELLED + 1 : N_LABELLED + 2])
        watch.disable()
    pstats.Stats(watch).sort_stats("tottime").print_stats("handful|lapack|onnx|sklearn|scipy", 25)


def answer(encoder, text, features, labelled):
    """Add the sentences whose numbers are read, and say how many seconds and how much time of processors it took."""
    model = Tagger(TYPES, encoder=Known(encoder, text, features), cache=False).fit(labelled[:N_LABELLED], text)
    print("ready", flush=True)
    for line in sys.stdin:
        used = time.process_time()
        wall = seconds(lambda line=line: model.add([labelled[int(line)]]))
        print(wall, time.process_time() - used, flush=True)


def in_turn(folders, repeats):
    """Let several versions of the package add the same sentences, and show what it took."""
    arguments = [one for one in sys.argv[1:] if one not in ("--beside", *folders)]
    command = [sys.executable, __file__, *arguments, "--answer"]
    running = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": folder}
        )
        for folder in folders
    ]
    for one in running:
        assert one.stdout.readline() == "ready\n"
    found = [[] for _ in running]
    for n in range(N_LABELLED, N_LABELLED + repeats):
        for i in sorted(range(len(running)), reverse=n % 2 == 1):
            print(n, file=running[i].stdin, flush=True)
            found[i].append([float(number) for number in running[i].stdout.readline().split()])
    for folder, one, times in zip(folders, running, np.array(found), strict=True):
        one.communicate()
        best, middle = times.min(axis=0), np.median(times, axis=0)
        print(f"{folder}: add a sentence, best {best[0]:.3f} s, median {middle[0]:.3f} s; ", end="")
        print(f"time of processors, best {best[1]:.3f} s, median {middle[1]:.3f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", nargs="?")
    parser.add_argument("--words", default="5000,50000,500000")
    parser.add_argument("--most-encoded", type=int, default=50_000, help="of a longer text, so much is repeated")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--beside", nargs="+", default=[], help="the folder src of other versions")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.beside:
        in_turn([str(Path(__file__).parents[1] / "src"), *options.beside], options.repeats)
        return
    sizes = [int(size) for size in options.words.split(",")]
    most = N_LABELLED + options.repeats
    if options.text:
        encoder = load("handful-en")
        with stream(options.text, unlabelled=True) as documents:
            sentences = (sentence for document in documents for sentence in document.sentences)
            every = taken(sentences, min(max(sizes), options.most_encoded))
        by_names = Tagger(TYPES, encoder=encoder, cache=False).fit().predict_sentences(every[: 20 * most])
        labelled = [sentence for sentence in by_names if sentence.spans][:most]
        every = [sentence for sentence in every if sentence.words not in {one.words for one in labelled}]
    else:
        encoder = MadeEncoder()
        labelled = [s for s in made_sentences(20 * 3 * most, len(TYPES), np.random.default_rng(1)) if s.spans][:most]
        rng = np.random.default_rng(0)
        every = [sentence.without_labels() for sentence in made_sentences(max(sizes), len(TYPES), rng)]
    console = Console(width=120)
    if not options.answer:
        console.print(f"{describe_machine()}; {options.text or 'made-up features'}, {encoder.dim} numbers a word")
    table = Table("words", "fit from scratch, s", "add a sentence, s", "other labels, s", "times as fast", "kept, MB")
    features = encoder.encode(every, progress=False)
    starts = np.cumsum([0, *(len(sentence.words) for sentence in every)])
    for size in sizes:
        text = taken(every, size)
        whole, rest = divmod(len(text), len(every))
        repeated = (
            np.concatenate([features] * whole + [features[: starts[rest]]]) if whole else features[: starts[rest]]
        )
        if options.answer:
            answer(encoder, text, repeated, labelled)
            return
        if options.profile:
            profile(encoder, text, repeated, labelled)
            continue
        times, kept = measure(encoder, text, repeated, labelled, options.repeats)
        ratio = times["fit from scratch"] / times["add a sentence"]
        table.add_row(f"{len(repeated):,}", *(f"{t:.2f}" for t in times.values()), f"{ratio:.1f}", f"{kept / 1e6:.1f}")
    if not options.profile:
        console.print(table)


if __name__ == "__main__":
    main()
