"""Look for known vulnerabilities in what is installed, with pip-audit: `make audit` runs this.

    python tools/audit.py SITE_PACKAGES              # where the data cannot be had, says so and ends well
    python tools/audit.py SITE_PACKAGES --strict     # ... and fails: for a build that has a network

pip-audit reports "no known vulnerabilities" for packages that it could not look up. So an old version with known
vulnerabilities is asked for first: if nothing is known of that one, the data is not there.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CONTROL = "jinja2==2.11.2"  # has known vulnerabilities (PYSEC-2021-66 and others)
OWN = "handful"


def ask(*arguments: str) -> list[dict[str, Any]] | None:
    """Run pip-audit and return what it says of each package; None if it could not ask."""
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", "--timeout", "15"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    try:
        found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        print((done.stderr.strip().splitlines() or ["pip-audit said nothing"])[-1][:300], file=sys.stderr)
        return None
    return found


def main() -> None:
    """Ask for the control, then for what is installed; exit code 1 if anything is known against it."""
    parser = argparse.ArgumentParser(description="Known vulnerabilities of installed packages.")
    parser.add_argument("place", type=Path, help="the site-packages of an environment")
    parser.add_argument("--strict", action="store_true", help="fail where the data cannot be had")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        control = Path(folder, "control.txt")
        control.write_text(f"{CONTROL}\n", encoding="utf-8")
        known = ask("--requirement", str(control), "--no-deps", "--disable-pip")
    found = ask("--path", str(asked.place)) if known and known[0].get("vulns") else None
    if found is None:
        print(f"audit: NOT done, the data on vulnerabilities cannot be had here (nothing is known of {CONTROL})")
        sys.exit(1 if asked.strict else 0)
    bad = [one for one in found if one.get("vulns")]
    for one in bad:
        for flaw in one["vulns"]:
            mended = ", ".join(flaw["fix_versions"]) or "no version yet"
            print(f"{one['name']} {one['version']}: {flaw['id']}, mended in {mended}")
    found = [one for one in found if one["name"] != OWN]
    skipped = [one["name"] for one in found if "skip_reason" in one]
    print(f"audit: {len(found) - len(skipped)} packages looked up, {len(bad)} with known vulnerabilities")
    if skipped:
        print(f"audit: not looked up, because the index does not have these versions: {', '.join(skipped)}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
