#!/usr/bin/env python3
"""Write the vectors in the parent folder, or check that they are up to date.

    pip install -r requirements.txt
    ./generate.py            write the files
    ./generate.py --check    fail if a file would change
    ./generate.py --idnatest FILE   check uts46.py against IdnaTestV2.txt of Unicode 17
    ./generate.py --wpt FILE        check urlstandard.py against urltestdata.json

Each expectation comes from a script in this folder that was written from the
text of the standard. Hrefs, failures and ASCII domains must equal those of
ada-url, except where ADA_DIFFERS gives a reason. The run fails if a line or
branch of urlstandard.py is not covered, if a validation error has fewer than
five vectors, or if a status code of UTS 46 has fewer than three.
"""

import argparse
import collections
import json
import pathlib
import re
import sys

import coverage

HERE = pathlib.Path(__file__).parent
OUT = HERE.parent

tracer = coverage.Coverage(branch=True, include=[str(HERE / "urlstandard.py")], data_file=None)
tracer.start()
import urlstandard  # noqa: E402
tracer.stop()

import ada_url  # noqa: E402

import inputs_idna  # noqa: E402
import inputs_rfc3986  # noqa: E402
import inputs_url  # noqa: E402
import rfc3986  # noqa: E402
import uts46  # noqa: E402

# The domains for which ada-url 4.0.0 differs from the standards, by reason. The
# vectors follow uts46.py, which agrees with IdnaTestV2.txt on all rows. A listed
# domain on which both agree is an error.
ADA_DIFFERS = {
    "ada applies the Bidi Rule only to labels that hold a right-to-left character; UTS 46 section 4.1, criterion 9, asks for "
    "all labels of a Bidi domain name": [
        "0a.\u05d0", "\u05d0.0a", "0.\u05d0", "-a.\u05d0", "a!.\u05d0", "\u05d0.a!", "_a.\u05d0", "0é.\u05d0", "xn--4db.0é",
        "xn--4db.0ü", "1.\u05d0", "-.\u05d0", "1.\u0627.a", "1é.\u05d0", "a-.\u05d0", "a-\u0308.\u05d0", "a,.\u05d0",
        "é!.\u05d0", "a_.\u0627", "a--.\u05d0",
    ],
    "ada accepts a right-to-left letter in a left-to-right label with a joiner; RFC 5893 section 2, condition 5, does not": [
        "\ua872\u200c\u0628", "\u1820\u200c\u0627",
    ],
    "ada accepts a joiner after a joiner; RFC 5892, appendix A, asks for a virama or a joining letter": [
        "\u0915\u094d\u200c\u200c", "\u0915\u094d\u200d\u200d", "\u0628\u200c\u200c\u0628",
    ],
    "ada does not know the joining types of supplementary characters": ["\U00010ac0\u200c\U00010ac1"],
    "ada does not compose this; Unicode Normalization Form C does": ["\uac00\u11a8", "\u1e9b\u0323", "xn--rud7310f.é"],
}
ADA_DIFFERS = {domain for domains in ADA_DIFFERS.values() for domain in domains}


def row(clause, **fields):
    fields = {"clause": clause.replace("§", "section "), **fields}
    text = json.dumps({k: v for k, v in fields.items() if v is not None}, ensure_ascii=True)
    return text.replace("\x7f", "\\u007f")


def ada_href(text, base):
    try:
        return ada_url.URL(text, base).href if base is not None else ada_url.URL(text).href
    except ValueError:
        return None


def url_rows():
    seen, names = set(), collections.Counter()
    for clause, base, text, encoding in inputs_url.CASES:
        key = base, text, encoding
        if key in seen:
            continue
        seen.add(key)
        tracer.start()
        url, errors, failed_at = urlstandard.parse(text, base, encoding or "utf-8")
        href = url.href() if url else None
        parts = url.parts() if url else None
        tracer.stop()
        if encoding is None:
            ada = ada_href(text, base)
            differs = text.removeprefix("http://").removesuffix("/") in ADA_DIFFERS
            assert (ada == href) != differs, f"{text!r} against {base!r}: {href!r}, ada {ada!r}"
            if url and not differs:
                record = ada_url.URL(text, base) if base is not None else ada_url.URL(text)
                mine = {k: v for k in ("protocol", "username", "password", "hostname", "port", "pathname", "search", "hash")
                        if (v := getattr(record, k))}
                assert mine == parts, f"{text!r}: {parts}, ada {mine}"
        names.update({n for _, n in errors})
        kind = change = equiv = k0 = k1 = None
        if url:
            kind = host_kind(url)
            k0, _ = rfc3986.normalize(latin(href), False)
            k1, _ = rfc3986.normalize(latin(href), True)
        if url and encoding is None:
            change = change_class(text, base, href)
            equiv = equivalent(url, text, base)
        yield row(clause=clause, input=text, base=base, encoding=encoding, href=href, failure=True if href is None else None,
                  at=failed_at, host_kind=kind, change=change, equiv=equiv,
                  k0=k0, k1=k1, parts=parts, errors=[[n, at] for at, n in errors])
    missing = [n for n in urlstandard.POSITION if names[n] < 5]
    assert not missing, f"fewer than five vectors: {missing}"
    unknown = set(names) - set(urlstandard.POSITION)
    assert not unknown, unknown
    check_branches()


def host_kind(url):
    """Return the kind of the host."""
    if not url.host:
        return "none"
    if url.host.startswith("["):
        return "IPv6"
    if not url.special():
        return "opaque"
    return "IPv4" if re.fullmatch(rfc3986.IPV4, url.host) else "name"


def change_class(text, base, href):
    """Return how much the href differs from the input, judged by the normal forms
    of RFC 3986."""
    if text == href:
        return "unchanged"
    target = latin(text)
    if base is not None:
        target, error = rfc3986.resolve(latin(base), target)
        if error:
            return "repaired"
    for scheme_based, name in ((False, "cosmetic"), (True, "scheme-equal")):
        before, error = rfc3986.normalize(target, scheme_based)
        if error:
            return "repaired"
        if before == rfc3986.normalize(latin(href), scheme_based)[0]:
            return name
    return "repaired"


def equivalent(url, text, base):
    """Return the href with RFC 3986 sections 6.2.2.1 and 6.2.2.2 applied to its
    escapes in every component that is not opaque, or None if it contains
    malformed percent-encoding."""
    if re.search("%(?![0-9A-Fa-f]{2})", url.href()):
        return None

    def escapes(part):
        def one(m):
            ch = chr(int(m[1], 16))
            return ch if re.fullmatch(f"[{rfc3986.UNRESERVED}]", ch) else m[0].upper()
        return None if part is None else re.sub("%([0-9A-Fa-f]{2})", one, part)

    for name in ("username", "password", "query", "fragment"):
        setattr(url, name, escapes(getattr(url, name)))
    if not url.opaque():
        url.path, before = [escapes(s) for s in url.path], url.path
        letter = urlstandard.is_windows_drive_letter
        if url.scheme == "file" and letter(url.path[0]) and not letter(before[0]):
            # The result would be a drive letter, which parsers treat differently.
            url.path[0] = re.sub("%..", lambda m: m[0].upper(), before[0])
    again, _, _ = urlstandard.parse(url.href())
    assert again.href() == url.href(), url.href()
    return url.href()


def check_branches():
    """Check that each line and branch of urlstandard.py is covered."""
    total = tracer.report(file=sys.stderr, show_missing=True)
    assert total == 100, f"the vectors take {total:.2f} % of the lines and branches of urlstandard.py"


def idna_rows():
    seen, codes = set(), collections.Counter()
    for clause, domain in inputs_idna.CASES:
        if domain in seen:
            continue
        seen.add(domain)
        raw = None
        if isinstance(domain, bytes):  # invalid UTF-8 decodes to U+FFFD
            raw, domain = domain, domain.decode("utf-8", "replace")
        result = uts46.to_ascii(domain)
        relaxed, strict = result.codes(False), result.codes(True)
        codes.update(strict)
        ascii = domain.lower() if domain.isascii() else result.ascii if not relaxed else None
        check_ada_domain(domain, ascii)
        yield row(clause=clause, domain=None if raw else domain, domain_hex=raw.hex() if raw else None,
                  ascii=ascii, failure=True if ascii is None else None, codes=relaxed, at=label_offset(raw or domain, result.first(False)),
                  strict_codes=strict, strict_at=label_offset(raw or domain, result.first(True)))
    every = {"P4", "V1", "V2", "V3", "V4", "V6", "V7", "U1", "A4_1", "A4_2", "B1", "B2", "B3", "B4", "B5", "B6", "C1", "C2"}
    few = sorted(c for c in every if codes[c] < 3)
    assert not few and set(codes) <= every, f"too few vectors, or an unknown code: {few} {set(codes) - every}"


def label_offset(domain, label):
    """Where a label of a domain begins, in bytes. In bytes that are not UTF-8, only
    the full stop ends a label."""
    if label is not None and isinstance(domain, bytes):
        return sum(len(part) + 1 for part in domain.split(b".")[:label])
    return None if label is None else len(domain[:uts46.source_labels(domain)[label]].encode())


def check_ada_domain(domain, ascii):
    """Return the host that ada finds in a URL with that domain."""
    want = ascii
    if ascii is not None and (ascii == "" or set(ascii) & urlstandard.FORBIDDEN_DOMAIN or urlstandard.ends_in_number(ascii)):
        return  # the host parser fails for another reason, or finds an address
    if set(domain) & set("/?#\\@:\t\n\r") or domain.startswith("["):
        return  # not the host of the URL
    try:
        got = ada_url.URL("https://" + domain + "/").hostname
    except ValueError:
        got = None
    assert (got == want) != (domain in ADA_DIFFERS), f"{domain!r}: {want!r}, ada {got!r}"


def text_or_hex(clause, **fields):
    """A row whose text fields may hold any bytes: one that is not UTF-8 goes to
    NAME_hex."""
    out = {}
    for k, v in fields.items():
        if isinstance(v, str):
            raw = v.encode("latin-1")
            try:
                v = raw.decode("utf-8")
            except UnicodeDecodeError:
                k, v = k + "_hex", raw.hex()
        out[k] = v
    return row("RFC 3986 " + clause if clause[0] == "§" else clause, **out)


def latin(text):
    """The bytes of text, one character each."""
    return text if isinstance(text, str) and text.isascii() else (text.encode() if isinstance(text, str) else text).decode("latin-1")


def syntax_rows():
    seen = set()
    for clause, text in inputs_rfc3986.SYNTAX:
        s = latin(text)
        if s in seen:
            continue
        seen.add(s)
        ref = rfc3986.Ref(s)
        grammar = "URI" if rfc3986.is_uri(s) else "relative-ref" if rfc3986.is_relative_ref(s) else None
        found = None if ref.host_invalid else rfc3986.violations(s)
        # The grammar and the list of violations must agree.
        assert (grammar is not None) == (found == []), (s, grammar, found)
        kind = None if ref.host_invalid else ref.host_kind()
        parts = {}
        for k, v in ref.parts().items():
            raw = v.encode("latin-1")
            parts[k] = raw.decode("utf-8", "backslashreplace")
        yield text_or_hex(clause=clause, input=s, grammar=grammar, violations=found, failure=True if ref.host_invalid else None,
                          host_kind=kind, parts=parts)


def resolve_rows():
    for ref, want in inputs_rfc3986.TABLE_5_4.items():
        got, _ = rfc3986.resolve(inputs_rfc3986.BASE_5_4, ref)
        assert got == want, (ref, got, want)
    seen = set()
    for clause, base, ref in inputs_rfc3986.RESOLVE:
        b, r = latin(base), latin(ref)
        if (b, r) in seen:
            continue
        seen.add((b, r))
        target, error = rfc3986.resolve(b, r)
        yield text_or_hex(clause=clause, base=b, ref=r, target=target, error=error)


def normalize_rows():
    seen = set()
    for clause, text in inputs_rfc3986.NORMALIZE:
        s = latin(text)
        if s in seen:
            continue
        seen.add(s)
        syntax, error = rfc3986.normalize(s, False)
        scheme, _ = rfc3986.normalize(s, True)
        if error is None:  # the normal form of a normal form is unchanged
            assert rfc3986.normalize(syntax, False)[0] == syntax, s
            assert rfc3986.normalize(scheme, True)[0] == scheme, (s, scheme, rfc3986.normalize(scheme, True)[0])
            assert rfc3986.normalize(syntax, True)[0] == scheme, s
        yield text_or_hex(clause=clause, input=s, syntax=syntax, scheme=scheme, error=error)


FILES = {
    "url-standard.jsonl": url_rows,
    "idna.jsonl": idna_rows,
    "rfc3986-syntax.jsonl": syntax_rows,
    "rfc3986-resolve.jsonl": resolve_rows,
    "rfc3986-normalize.jsonl": normalize_rows,
}


def check_wpt(path):
    cases = [c for c in json.load(open(path, encoding="utf-8")) if not isinstance(c, str)]
    bad = 0
    for c in cases:
        if any("\ud800" <= ch <= "\udfff" for ch in c["input"]):
            continue
        url, _, _ = urlstandard.parse(c["input"], c.get("base"))
        bad += (url.href() if url else None) != c.get("href")
    return len(cases), bad


def main():
    args = argparse.ArgumentParser(description="Make the vectors in the folder above.")
    args.add_argument("--check", action="store_true", help="write nothing; fail if a file would change")
    args.add_argument("--idnatest", metavar="FILE", help="check uts46.py against IdnaTestV2.txt of Unicode 17")
    args.add_argument("--wpt", metavar="FILE", help="check urlstandard.py against urltestdata.json")
    args = args.parse_args()
    if args.idnatest:
        rows, bad = uts46.check_conformance(args.idnatest)
        print(f"{args.idnatest}: {rows} rows, {len(bad)} differ")
        sys.exit(bool(bad) or rows < 6000)
    if args.wpt:
        rows, bad = check_wpt(args.wpt)
        print(f"{args.wpt}: {rows} cases, {bad} differ")
        sys.exit(bool(bad) or rows < 800)
    total, changed = 0, []
    for name, rows in FILES.items():
        lines = list(rows())
        text = "\n".join(lines) + "\n"
        path = OUT / name
        if not path.exists() or path.read_text() != text:
            changed.append(name)
            if not args.check:
                path.write_text(text)
        total += len(lines)
        print(f"{name}: {len(lines)} vectors")
    print(f"{total} vectors; changed: {', '.join(changed) or 'none'}")
    sys.exit(bool(args.check and changed))


if __name__ == "__main__":
    main()
