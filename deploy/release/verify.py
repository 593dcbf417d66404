#!/usr/bin/env python3
"""Compare what the binaries of a release contain with what the project says.

    verify.py DIST

For each binary, the modules that "go version -m" prints must be those of its bill of
materials, and docs/dependencies.md must have each of them.
"""

import json
import pathlib
import subprocess
import sys

from artifacts import ROOT


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    dist, bad = pathlib.Path(sys.argv[1]), []
    documented = (ROOT / "docs/dependencies.md").read_text()
    artifacts = json.loads((dist / "artifacts.json").read_text())
    bills = {}
    for a in artifacts:
        if a["type"] == "SBOM":
            parts = json.loads(pathlib.Path(a["path"]).read_text())["components"]
            bills[a["name"].removesuffix(".cdx.json").split("_", 2)[2]] = {(p["name"], p["version"]) for p in parts if p["name"] != "std"}
    checked = 0
    for a in artifacts:
        if a["type"] != "Binary":
            continue
        platform = f"{a['goos']}_{a['goarch']}"
        lines = subprocess.run(["go", "version", "-m", a["path"]], check=True, capture_output=True, text=True).stdout.splitlines()
        linked = {tuple(line.split("\t")[2:4]) for line in lines if line.startswith("\tdep\t")}
        if not linked or bills.get(platform) != linked:
            bad.append(f"{platform}: the bill of materials differs in {sorted(bills.get(platform, set()) ^ linked)}")
        bad += [f"{platform}: docs/dependencies.md does not have {module}" for module, _ in sorted(linked) if module not in documented]
        checked += 1
    if bad or not checked:
        raise SystemExit("\n".join(bad) or "no binaries")
    print(f"{checked} binaries contain what their bills of materials and docs/dependencies.md say")


if __name__ == "__main__":
    main()
