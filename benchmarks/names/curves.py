r"""F1 over the number of labels, with and without names and text: the table and the picture of docs/names.md.

    printf 'fewer = true\ntexts = ["all", "none"]\n' > recipe.toml
    handful bench transfer DATA/wnut17 DATA/btc DATA/sec_filings DATA/ncbi_disease DATA/bc5cdr --on dev \
        --sets 3 --shots 0,1,2,5,10,20,50,100 --methods handful --o-ratios auto --recipe recipe.toml --report report
    python benchmarks/names/curves.py report --out docs/images/names-curves.svg

With the method handful-nonames, too, labels without names have lines. REPORT may be several folders: reports of
one target each, or of some numbers of labels each. The picture needs matplotlib.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path
from statistics import mean

LINES = {
    ("handful", "all"): "names, labels and text",
    ("handful", "none"): "names and labels",
    ("handful-nonames", "all"): "labels and text, no names",
    ("handful-nonames", "none"): "labels alone",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="+", type=Path, metavar="REPORT")
    parser.add_argument("--out", type=Path, help="the picture to write")
    given = parser.parse_args()
    found = defaultdict(dict)  # by line, target and shots: F1 by support
    for report in given.reports:
        for line in (report / "results.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            found[row["method"], row["text"], row["target"], row["shots"]][row["support"]] = 100 * row["f1"]
    targets = sorted({key[2] for key in found})
    shots = sorted({key[3] for key in found})
    curves = {}
    print("| |" + "".join(f" {n} |" for n in shots))
    for line, name in LINES.items():
        if not any(key[:2] == line for key in found):
            continue
        cells = [[found.get((*line, target, n)) for target in targets] for n in shots]
        curves[name] = [mean(mean(one.values()) for one in cell) if all(cell) else None for cell in cells]
        print(f"| {name} |" + "".join(f" {f1:.1f} |" if f1 is not None else " - |" for f1 in curves[name]))
    for target in targets:
        cells = [found.get(("handful", "all", target, n)) for n in shots]
        print(f"| {target} |" + "".join(f" {mean(cell.values()):.1f} |" if cell else " - |" for cell in cells))
    if given.out is not None:
        draw(shots, curves, len(targets), given.out)


def draw(shots, curves, n_targets, out):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "handful"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for name, curve in curves.items():
        style = ("o" if name.startswith("names") else "s") + ("-" if "text" in name else "--")
        known = [(i, f1) for i, f1 in enumerate(curve) if f1 is not None]
        axes.plot(
            *zip(*known, strict=True), style, color="tab:blue" if name.startswith("names") else "tab:gray", label=name
        )
    axes.set_xticks(range(len(shots)), shots)
    axes.set_xlabel("labels of each type")
    axes.set_ylabel(f"strict span F1, mean of {n_targets} corpora")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None})


if __name__ == "__main__":
    main()
