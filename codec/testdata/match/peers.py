#!/usr/bin/env python3.11
"""Runs the Python programs that matching profiles reproduce.

    peers.py PROFILE < inputs    prints the result for each input, one per line
    peers.py --vectors PROFILE…  writes PROFILE.jsonl from inputs.json

Inputs and results on lines are hex digits; a result is "-" if the program
raises an exception. In JSON files, each character is a byte (Latin-1).
"""
import importlib.metadata
import json
import pathlib
import re
import socket
import sys

PINS = {"w3lib": "2.5.0", "surt": "0.3.1", "urlcanon": "0.3.1", "idna": "3.20"}
HERE = pathlib.Path(__file__).parent


def w3lib(src):
    import w3lib.url
    return w3lib.url.canonicalize_url(src).encode()


def ssurt(src):
    import urlcanon
    return urlcanon.parse_url(src).ssurt()


def surt_ia(src):
    import surt
    return surt.surt(src)


def urlcanon_function(name):
    def run(src):
        import urlcanon
        return bytes(getattr(urlcanon, name)(src))
    return run


URLCANON = ["whatwg", "google", "semantic_precise", "semantic", "aggressive"]
PROFILES = {**{"urlcanon-" + f.replace("_", "-"): urlcanon_function(f) for f in URLCANON},
            "w3lib": w3lib, "surt-ia": surt_ia, "ssurt": ssurt}


def no_dns(host):
    """Stands for socket.gethostbyname_ex, which surt calls for numbers."""
    try:
        if re.fullmatch(rb"[0-9.]+", host):
            return host, [], [socket.inet_ntoa(socket.inet_aton(host.decode()))]
    except OSError:
        pass
    raise socket.gaierror("no DNS: a result must not depend on it")


def run(profile, src):
    try:
        return PROFILES[profile](src)
    except Exception:
        return None


def check():
    if sys.version_info[:2] != (3, 11):
        sys.exit("peers.py: needs Python 3.11, whose Unicode tables and URL functions the programs use")
    for name, version in PINS.items():
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found = "none"
        if found != version:
            sys.exit(f"peers.py: needs {name} {version}, found {found}: pip install -r codec/testdata/match/requirements.txt")


def main(args):
    check()
    socket.gethostbyname_ex = no_dns
    if args[:1] == ["--vectors"]:
        inputs = json.loads((HERE / "inputs.json").read_text())
        for profile in args[1:] or PROFILES:
            with open(HERE / f"{profile}.jsonl", "w") as out:
                for text in inputs:
                    result = run(profile, text.encode("latin-1"))
                    row = {"in": text, "out": result.decode("latin-1")} if result is not None else {"in": text, "error": True}
                    out.write(json.dumps(row) + "\n")
        return
    for line in sys.stdin:
        result = run(args[0], bytes.fromhex(line))
        print("-" if result is None else result.hex() or "''")


main(sys.argv[1:])
