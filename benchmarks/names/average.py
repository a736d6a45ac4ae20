"""The mean of the weights of several trainings, as one encoder; handful-en is one.

    python benchmarks/names/average.py OUT FOLDER FOLDER ...

Each FOLDER is what `handful pretrain` wrote, all from the same base with the same seed and corpora; recipes may
differ in the rest. With the same seed the prototypes of O start alike, so that their means have a meaning. The card of
OUT is that of the first, with the recipe and the figures of each under "averaged". Paths in it keep their last three
parts; descriptions are left out where a corpus has them in its own file.
"""

import argparse
import json
import shutil
from pathlib import Path, PurePath

from safetensors.torch import load_file, save_file

WEIGHTS = ("model.safetensors", "word_shapes.safetensors", "names.safetensors")
CARD = "handful.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    given = parser.parse_args()
    cards = [json.loads((folder / CARD).read_text("utf-8")) for folder in given.folders]
    card = averaged(cards)
    shutil.copytree(given.folders[0], given.out)
    for name in WEIGHTS:
        if (given.out / name).is_file():
            parts = [load_file(folder / name) for folder in given.folders]
            means = {key: sum(part[key].float() for part in parts) / len(parts) for key in parts[0]}
            save_file(means, given.out / name, metadata={"format": "pt"})
    (given.out / CARD).write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", "utf-8")


def averaged(cards: list[dict]) -> dict:
    """Return the card of the mean."""
    first = cards[0]
    for card in cards[1:]:
        for key in ("base", "corpora"):
            if card[key] != first[key]:
                raise SystemExit(f"the trainings differ in {key}: their mean has no meaning")
        if card["recipe"]["seed"] != first["recipe"]["seed"]:
            raise SystemExit("the trainings have different seeds: the means of their prototypes have no meaning")
    runs = [
        {
            "recipe": {key: value for key, value in card["recipe"].items() if value != first["recipe"][key] or i == 0},
            "steps": card["training"]["steps"],
            "loss": card["training"]["epochs"][-1]["loss"],
            "dev": {name: found["f1"] for name, found in card["training"]["epochs"][-1]["dev"].items()},
        }
        for i, card in enumerate(cards)
    ]
    corpora = [short(corpus) for corpus in first["corpora"]]
    made_by = f"{first['made_by']}, the mean of {len(cards)} trainings (benchmarks/names/average.py)"
    base = first["base"] | {"encoder": PurePath(first["base"]["encoder"]).name}
    kept = {key: value for key, value in first.items() if key not in ("recipe", "training")}
    return kept | {"made_by": made_by, "base": base, "corpora": corpora, "averaged": runs}


def short(corpus: dict) -> dict:
    files = [file | {"path": "/".join(PurePath(file["path"]).parts[-3:])} for file in corpus["files"]]
    described = {} if corpus["name"].startswith(("mosaic/", "new/")) else {"descriptions": corpus["descriptions"]}
    return {key: value for key, value in corpus.items() if key != "descriptions"} | {"files": files} | described


if __name__ == "__main__":
    main()
