#!/usr/bin/env python3
"""Canonical URLs and expressions of Safe Browsing, straight from the text of the
specification, for the tests of this package.

Written from https://developers.google.com/safe-browsing/v4/urls-hashing and
https://developers.google.com/safe-browsing/reference/URLs.and.Hashing, step by
step and without regard to speed, so that it shares no idea with the package.

The argument is the Public Suffix List. Reads lines of x and hexadecimal digits.
For each, writes the canonical URL and its expressions, one per line, by version
4 and by version 5: four fields separated by spaces, each as x and hexadecimal
digits, "-" if the URL is rejected, or "?" if this program does not decide: for
internationalized names that the package idna rejects.
"""

import ipaddress
import re
import sys

import idna


class Rejected(Exception):
    pass


class Undecided(Exception):
    pass


def unescape(text: bytes) -> bytes:
    """Repeatedly percent-unescape until no escape is left."""
    for _ in range(1024):
        decoded = re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), text)
        if decoded == text:
            return text
        text = decoded
    raise Rejected


def escape(text: bytes) -> bytes:
    """Percent-escape <= ASCII 32, >= 127, '#' and '%', in upper case."""
    return b"".join(b"%%%02X" % c if c <= 32 or c >= 127 or c in b"#%" else bytes([c]) for c in text)


def split(text: bytes):
    """Scheme, authority, path and query of an unescaped URL."""
    scheme, rest = b"http", text
    m = re.match(rb"([A-Za-z][A-Za-z0-9+.-]*):(?![0-9]+(/|\Z))", text, re.S)
    if m:
        scheme, rest = m[1].lower(), text[m.end():]
        if not rest.startswith(b"//"):
            raise Rejected
        rest = rest[2:]
    rest, mark, query = rest.partition(b"?")
    authority, slash, path = rest.partition(b"/")
    return scheme, authority, slash + path, mark + query


def internationalized(host: bytes) -> bytes:
    """Convert to the ASCII Punycode representation."""
    if all(c < 128 for c in host):
        return host
    try:
        name = host.decode()
    except UnicodeDecodeError:
        return host
    try:
        return idna.encode(name, uts46=True, std3_rules=False, transitional=False)
    except (idna.IDNAError, UnicodeError):
        raise Undecided  # the package is stricter than UTS 46


def ipv4(host: bytes):
    """Any legal encoding: octal, hex, fewer than four components."""
    numbers = []
    for part in host.split(b"."):
        if re.fullmatch(rb"0[xX][0-9a-fA-F]+", part):
            numbers.append(int(part, 16))
        elif re.fullmatch(rb"0[0-7]*", part):
            numbers.append(int(part, 8))
        elif re.fullmatch(rb"[1-9][0-9]*", part):
            numbers.append(int(part))
        else:
            return None
    if len(numbers) > 4 or any(n > 255 for n in numbers[:-1]):
        return None
    if numbers[-1] >= 256 ** (5 - len(numbers)):
        return None
    value = numbers[-1]
    for i, n in enumerate(numbers[:-1]):
        value += n << (24 - 8 * i)
    return str(ipaddress.IPv4Address(value)).encode()


def ipv6(host: bytes):
    """Bracketed addresses, of version 5."""
    m = re.fullmatch(rb"\[([0-9a-fA-F:.]+)\]", host)
    if not m:
        return None
    try:
        address = ipaddress.IPv6Address(m[1].decode())
    except ValueError:
        return None
    number = int(address)
    if number >> 32 in (0xFFFF, 0x64FF9B << 64):
        return str(ipaddress.IPv4Address(number & 0xFFFFFFFF)).encode()
    return b"[" + compressed(address).encode() + b"]"


def compressed(address):
    """No leading zeros, the first longest run of zero groups as '::'."""
    groups = ["%x" % int(g, 16) for g in address.exploded.split(":")]
    best = max(((n, -i) for i in range(8) for n in range(2, 9 - i) if groups[i:i + n] == ["0"] * n), default=None)
    if best is None:
        return ":".join(groups)
    n, i = best[0], -best[1]
    return ":".join(groups[:i]) + "::" + ":".join(groups[i + n:])


def canonical_host(authority: bytes, version: int) -> bytes:
    host = authority.rpartition(b"@")[2]
    host = re.sub(rb":[0-9]*\Z", b"", host)
    host = internationalized(host)
    host = re.sub(rb"\.+", b".", host.strip(b"."))
    if not host:
        raise Rejected
    host = ipv4(host) or (version == 5 and ipv6(host)) or host
    return bytes(c + 32 if 65 <= c <= 90 else c for c in host)


def canonical_path(path: bytes) -> bytes:
    if not path:
        return b"/"
    # "/.." and "/." at the end count as if a slash followed.
    if path.endswith((b"/..", b"/.")):
        path += b"/"
    while True:
        m = re.search(rb"/\.{1,2}/", path)
        if not m:
            break
        before, after = path[:m.start()], path[m.end() - 1:]
        if m[0] == b"/../":
            before = before.rpartition(b"/")[0]
        path = before + after
    return re.sub(rb"/+", b"/", path)


def canonical(url: bytes, version: int) -> bytes:
    url = url.partition(b"#")[0].strip(b" \t\n\v\f\r")
    url = re.sub(rb"[\t\r\n]", b"", url)
    scheme, authority, path, query = split(unescape(url))
    host = canonical_host(authority, version)
    return scheme + b"://" + escape(host) + escape(canonical_path(path)) + escape(query)


class Suffixes:
    """The Public Suffix List, by the algorithm of its page."""

    def __init__(self, name):
        self.rules = set()
        with open(name, encoding="utf-8") as lines:
            for line in lines:
                rule = line.split()[0] if line.strip() else "//"
                if not rule.startswith("//"):
                    self.rules.add(".".join(self.label(part) for part in rule.split(".")))

    @staticmethod
    def label(part):
        return part if part.isascii() else "xn--" + part.encode("punycode").decode()

    def labels(self, host):
        """The number of labels of the public suffix."""
        labels = host.split(".")
        best = 1
        for i in range(len(labels)):
            name = ".".join(labels[i:])
            if "!" + name in self.rules:
                return len(labels) - i - 1
            if name in self.rules or "*." + ".".join(labels[i + 1:]) in self.rules and i + 1 < len(labels):
                best = max(best, len(labels) - i)
        return best


def expressions(url: bytes, version: int, suffixes):
    """The combinations of suffixes of the host and prefixes of the path."""
    host, _, target = url.partition(b"://")[2].decode().partition("/")
    target = "/" + target
    path, _, query = target.partition("?")
    hosts, paths = [host], []
    if not host.startswith("[") and not re.fullmatch(r"[0-9]+(\.[0-9]+){3}", host):
        labels = host.split(".")
        if version == 4:
            more = [".".join(labels[-n:]) for n in (5, 4, 3, 2) if n < len(labels)]
        else:
            first = suffixes.labels(host) + 1
            more = [".".join(labels[-n:]) for n in range(first, first + 4) if n < len(labels)][::-1]
        hosts += more
    if query:
        paths.append(target)
    paths.append(path)
    parts = path.split("/")[1:-1]
    for n in range(min(len(parts) + 1, 4)):
        prefix = "/" + "".join(part + "/" for part in parts[:n])
        if prefix not in paths:
            paths.append(prefix)
    return [h + p for h in hosts for p in paths]


def main():
    suffixes = Suffixes(sys.argv[1])
    for line in sys.stdin:
        url = bytes.fromhex(line[1:])
        answers = []
        for version in (4, 5):
            try:
                norm = canonical(url, version)
                lines = "\n".join(expressions(norm, version, suffixes))
                answers += ["x" + norm.hex(), "x" + lines.encode().hex()]
            except Rejected:
                answers += ["-", "-"]
            except Undecided:
                answers += ["?", "?"]
        print(" ".join(answers))


if __name__ == "__main__":
    main()
