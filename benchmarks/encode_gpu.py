"""Words per second on a GPU, in float32 and bfloat16, beside the loops that people write, in one run.

    python benchmarks/encode_gpu.py CORPUS ENCODER [ENCODER ...]

CORPUS and ENCODER are as for encode.py. The peers are plain transformers on the same GPU, batches of 32, in the order
of the file and sorted by length, in both precisions. Vectors are compared with plain transformers on the CPU in
float32.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch
from encode import cosines, plain_loop, read

from handful.encoders import load

PRECISIONS = ("float32", "bfloat16")


def compare(folder, sentences, repeats):
    n_words = sum(map(len, sentences))
    print(f"\n{Path(folder).name}: {len(sentences)} sentences, {n_words} words")
    ours = {precision: load(folder, precision=precision) for precision in PRECISIONS}
    ways = {}
    for precision in PRECISIONS:
        loop = plain_loop(folder, "cuda", precision)
        ways[f"plain loop, {precision}"] = lambda loop=loop: loop(sentences)
        ways[f"sorted loop, {precision}"] = lambda loop=loop: loop(sentences, is_sorted=True)
        ways[f"ours, {precision}"] = lambda encoder=ours[precision]: encoder.encode(sentences, progress=False)
    seconds, results = {}, {}
    for _ in range(repeats + 1):  # the first round warms the GPU up
        for name, way in ways.items():
            start = time.perf_counter()
            results[name] = way()
            taken = time.perf_counter() - start
            seconds[name] = min(taken, seconds.get(name, taken))
    print(f"{'':24}{'words/s':>9}{'x plain':>9}{'x sorted':>9}")
    for name, taken in seconds.items():
        peers = [seconds[f"{order} loop, {name.split()[-1]}"] / taken for order in ("plain", "sorted")]
        print(f"{name:24}{n_words / taken:9,.0f}{peers[0]:9.2f}{peers[1]:9.2f}")

    reference = plain_loop(folder)(sentences)
    lengths = [len(words) for words in sentences]
    is_missing = np.isnan(reference).any(axis=1)
    has_all = ~np.repeat([part.any() for part in np.split(is_missing, np.cumsum(lengths)[:-1])], lengths)
    for precision in PRECISIONS:
        found = results[f"ours, {precision}"]
        near, apart = cosines(found, reference)[has_all], np.abs(found - reference)[has_all].max()
        print(
            f"ours, {precision}, to the CPU's float32: largest difference {apart:.1e}; cosine: mean {near.mean():.6f}, "
            f"worst {near.min():.6f}"
        )
        is_same = np.array_equal(ours[precision].encode(sentences, progress=False), found)
        ours[precision].batch_tokens = 300
        other = ours[precision].encode(sentences, progress=False)
        relative = np.linalg.norm(other - found, axis=1) / np.linalg.norm(found, axis=1)
        moved = np.abs(other - found).max()
        print(
            f"ours, {precision}: a second run is {'the same to the bit' if is_same else 'NOT the same'}; other batches "
            f"change a vector by at most {relative.max():.1e} of its length, a value by {moved:.1e}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("encoders", nargs="+")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("encode_gpu.py needs a GPU that torch can use; encode.py measures on the CPU")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    for folder in options.encoders:
        compare(folder, read(options.corpus), options.repeats)


if __name__ == "__main__":
    main()
