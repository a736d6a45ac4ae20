"""How many more words are in mentions in supports than in the corpus that they come from.

    python benchmarks/support_share.py FILE... [--sets 40]

A FILE has labelled sentences. Supports of 1, 3, 5 and 10 mentions of each type are drawn from it. For each number the
factor is printed by which the share of words in mentions is higher in supports of at least 20 words: the median, nine
of ten, and how often it is at least 4, so that `fit` would call the true ratio a contradiction
(`handful.tagger.fitting`).
"""

import argparse

import numpy as np

from handful import read
from handful.errors import DataError
from handful.evaluate import sample_support
from handful.tagger.fitting import CONTRADICTION, FEWEST_WORDS


def share_inside(sentences):
    n_words = sum(len(sentence.words) for sentence in sentences)
    return sum(span.end - span.start for sentence in sentences for span in sentence.spans) / n_words, n_words


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--sets", type=int, default=40)
    options = parser.parse_args()
    corpora = [list(read(file)) for file in options.files]
    for shots in (1, 3, 5, 10):
        factors = []
        for corpus in corpora:
            try:
                supports = sample_support(corpus, shots, 0, sets=options.sets)
            except DataError:  # too few mentions
                continue
            found = [share_inside(support) for support in supports]
            factors += [share / share_inside(corpus)[0] for share, n_words in found if n_words >= FEWEST_WORDS]
        median, high = np.quantile(factors, [0.5, 0.9])
        alarms = np.mean(np.array(factors) >= CONTRADICTION)
        print(f"{shots:2} shots, {len(factors)} supports: {median:.2f}, {high:.2f}; false alarms {alarms:.1%}")


if __name__ == "__main__":
    main()
