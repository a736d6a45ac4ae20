"""How fast handful is on this machine."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from handful._util.processor import Processor, usable_threads
from handful.encoders import load
from handful.errors import DataError, number_of
from handful.tagger import Tagger
from handful.text import EntityType, Sentence

from ._runs import OnRun

ENCODER = "handful-en"
ENCODE, PREDICT, FIT, ADD = "encode", "predict", "fit", "add"


@dataclass(frozen=True)
class Speed:
    """The speed of this machine; each tuple has an entry for each number of threads."""

    processor: Processor  # the kind of this machine's
    threads: tuple[int, ...]  # the numbers of threads
    n_sentences: int  # of the text
    n_words: int  # of the text
    turns: int  # how often everything ran; the best turn counts
    words_per_second: dict[str, tuple[float, ...]]  # of encoding ("encode") and of prediction ("predict")
    # of a fit on labels and the text, encoding included ("fit"), and of one more label ("add")
    seconds: dict[str, tuple[float, ...]]


def speed(
    sentences: Sequence[Sentence],
    support: Sequence[Sentence],
    types: Sequence[EntityType],
    *,
    most_words: int = 1000,
    turns: int = 3,
    threads: int | None = None,
    on_run: OnRun | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Speed:
    """Measure words per second of the encoder in the package and of prediction, and seconds of a fit.

    Everything takes turns, so that a busy moment of the machine affects all of it, and the best turn counts.

    Parameters
    ----------
    sentences : the text to read; labels in it are not used
    support : labelled sentences to fit on, at least two
    types : what their types mean
    most_words : whole sentences are taken from the text until it has this many words
    turns : how often everything runs
    threads : how many to measure besides one; None, as many as this process may use
    on_run : called with how many measurements are done, how many there are, and the name of the next
    clock : tells the time, in seconds
    """
    from threadpoolctl import threadpool_limits

    taken = _first(sentences, most_words)
    n_words = sum(len(sentence.words) for sentence in taken)
    counts = tuple(sorted({1, threads or usable_threads()}))
    encoder = {n: load(ENCODER, threads=n) for n in counts}
    tagger = {n: Tagger(types, encoder=encoder[n], cache=False) for n in counts}
    words = [sentence.words for sentence in taken]
    ways: dict[str, Callable[[int], object]] = {
        FIT: lambda n: tagger[n].fit(support[:-1], taken, progress=False),
        ADD: lambda n: tagger[n].add(support[-1:], progress=False),
        ENCODE: lambda n: encoder[n].encode(words, progress=False),
        PREDICT: lambda n: tagger[n].predict_sentences(taken),
    }
    best = {(name, n): float("inf") for name in ways for n in counts}
    done, total = 0, turns * len(best)
    for turn in range(turns):
        for n in counts:
            with threadpool_limits(n):
                for name, way in ways.items():
                    if on_run is not None:
                        on_run(done, total, f"{name}, turn {turn + 1}, {number_of(n, 'thread')}")
                    start = clock()
                    way(n)
                    best[name, n] = min(best[name, n], clock() - start)
                    done += 1
    return Speed(
        Processor.here(),
        counts,
        len(taken),
        n_words,
        turns,
        {name: tuple(n_words / best[name, n] for n in counts) for name in (ENCODE, PREDICT)},
        {name: tuple(best[name, n] for n in counts) for name in (FIT, ADD)},
    )


def _first(sentences: Sequence[Sentence], most_words: int) -> list[Sentence]:
    """Return whole sentences from the start, until they have so many words, or all."""
    before = accumulate((len(sentence.words) for sentence in sentences), initial=0)
    taken = [sentence for sentence, n in zip(sentences, before, strict=False) if n < most_words]
    if not any(sentence.words for sentence in taken):
        raise DataError("the text has no word, so nothing can be measured")
    return taken
