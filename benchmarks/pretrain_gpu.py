"""Words per second of `handful pretrain` on a GPU.

    python benchmarks/pretrain_gpu.py ENCODER CORPUS [CORPUS ...] [--types FILE] [--layers 7] [--shapes]

ENCODER and CORPUS are as for `handful pretrain`. The time of a turn is that of its steps, batches included, and the
best turn counts. Only words of sentences count, not those of the types' texts.
"""

import argparse
import time
from functools import partial
from itertools import cycle, islice

import torch

from handful.training import Recipe
from handful.training.batches import ahead, on_device
from handful.training.corpora import read_corpora
from handful.training.prepare import prepare


def run(training, plan, n_steps):
    """Take some steps of a training; return words per second."""
    wait = torch.cuda.synchronize if training.device.type == "cuda" else lambda: None
    training.step = n_words = 0
    wait()
    start = time.perf_counter()
    build = training._builder.build
    for step in ahead(lambda planned: on_device(build(planned), training.device), list(islice(plan, n_steps))):
        training._stepper.take(training.step, partial(training.network.loss, step))
        training.step += 1
        n_words += step.n_words
    wait()
    return n_words / (time.perf_counter() - start)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder")
    parser.add_argument("corpora", nargs="+", metavar="CORPUS")
    parser.add_argument("--types", help="a file of descriptions, as for handful pretrain")
    parser.add_argument("--layers", type=int)
    parser.add_argument("--shapes", action="store_true")
    parser.add_argument("--steps", type=int, default=100, help="in a turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--batch-tokens", type=int, default=8192)
    parser.add_argument("--device")
    given = parser.parse_args(arguments)
    sources = read_corpora(given.corpora, types=given.types)
    n_words = sum(len(sentence.words) for corpus in sources for sentence in corpus.train)
    recipe = Recipe(layers=given.layers, shapes=given.shapes, batch_tokens=given.batch_tokens)
    training = prepare(sources, given.encoder, recipe, given.device).training
    training.network.train()
    plan = cycle(training._plan(0))
    run(training, plan, max(1, given.steps // 10))  # warms the GPU up
    speed = max(run(training, plan, given.steps) for _ in range(given.turns))
    print(f"{len(sources)} corpora, {n_words:,} words, {training.device}, packed: {training.data.layout.is_packed}")
    print(f"{speed:,.0f} words/s, {n_words / speed:.1f} s an epoch")


if __name__ == "__main__":
    main()
