#!/usr/bin/env python3
"""Write the licences of all modules that are linked into the program.

    licences.py OUT

The archives and packages contain OUT, because the licences ask for it. A module without
a licence, or with one of a kind that docs/dependencies.md does not accept, is an error.
"""

import os
import pathlib
import re
import subprocess
import sys

KINDS = {
    "Apache-2.0": r"Apache License\s+Version 2\.0",
    "MPL-2.0": r"Mozilla Public License,? [Vv]ersion 2\.0",
    "MIT": r"Permission is hereby granted, free of charge",
    "BSD": r"Redistribution and use in source and binary forms",
}
NAME = re.compile(r"^(licen[cs]e|copying|notice|copyright)", re.I)
SYSTEMS = ["linux", "darwin", "windows", "freebsd"]


def modules():
    """Return the modules linked on any system, with their versions and folders."""
    found = set()
    for system in SYSTEMS:
        text = subprocess.run(
            ["go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}", "./cmd/urlfold"],
            check=True, capture_output=True, text=True, env=dict(os.environ, GOOS=system, CGO_ENABLED="0"),
        ).stdout
        found |= {tuple(line.split(" ", 2)) for line in text.splitlines() if line}
    goroot = subprocess.run(["go", "env", "GOROOT"], check=True, capture_output=True, text=True).stdout.strip()
    version = subprocess.run(["go", "env", "GOVERSION"], check=True, capture_output=True, text=True).stdout.strip()
    return sorted(found) + [("the Go standard library", version, goroot)]


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    parts, bad = [], []
    for path, version, folder in modules():
        texts = [f.read_text(errors="replace") for f in sorted(pathlib.Path(folder).iterdir()) if f.is_file() and NAME.match(f.name)]
        kinds = [kind for kind, phrase in KINDS.items() if re.search(phrase, "\n".join(texts))]
        if not kinds:
            bad.append(f"{path} {version}: no licence of a known kind in {folder}")
        parts.append(f"{path} {version} ({', '.join(kinds)})\n\n" + "\n".join(texts))
    if bad:
        raise SystemExit("\n".join(bad))
    pathlib.Path(sys.argv[1]).write_text(("\n" + "-" * 80 + "\n\n").join(parts))
    print(f"licences of {len(parts)} modules")


if __name__ == "__main__":
    main()
