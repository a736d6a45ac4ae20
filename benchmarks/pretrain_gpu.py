"""Words per second of `handful pretrain` on a GPU, in the old way and in the new way, in one run.

    python benchmarks/pretrain_gpu.py ENCODER CORPUS [CORPUS ...] [--types FILE] [--layers 7] [--shapes]

ENCODER and CORPUS are as for `handful pretrain`. The old way takes steps of 32 sentences of like length, each from one
corpus, with a free prototype for each tag. The new way takes steps of 8,192 tokens of several corpora, packed into
rows, reads the texts of their types in the same step, and has the second loss. Both run in bfloat16 on a GPU. They
take turns; the time of a turn is that of its steps, batches included, and the best turn counts. Only words of
sentences count, not those of the types' texts. The last column says how long one epoch takes.
"""

import argparse
import time
from itertools import cycle, islice

import torch
from torch.nn import functional

from handful.training import Recipe
from handful.training.batches import ahead, on_device, plan_epoch, prefetch
from handful.training.corpora import read_corpora
from handful.training.model import word_vectors
from handful.training.prepare import prepare

SENTENCES = 32  # in a batch of the old way


class OldWay:
    """Steps of sentences of one corpus, with free prototypes."""

    def __init__(self, sources, encoder, device, settings):
        prepared = prepare(sources, encoder, Recipe(head="prototypes", contrast=0, **settings), device)
        self.network, self.device = prepared.training.network.train(), prepared.training.device
        self.sources = prepared.training.data.sources
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=5e-5, fused=self.device.type == "cuda")
        self.rows = [source.rows for source in self.sources]
        self.plan = cycle(plan_epoch(self.rows, batch=SENTENCES, seed=0, epoch=0))
        self.types = [torch.from_numpy(source.types).to(self.device) for source in self.sources]

    def run(self, n_steps):
        """Take some steps; return the number of their words."""
        n_words = 0
        plan = list(islice(self.plan, n_steps))
        for (corpus, _), batch in zip(plan, prefetch(self.rows, plan, self.device), strict=True):
            x = word_vectors(self.network.encoder, batch)
            corpora = torch.full((len(x),), corpus, device=x.device)
            of_o, of_types = self.network.head(x, self.types[corpus], corpora)
            functional.cross_entropy(torch.cat((of_o[:, None], of_types), 1), batch.tags).backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            n_words += batch.n_words
        return n_words


class NewWay:
    """Steps of the training itself."""

    def __init__(self, sources, encoder, device, settings):
        prepared = prepare(sources, encoder, Recipe(**settings), device)
        self.training, self.device = prepared.training, prepared.training.device
        self.training.network.train()
        self.plan = cycle(self.training._plan(0))

    def run(self, n_steps):
        """Take some steps; return the number of their words."""
        self.training.step = n_words = 0
        for step in ahead(self._build, list(islice(self.plan, n_steps))):
            self.training._take(step)
            n_words += step.n_words
        return n_words

    def _build(self, planned):
        return on_device(self.training._builder.build(planned), self.device)


def timed(way, n_steps):
    """Return words per second over some steps."""
    wait = torch.cuda.synchronize if way.device.type == "cuda" else lambda: None
    wait()
    start = time.perf_counter()
    n_words = way.run(n_steps)
    wait()
    return n_words / (time.perf_counter() - start)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder")
    parser.add_argument("corpora", nargs="+", metavar="CORPUS")
    parser.add_argument("--types", help="a file of descriptions, as for handful pretrain")
    parser.add_argument("--layers", type=int)
    parser.add_argument("--shapes", action="store_true")
    parser.add_argument("--steps", type=int, default=100, help="of the new way in a turn; 5 times as many of the old")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--batch-tokens", type=int, default=8192)
    parser.add_argument("--device")
    given = parser.parse_args(arguments)
    sources = read_corpora(given.corpora, types=given.types)
    n_words = sum(len(sentence.words) for corpus in sources for sentence in corpus.train)
    settings = {"layers": given.layers, "shapes": given.shapes}
    ways = {
        "old": (OldWay(sources, given.encoder, given.device, settings), 5 * given.steps),
        "new": (
            NewWay(sources, given.encoder, given.device, settings | {"batch_tokens": given.batch_tokens}),
            given.steps,
        ),
    }
    best = dict.fromkeys(ways, 0.0)
    for way, n_steps in ways.values():
        way.run(max(1, n_steps // 10))  # warms the GPU up
    for _ in range(given.turns):
        for name, (way, n_steps) in ways.items():
            best[name] = max(best[name], timed(way, n_steps))
    new = ways["new"][0]
    print(f"{len(sources)} corpora, {n_words:,} words, {new.device}, packed: {new.training.data.layout.is_packed}")
    print(f"{'':6}{'words/s':>12}{'x old':>8}{'s an epoch':>12}")
    for name, speed in best.items():
        print(f"{name:6}{speed:12,.0f}{speed / best['old']:8.2f}{n_words / speed:12.1f}")


if __name__ == "__main__":
    main()
