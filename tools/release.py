"""Try a release, all but the upload: `make release` runs this.

    python tools/release.py             # a clean tree, all of the checks
    python tools/release.py --build     # build and check dist/, for a tree that has changes

Needs build and twine, and git. What it built is in dist/; the commands that would publish it are printed.
"""

import argparse
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
ENCODERS = ROOT / "encoders"  # distributions of encoders, each in a folder of its name
ENCODER = ("encoder.json", "model.onnx", "names.safetensors", "sentences.bin", "tokenizer.json", "training.json")
MOST_BYTES = 100_000_000  # of a file on PyPI
# To try encoders on; handful-en knows the last one.
TEXTS = {
    "de": "Anna Berg ist gestern mit dem Zug nach Leipzig gefahren, weil sie dort eine Schwester hat.",
    "es": "Ana Prieto fue ayer en tren a Sevilla porque tiene una hermana que vive en la ciudad.",
    "zh": "王小红昨天坐火车去了上海,因为她的姐姐住在那里。",
    "en": "Anna Berg went to Leeds by train yesterday.",
}


def versions() -> dict[str, str]:
    """Return the version that each place states: package, changelog, citation and release notes."""

    def found(file: str, pattern: str) -> str:
        match = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
        return match[1] if match else "none"

    package = found("src/handful/__init__.py", r'^__version__ = "([^"]+)"')
    notes = f"docs/release_notes_{package}.md"
    return {
        "src/handful/__init__.py": package,
        "CHANGELOG.md": found("CHANGELOG.md", r"^## \[(\d[^\]]*)\]"),
        "CITATION.cff": found("CITATION.cff", r"^version: (\S+)$"),
        notes: found(notes, r"^# handful (\S+)$") if (ROOT / notes).is_file() else "none",
    }


def dates() -> dict[str, str]:
    """Return the day of the release that the changelog and the citation state."""
    changelog, citation = ((ROOT / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "CITATION.cff"))
    of_changelog = re.search(r"^## \[\d[^\]]*\] - (\S+)$", changelog, re.MULTILINE)
    of_citation = re.search(r"^date-released: \"?([\d-]+)\"?$", citation, re.MULTILINE)
    return {name: one[1] if one else "none" for name, one in (("changelog", of_changelog), ("citation", of_citation))}


def check(is_so: bool, what: str, otherwise: str = "") -> None:
    """Say what was checked, or end with what is wrong."""
    if not is_so:
        sys.exit(f"release: NOT {what}{': ' + otherwise if otherwise else ''}")
    print(f"ok  {what}")


def run(*command: str | Path, folder: Path = ROOT) -> str:
    """Run a command and return what it prints; end with its errors where it fails."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    clean["SOURCE_DATE_EPOCH"] = str(epoch())
    done = subprocess.run([*map(str, command)], cwd=folder, env=clean, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"release: {' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def epoch() -> int:
    """Return the time of the last commit, which all files in the archives get."""
    told = os.environ.get("SOURCE_DATE_EPOCH")
    return int(told or subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT, text=True))


def build(target: Path) -> tuple[Path, Path]:
    """Build an sdist from what git knows, and a wheel from the sdist; return both."""
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place, "tree")
        for name in run("git", "ls-files", "-z").split("\0"):
            if (name.startswith("src/") or "/" not in name) and (ROOT / name).is_file():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, tree / name)
        run(sys.executable, "-m", "build", "--sdist", "--outdir", Path(place, "made"), folder=tree)
        (made,) = Path(place, "made").glob("*.tar.gz")
        sdist = target / made.name
        target.mkdir(parents=True, exist_ok=True)
        repack(made, sdist)
        with tarfile.open(sdist) as archive:
            archive.extractall(Path(place, "from"), filter="data")
        (source,) = Path(place, "from").iterdir()
        run(sys.executable, "-m", "build", "--wheel", "--outdir", target, folder=source)
    (wheel,) = target.glob("*.whl")
    return sdist, wheel


def repack(made: Path, target: Path) -> None:
    """Write an sdist anew, with sorted files that say nothing of when, where and by whom it was made."""
    content = io.BytesIO()
    with tarfile.open(made) as old, tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as new:
        for one in sorted((one for one in old.getmembers() if one.isfile()), key=lambda one: one.name):
            plain = tarfile.TarInfo(one.name)
            plain.size, plain.mtime, plain.mode = one.size, epoch(), 0o644
            new.addfile(plain, old.extractfile(one))
    with target.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=epoch()) as packed:
        packed.write(content.getvalue())


def check_contents(sdist: Path, wheel: Path, version: str) -> None:
    """Look at what is in the archives: the encoder, licences, nothing that does not belong there."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        for name in ENCODER:
            packed, here = archive.read(f"handful/encoders/en/{name}"), ROOT / "src/handful/encoders/en" / name
            check(packed == here.read_bytes(), f"the wheel holds encoders/en/{name}, {len(packed):,} bytes")
    about = f"handful-{version}.dist-info"
    for name in ("LICENSE", "NOTICE"):
        check(f"{about}/licenses/{name}" in names, f"the wheel holds {name}")
    odd = [name for name in names if not name.startswith(("handful/", f"{about}/")) or "__pycache__" in name]
    check(not odd, "the wheel holds nothing else", ", ".join(odd[:5]))
    with tarfile.open(sdist) as archive:
        stray = [one for one in archive.getnames() if "/tests/" in one or "/corpora/" in one]
    check(not stray, "the sdist holds no tests and no corpora", ", ".join(stray[:5]))
    for file in (sdist, wheel):
        size = file.stat().st_size
        check(size < MOST_BYTES, f"{file.name}: {size / 1e6:.1f} MB, sha256 {digest(file)}")


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def build_encoders(target: Path) -> list[Path]:
    """Build a wheel of each distribution of an encoder whose weights are there; say which are not."""
    wheels = []
    for folder in sorted(path.parent for path in ENCODERS.glob("*/pyproject.toml")):
        package = folder / folder.name.replace("-", "_")
        if lacking := [
            name for name in ("encoder.json", "model.onnx", "tokenizer.json") if not (package / name).is_file()
        ]:
            print(f"--  {folder.name} is passed over: {package} has no {', '.join(lacking)}; see its README.md")
            continue
        with tempfile.TemporaryDirectory() as place:
            tree = shutil.copytree(folder, Path(place, "tree"), ignore=shutil.ignore_patterns("build", "*.egg-info"))
            run(sys.executable, "-m", "build", "--wheel", "--outdir", Path(place, "made"), folder=tree)
            (made,) = Path(place, "made").glob("*.whl")
            wheels.append(Path(shutil.copy(made, target)))
        wheel = wheels[-1]
        with zipfile.ZipFile(wheel) as archive:
            lost = {one.name for one in package.iterdir() if one.is_file()} - {
                Path(name).name for name in archive.namelist()
            }
        check(not lost, f"the wheel of {folder.name} holds all files of {package.name}", ", ".join(sorted(lost)))
        check(
            wheel.stat().st_size < MOST_BYTES,
            f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, sha256 {digest(wheel)}",
        )
    return wheels


def try_wheel(wheel: Path, version: str, encoders: list[Path]) -> None:
    """Install the wheel and those of encoders into a fresh virtual environment, and use them there."""
    with tempfile.TemporaryDirectory() as place:
        run(sys.executable, "-m", "venv", Path(place, "venv"))
        programs = Path(place, "venv", "Scripts" if os.name == "nt" else "bin")
        run(programs / "python", "-m", "pip", "install", "-q", wheel)
        said = run(programs / "handful", "--version", folder=Path(place)).strip()
        check(said == f"handful {version}", f"in a fresh environment, handful --version says {said!r}")
        said = run(programs / "handful", "demo", folder=Path(place))
        check(Path(place, "handful-demo.html").is_file(), "in a fresh environment, handful demo writes its page")
        print("\n".join(f"    {line}" for line in said.strip().splitlines()[-6:]))
        for encoder in encoders:
            try_encoder(encoder, programs, Path(place))


def try_encoder(encoder: Path, programs: Path, place: Path) -> None:
    """Install the wheel of an encoder beside handful, and use it by its name and for text in a language of its own."""
    run(programs / "python", "-m", "pip", "install", "-q", "--no-deps", encoder)
    name = encoder.name.partition("-")[0].replace("_", "-")
    handful = programs / "handful"
    said = run(handful, "encoders", folder=place)
    check(name in said, f"in a fresh environment, handful encoders lists {name}")
    known = f"from handful.encoders import load; print(*load({name!r}).languages)"
    languages = run(programs / "python", "-c", known, folder=place).split()
    language = next((one for one in languages if one in TEXTS), "")
    predict = (handful, "predict", "--types", "person, city", "--text", TEXTS.get(language, TEXTS["en"]))
    said = run(*predict, "--encoder", name, folder=place)
    check(said.startswith('{"text"'), f"in a fresh environment, handful predict --encoder {name} answers")
    if language:
        is_same = run(*predict, "--encoder", "auto", folder=place) == said
        check(is_same, f"in a fresh environment, --encoder auto takes {name} for {language}")


def main() -> None:
    """Check, build, check again, try; print what would publish."""
    parser = argparse.ArgumentParser(description="Try a release, all but the upload.")
    parser.add_argument("--build", action="store_true", help="build and check; the tree may have changes")
    asked = parser.parse_args()
    stated = versions()
    version = stated["src/handful/__init__.py"]
    if not asked.build:
        changed = run("git", "status", "--porcelain").strip()
        check(not changed, "the tree is clean", f"commit or remove\n{changed}")
    check(len(set(stated.values())) == 1, f"all places state version {version}", str(stated))
    check(len(set(dates().values())) == 1, "changelog and citation state the same day", str(dates()))
    shutil.rmtree(DIST, ignore_errors=True)
    sdist, wheel = build(DIST)
    with tempfile.TemporaryDirectory() as place:
        again = [digest(file) for file in build(Path(place))]
    check(again == [digest(sdist), digest(wheel)], "a second build gives the same bytes")
    check_contents(sdist, wheel, version)
    run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel)
    check(True, "twine finds nothing wrong")
    encoders = build_encoders(DIST)
    if encoders:
        run(sys.executable, "-m", "twine", "check", "--strict", *encoders)
    try_wheel(wheel, version, encoders)
    print(f"\nNothing was uploaded. To publish {version}, after the tests:\n")
    print(f"    git tag -a v{version} -m 'handful {version}' && git push origin v{version}")
    print("\nThe tag starts .github/workflows/release.yml, which builds, checks and uploads. By hand, instead:\n")
    print(f"    python -m twine upload {' '.join(f'dist/{one.name}' for one in (sdist, wheel, *encoders))}")


if __name__ == "__main__":
    main()
