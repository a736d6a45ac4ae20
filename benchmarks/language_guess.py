"""Count the tables of the language guess; measure how early it notices a language, and false alarms.

    python benchmarks/language_guess.py [--write]

The tables are counted in train/ of mosaic_languages and mosaic, and measured on dev/ of both, the garden notes and the
pages of the docs. "notice": for each file, after how many lines an encoder that knows English only is said not to know
the language; and for each English file, whether there was a false alarm. "guess": the language of 3 lines, for each 3
lines of a file.
"""

import argparse
import json
from collections import Counter, defaultdict

from language_words import ROOT, lines_of

from handful.text import to_sentences

MOST = 40  # words in the table of a language
SHARED = {
    "latin": str.split("cs da de en es fi fr hu id it nb nl pl pt ro sv sw tr vi"),
    "cyrillic": str.split("bg ru uk"),
    "arabic": str.split("ar fa ur"),
}


def files(part):
    found = defaultdict(list)
    for path in sorted((ROOT / "corpora" / "mosaic_languages" / part).glob("*.txt")):
        found[path.name[:2]].append([text for text, _ in lines_of(path)])
    for path in sorted((ROOT / "corpora" / "mosaic" / part).glob("*.txt")):
        found["en"].append([text for text, _ in lines_of(path)])
    return found


def small(lines):
    for line in lines:
        for sentence in to_sentences(line):
            for word in sentence.words:
                if (
                    any(map(str.isalpha, word))
                    and not word[0].isupper()
                    and word.replace("'", "").replace("’", "").isalpha()
                ):
                    yield word.replace("’", "'")


def write():
    counts = {
        language: Counter(word for lines in corpora for word in small(lines))
        for language, corpora in files("train").items()
    }
    in_files = {
        one: Counter(w for lines in corpora for w in set(small(lines))) for one, corpora in files("train").items()
    }
    path = ROOT / "src" / "handful" / "text" / "languages.json"
    common, letters = {}, {}
    for script, languages in SHARED.items():
        of_script = {}
        for language in languages:
            n = counts[language].total()
            best = [(word, k) for word, k in counts[language].most_common() if in_files[language][word] > 1][:MOST]
            common[language] = " ".join(f"{word} {round(1000 * k / n)}" for word, k in best if k * 1000 >= n)
            seen = Counter(
                c for word, k in counts[language].items() for c in set(word) for _ in range(k) if c.isalpha()
            )
            of_script[language] = {c for c, k in seen.items() if k >= max(2, n / 3000) and not c.isascii()}
        for language in languages:
            mine = of_script[language]
            if script != "latin":  # letters that the others do not have
                mine = mine - set().union(*(of_script[other] for other in languages if other != language))
            n = sum(k for word, k in counts[language].items() if set(word) & mine)
            if n * 200 >= counts[language].total():
                letters[language] = f"{round(1000 * n / counts[language].total())} {''.join(sorted(mine))}"
    tables = {"common": common, "letters": letters}
    path.write_text(json.dumps(tables, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def measure():
    from handful.text.languages import NAMES, LanguageNotice, guess_language

    texts = files("dev")
    texts["en"] += [p.read_text(encoding="utf-8").splitlines() for p in sorted((ROOT / "docs").glob("*.md"))]
    texts["en"] += [[text for text, _ in lines_of(p)] for p in sorted((ROOT / "src/handful/examples").glob("*.txt"))]
    train = files("train")
    for part, given in (("dev", texts), ("train", train)):
        print(
            f"{part}: language, files, lines until it is noticed (- never), share of guesses by 3 lines that are right"
        )
        for language, corpora in sorted(given.items()):
            noticed, right, n = [], 0, 0
            for lines in corpora:
                notice = LanguageNotice(["en"])
                found = ((i, notice(to_sentences(line))) for i, line in enumerate(lines, 1))
                noticed.append(next(((i, name) for i, name in found if name), ("-", "")))
                for i in range(0, len(lines) - 2, 3):
                    n += 1
                    right += guess_language([s for line in lines[i : i + 3] for s in to_sentences(line)]) == language
            shown = Counter(i for i, _ in noticed) if language == "en" else [f"{i} {name}" for i, name in noticed]
            print(f"{NAMES[language]:12} {len(corpora):3}  {100 * right / max(n, 1):5.1f}  {shown}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="count the tables anew")
    if parser.parse_args().write:
        write()
    measure()


if __name__ == "__main__":
    main()
