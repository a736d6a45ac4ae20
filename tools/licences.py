"""List the licences of what handful depends on, as the installed packages state them.

    python tools/licences.py              # all that is needed at run time, with what that needs in turn
    python tools/licences.py --dev        # and what development needs
    python tools/licences.py --notice     # write the list of direct dependencies in NOTICE anew

A test compares NOTICE with pyproject.toml and with what is installed.
"""

import argparse
import re
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOTICE = ROOT / "NOTICE"
MARK = "Dependencies"  # the heading of the list in NOTICE; it goes to the end of the file

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRAS = re.compile(r"\[([^\]]*)\]")
_OF_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")


def groups() -> dict[str, list[str]]:
    """Return the requirements of pyproject.toml by extra; those of the package itself are under ""."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {"": project["dependencies"], **project["optional-dependencies"]}


def name_of(requirement: str) -> str:
    """Return the name of the package that a requirement asks for, as PyPI writes it."""
    match = _NAME.match(requirement)
    assert match, requirement
    return re.sub(r"[-_.]+", "-", match[0]).lower()


def licence_of(package: Distribution) -> str:
    """Return the licence that a package states: as an expression, in a word or by its classifiers."""
    about = package.metadata.json
    if expression := about.get("license_expression"):
        return str(expression)
    stated = str(about.get("license", ""))
    if stated and "\n" not in stated and len(stated) <= 80 and stated.lower() not in ("unknown", "dual license"):
        return stated.strip()
    kinds = [one.rpartition(" :: ")[2] for one in about.get("classifier", []) if one.startswith("License ::")]
    return " and ".join(kinds) or (stated.strip().splitlines() or ["unknown"])[0][:80]


def closure(requirements: list[str]) -> tuple[dict[str, str], set[str]]:
    """Return the licence by name of packages and of all that they need, and which of them are not installed."""
    found: dict[str, str] = {}
    absent: set[str] = set()
    seen: set[tuple[str, str]] = set()
    waiting = [(name_of(one), extra) for one in requirements for extra in extras_of(one)]
    while waiting:
        if (step := waiting.pop()) in seen:
            continue
        seen.add(step)
        name, extra = step
        try:
            package = distribution(name)
        except PackageNotFoundError:
            absent.add(name)  # often for another system or an older Python
            continue
        found[name] = licence_of(package)
        for one in package.requires or ():
            wanted = _OF_EXTRA.findall(one)
            if extra in wanted if wanted else extra == "":
                waiting += [(name_of(one), inner) for inner in extras_of(one)]
    return dict(sorted(found.items())), absent


def extras_of(requirement: str) -> list[str]:
    """Return the extras that a requirement asks for, after "" for the package itself."""
    match = _EXTRAS.search(requirement.partition(";")[0])
    return ["", *(one.strip() for one in match[1].split(",") if one.strip())] if match else [""]


def notice() -> str:
    """Return NOTICE with its list of direct run-time dependencies made anew."""
    lines = [MARK, "", "None of these is part of this package; pip installs them. Licences are as they state them."]
    for extra, requirements in groups().items():
        if extra != "dev":
            lines += ["", f"with the extra {extra}:" if extra else "always:"]
            lines += [f"  {name}: {licence_of(distribution(name))}" for name in sorted(map(name_of, requirements))]
    head = NOTICE.read_text(encoding="utf-8").partition(f"\n{MARK}\n")[0].rstrip("\n")
    return "\n".join([head, "", *lines]) + "\n"


def main() -> None:
    """Print the list, or write it to NOTICE."""
    parser = argparse.ArgumentParser(description="Licences of dependencies, as installed packages state them.")
    parser.add_argument("--dev", action="store_true", help="with what development needs")
    parser.add_argument("--notice", action="store_true", help="write the list in NOTICE anew")
    asked = parser.parse_args()
    if asked.notice:
        NOTICE.write_text(notice(), encoding="utf-8")
        return
    wanted = [one for extra, all_ in groups().items() if asked.dev or extra != "dev" for one in all_]
    found, absent = closure(wanted)
    for name, licence in found.items():
        print(f"{name:32} {distribution(name).version:16} {licence}")
    print(f"{len(found)} packages", *(f"not installed: {', '.join(sorted(absent))}" for _ in [0] if absent), sep="; ")
    if direct := sorted(absent & {name_of(one) for one in wanted}):
        sys.exit(f"install these first, their licences are not known: {', '.join(direct)}")


if __name__ == "__main__":
    main()
