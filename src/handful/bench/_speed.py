"""How fast handful is on this machine, and what people write themselves beside it, in one run."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful._util.processor import Processor, usable_threads
from handful.encoders import EMBEDDED, load
from handful.encoders.card import Card
from handful.errors import DataError
from handful.tagger import Tagger
from handful.text import EntityType, Sentence

from ._runs import OnRun

ENCODER = "handful-en"
ENCODE, PREDICT, FIT, ADD = "encode", "predict", "fit", "add"
_BATCH = 32  # sentences in a batch of what people write
BERT = ("Bert", 12)  # the kind and layers of the network that people start with


@dataclass(frozen=True)
class Speed:
    """What was measured; each tuple has an entry for each number of threads.

    Attributes
    ----------
    processor : the kind of this machine's
    threads : the numbers of threads
    n_sentences, n_words : the text
    turns : how often everything ran; the best turn counts
    words_per_second : of ours ("encode", "predict"), and of what people write, by name
    seconds : of a fit on labels and the text, encoding included ("fit"), and of one more label ("add")
    notes : what was not measured, and why
    """

    processor: Processor
    threads: tuple[int, ...]
    n_sentences: int
    n_words: int
    turns: int
    words_per_second: dict[str, tuple[float, ...]]
    seconds: dict[str, tuple[float, ...]]
    notes: list[str]

    @property
    def times_as_fast(self) -> dict[str, tuple[float, ...]]:
        """How many times as fast as each thing that people write our encoder is."""
        ours = self.words_per_second[ENCODE]
        peers = {name: speeds for name, speeds in self.words_per_second.items() if name not in (ENCODE, PREDICT)}
        return {name: tuple(a / b for a, b in zip(ours, speeds, strict=True)) for name, speeds in peers.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return it as dicts, lists, strings and numbers."""
        return asdict(self) | {"times_as_fast": self.times_as_fast}


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
    taken = _first(sentences, most_words)
    n_words = sum(len(sentence.words) for sentence in taken)
    counts = tuple(sorted({1, threads or usable_threads()}))
    peers, notes = _peers()
    names = (ENCODE, PREDICT, *peers, FIT, ADD)
    best = {(name, n): float("inf") for name in names for n in counts}
    encoder = {n: load(ENCODER, threads=n) for n in counts}
    tagger = {n: Tagger(encoder[n], types=types, cache=False) for n in counts}
    words = [sentence.words for sentence in taken]
    ways: dict[str, Callable[[int], object]] = {
        FIT: lambda n: tagger[n].fit(support[:-1], taken, progress=False),
        ADD: lambda n: tagger[n].add(support[-1:], progress=False),
        ENCODE: lambda n: encoder[n].encode(words, progress=False),
        PREDICT: lambda n: tagger[n].predict_sentences(taken),
        **{name: lambda n, loop=loop: loop(words) for name, loop in peers.items()},  # type: ignore[misc]
    }
    done, total = 0, turns * len(best)
    for turn in range(turns):
        for n in counts:
            with _threads(n, has_torch=bool(peers)):
                for name, way in ways.items():
                    if on_run is not None:
                        on_run(done, total, f"{name}, turn {turn + 1}, {n} thread{'s' * (n > 1)}")
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
        {name: tuple(n_words / best[name, n] for n in counts) for name in (ENCODE, PREDICT, *peers)},
        {name: tuple(best[name, n] for n in counts) for name in (FIT, ADD)},
        notes,
    )


def _first(sentences: Sequence[Sentence], most_words: int) -> list[Sentence]:
    """Return whole sentences from the start, until they have so many words, or all."""
    before = accumulate((len(sentence.words) for sentence in sentences), initial=0)
    taken = [sentence for sentence, n in zip(sentences, before, strict=False) if n < most_words]
    if not any(sentence.words for sentence in taken):
        raise DataError("the text has no word, so nothing can be measured")
    return taken


def _peers() -> tuple[dict[str, Callable[..., Any]], list[str]]:
    """Return what people write, by name: a plain loop over a network of our size, and one of BERT-base's size."""
    try:
        import transformers  # noqa: F401
    except ImportError:
        return {}, ["what people write is not measured: it needs pip install 'handful[transformers]'"]
    folder = EMBEDDED[ENCODER]
    tokenizer = _tokenizer(folder / "tokenizer.json")
    ours = ("MPNet", Card.read(folder / "encoder.json").n_layers)
    loops = {
        f"plain loop, {n_layers} layers": plain_loop(_network(kind, n_layers, len(tokenizer)), tokenizer)
        for kind, n_layers in (ours, BERT)
    }
    return loops, []


@contextmanager
def _threads(n: int, *, has_torch: bool) -> Iterator[None]:
    """Let matrix products, here and in torch, use so many threads."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(n):
        if not has_torch:
            yield
            return
        import torch

        before = torch.get_num_threads()
        torch.set_num_threads(n)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def plain_loop(model: Any, tokenizer: Any, device: str = "cpu") -> Callable[..., NDArray[np.float32]]:
    """Return the loop that people write with transformers to get one vector per word.

    It is a function of sentences (lists of words), and of whether to sort them by length: batches of 32 sentences,
    padded. A word that is cut off, or of which the tokenizer leaves nothing, gets no vector (NaN).
    """
    import torch

    model = model.eval().to(device)
    options = {"is_split_into_words": True, "padding": True, "truncation": True, "max_length": 512}

    def encode(sentences: Sequence[Sequence[str]], *, is_sorted: bool = False) -> NDArray[np.float32]:
        order = list(range(len(sentences)))
        if is_sorted:
            order.sort(key=lambda i: len(sentences[i]))
        found: list[list[Any]] = [[] for _ in sentences]
        for start in range(0, len(order), _BATCH):
            chosen = order[start : start + _BATCH]
            batch = tokenizer([list(sentences[i]) for i in chosen], return_tensors="pt", **options)
            with torch.no_grad():
                inputs = {name: batch[name].to(device) for name in ("input_ids", "attention_mask")}
                hidden = model(**inputs).last_hidden_state.float().cpu().numpy()
            for row, i in enumerate(chosen):
                places: list[list[int]] = [[] for _ in sentences[i]]
                for position, word in enumerate(batch.word_ids(row)):
                    if word is not None:
                        places[word].append(position)
                missing = np.full(hidden.shape[-1], np.nan, np.float32)
                found[i] = [(hidden[row, p[0]] + hidden[row, p[-1]]) / 2 if p else missing for p in places]
        return np.array([vector for vectors in found for vector in vectors])

    return encode


def _tokenizer(path: Any) -> Any:
    """Return a tokenizer.json as a tokenizer of transformers."""
    import transformers

    kind: Any = transformers.PreTrainedTokenizerFast
    return kind(tokenizer_file=str(path), pad_token="<pad>", unk_token="[UNK]")


def _network(kind: str, n_layers: int, n_tokens: int) -> Any:
    """Return an "MPNet" or a "Bert" with 768 numbers per token and random weights, which are as fast as others."""
    import transformers

    config = getattr(transformers, f"{kind}Config")(num_hidden_layers=n_layers, vocab_size=n_tokens)
    return getattr(transformers, f"{kind}Model")(config)
