"""Words per second of every way to encode, compared in one run with the loops that people write.

    python benchmarks/encode.py CORPUS ENCODER [ENCODER ...]    speed and exactness

CORPUS has one word at the start of each line and a blank line between sentences. An ENCODER is a folder in the Hugging
Face layout. The peers are plain transformers in float32, with batches of 32 in the order of the file, and the same
sorted by length. The embedded handful-en runs too: if ENCODER has 12 layers and 768 dimensions, its line shows how
much faster it is than an encoder of the size of BERT-base.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from handful.encoders import load


def read(path):
    sentences = [[]]
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.strip():
            sentences[-1].append(line.split("\t")[0])
        elif sentences[-1]:
            sentences.append([])
    return [words for words in sentences if words]


def documents(sentences, n_words=200):
    """Join sentences into documents of about `n_words` words."""
    joined = [[]]
    for words in sentences:
        joined[-1].extend(words)
        if len(joined[-1]) >= n_words:
            joined.append([])
    return [words for words in joined if words]


def plain_loop(folder, device="cpu", precision="float32"):
    """Return the loop that people write, as a function of sentences and of whether to sort them.

    Batches have 32 sentences, padded. A word that is cut off, or of which the tokenizer leaves nothing, gets no vector
    (NaN).
    """
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    model = transformers.AutoModel.from_pretrained(folder, dtype=getattr(torch, precision))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    pre_tokenizer = tokenizer.backend_tokenizer.pre_tokenizer
    if hasattr(pre_tokenizer, "add_prefix_space"):
        pre_tokenizer.add_prefix_space = True
    model = model.eval().to(device)
    options = {"is_split_into_words": True, "padding": True, "truncation": True, "max_length": 512}

    def encode(sentences, *, is_sorted=False):
        order = list(range(len(sentences)))
        if is_sorted:
            order.sort(key=lambda i: len(sentences[i]))
        found = [[] for _ in sentences]
        for start in range(0, len(order), 32):
            chosen = order[start : start + 32]
            batch = tokenizer([list(sentences[i]) for i in chosen], return_tensors="pt", **options)
            with torch.no_grad():
                inputs = {name: batch[name].to(device) for name in ("input_ids", "attention_mask")}
                hidden = model(**inputs).last_hidden_state.float().cpu().numpy()
            for row, i in enumerate(chosen):
                places = [[] for _ in sentences[i]]
                for position, word in enumerate(batch.word_ids(row)):
                    if word is not None:
                        places[word].append(position)
                missing = np.full(hidden.shape[-1], np.nan, np.float32)
                found[i] = [(hidden[row, p[0]] + hidden[row, p[-1]]) / 2 if p else missing for p in places]
        return np.array([vector for vectors in found for vector in vectors])

    return encode


def cosines(a, b):
    return (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


def export(folder, place):
    from handful.encoders import export_encoder

    paths = {}
    for precision in ("float32", "int8"):
        paths[precision] = Path(place) / f"{Path(folder).name}-{precision}"
        if not paths[precision].exists():
            export_encoder(folder, paths[precision], int8=precision == "int8")
    return paths


def compare(title, folder, paths, sentences, repeats, threads, clock):
    n_words = sum(map(len, sentences))
    print(f"\n{Path(folder).name}, {title}: {len(sentences)} sentences, {n_words} words")
    loop = plain_loop(folder)
    ours = {
        "ours, ONNX int8": load(paths["int8"], threads=threads),
        "ours, ONNX float32": load(paths["float32"], threads=threads),
        "ours, transformers float32": load(folder, precision="float32", threads=threads),
        "handful-en (int8)": load("handful-en", threads=threads),
    }
    ways = {
        "plain loop, file order": lambda: loop(sentences),
        "plain loop, sorted": lambda: loop(sentences, is_sorted=True),
        **{name: lambda encoder=encoder: encoder.encode(sentences, progress=False) for name, encoder in ours.items()},
    }
    seconds, results = {}, {}
    for _ in range(repeats):  # all take turns, so that a busy moment of the machine affects all of them
        for name, way in ways.items():
            start = clock()
            results[name] = way()
            taken = clock() - start
            seconds[name] = min(taken, seconds.get(name, taken))
    plain, by_length = seconds["plain loop, file order"], seconds["plain loop, sorted"]
    print(f"{'':28}{'words/s':>9}{'x plain':>9}{'x sorted':>9}")
    for name, taken in seconds.items():
        print(f"{name:28}{n_words / taken:9,.0f}{plain / taken:9.2f}{by_length / taken:9.2f}")
    reference = results["plain loop, file order"]
    # Where the plain loop drops a word, ours reads an unknown token, so all vectors of the sentence differ.
    lengths = [len(words) for words in sentences]
    is_missing = np.isnan(reference).any(axis=1)
    spoilt = np.repeat([part.any() for part in np.split(is_missing, np.cumsum(lengths)[:-1])], lengths)
    has_all = ~spoilt
    if spoilt.any():
        print(
            f"the plain loop gives no vector for {is_missing.sum()} words (cut off or tokenised into nothing); the "
            f"differences below leave out the {spoilt.sum()} words of their sentences"
        )
    for name in ("ours, ONNX float32", "ours, transformers float32"):
        difference = np.abs(results[name] - reference)[has_all].max()
        print(f"{name}: largest difference to the plain loop {difference:.1e}")
    found = cosines(results["ours, ONNX int8"], results["ours, ONNX float32"])
    print(
        f"ours, ONNX int8: cosine to float32: mean {found.mean():.4f}, worst {found.min():.4f}, "
        f"0.1% quantile {np.quantile(found, 0.001):.4f}; over 0.95 on {(found >= 0.95).mean():.3%} of words"
    )
    for name in ("ours, ONNX int8", "ours, ONNX float32"):
        ours[name].batch_tokens = 300
        other = ours[name].encode(sentences, progress=False)
        relative = np.linalg.norm(other - results[name], axis=1) / np.linalg.norm(results[name], axis=1)
        print(f"{name}: other batches change a vector by at most {relative.max():.1e} of its length")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("encoders", nargs="+")
    parser.add_argument("--exports", help="where to keep (and find) exported encoders; default, a temporary folder")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, help="for all; default, as many as each takes by itself")
    parser.add_argument(
        "--cpu-time", action="store_true", help="count processor time, for a busy machine (with --threads 1)"
    )
    parser.add_argument("--documents", action="store_true", help="also on documents of about 200 words")
    options = parser.parse_args()
    corpus = str(Path(options.corpus).resolve())
    sentences = read(corpus)
    clock = time.process_time if options.cpu_time else time.perf_counter
    if options.threads:
        import torch

        torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as temporary:
        for folder in options.encoders:
            paths = export(folder, options.exports or temporary)
            rest = (options.repeats, options.threads, clock)
            compare("sentences", folder, paths, sentences, *rest)
            if options.documents:
                compare("documents", folder, paths, documents(sentences), *rest)


if __name__ == "__main__":
    main()
