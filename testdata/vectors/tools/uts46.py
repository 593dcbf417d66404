"""UTS 46 (revision 35, Unicode 17), written from its text.

The tables come from PyPI idna (mapping, joining types) and unicodedata2 (NFC,
general category, bidi class, combining class). The errors carry the status
codes of IdnaTestV2.txt: Pn and Vn are steps of sections 4 and 4.1, Un and An
those of UseSTD3ASCIIRules and of section 4.2, Bn the conditions of RFC 5893
section 2, Cn the rules of RFC 5892 appendix A.
"""

import bisect
import re

import unicodedata2 as ud
from idna import idnadata, uts46data

UNICODE = "17.0.0"
assert uts46data.__version__ == idnadata.__version__ == ud.unidata_version == UNICODE

# The codes of the checks that the URL Standard turns off with beStrict = false:
# CheckHyphens, UseSTD3ASCIIRules and VerifyDnsLength.
STRICT_ONLY = {"V2", "V3", "U1", "A4_1", "A4_2"}

# Section 5 of the URL Standard's version of the table has no deviation left:
# nontransitional processing keeps ß, ς, ZWJ and ZWNJ.
VALID, MAPPED, IGNORED, DISALLOWED = "valid", "mapped", "ignored", "disallowed"


def status(cp):
    """Return the status of a code point and what it maps to (section 5)."""
    i = bisect.bisect_right(uts46data.uts46_starts, cp) - 1
    letter = chr(uts46data.uts46_statuses[i])
    if letter in "VD":
        return VALID, None
    if letter == "M":
        return MAPPED, uts46data.uts46_replacements[i]
    if letter == "I":
        return IGNORED, None
    return DISALLOWED, None


def joining_type(ch):
    cp = ord(ch)
    for name, ranges in idnadata.joining_types.items():
        for r in ranges:
            if r >> 32 <= cp < r & 0xFFFFFFFF:
                return name
    return "U"


def map_domain(domain):
    """Section 4, step 1."""
    out = []
    for ch in domain:
        kind, to = status(ord(ch))
        if kind == IGNORED:
            continue
        out.append(to if kind == MAPPED else ch)
    return "".join(out)


# Punycode, RFC 3492, sections 6.1 to 6.3.
BASE, TMIN, TMAX, SKEW, DAMP, INITIAL_BIAS, INITIAL_N = 36, 1, 26, 38, 700, 72, 128


def adapt(delta, points, first):
    delta = delta // DAMP if first else delta // 2
    delta += delta // points
    k = 0
    while delta > (BASE - TMIN) * TMAX // 2:
        delta //= BASE - TMIN
        k += BASE
    return k + (BASE - TMIN + 1) * delta // (delta + SKEW)


def threshold(k, bias):
    return min(max(k - bias, TMIN), TMAX)


def punycode_decode(text):
    """Decode Punycode; return None if it is invalid."""
    basic, _, extended = text.rpartition("-")
    if "-" in text and not basic:
        extended = text  # a delimiter with nothing in front of it is a digit, and no valid one
    out = list(basic)
    n, i, bias = INITIAL_N, 0, INITIAL_BIAS
    pos = 0
    while pos < len(extended):
        old, w, k = i, 1, BASE
        while True:
            if pos == len(extended):
                return None
            ch = extended[pos]
            pos += 1
            if "a" <= ch <= "z":
                digit = ord(ch) - ord("a")
            elif "0" <= ch <= "9":
                digit = ord(ch) - ord("0") + 26
            else:
                return None
            i += digit * w
            if i > 0x7FFFFFFF:
                return None
            t = threshold(k, bias)
            if digit < t:
                break
            w *= BASE - t
            k += BASE
        bias = adapt(i - old, len(out) + 1, old == 0)
        n += i // (len(out) + 1)
        i %= len(out) + 1
        if n > 0x10FFFF or 0xD800 <= n <= 0xDFFF:
            return None
        out.insert(i, chr(n))
        i += 1
    return "".join(out)


def punycode_encode(text):
    basic = [ch for ch in text if ord(ch) < 0x80]
    out = "".join(basic) + ("-" if basic else "")
    n, delta, bias, done = INITIAL_N, 0, INITIAL_BIAS, len(basic)
    while done < len(text):
        m = min(ord(ch) for ch in text if ord(ch) >= n)
        delta += (m - n) * (done + 1)
        n = m
        for ch in text:
            if ord(ch) < n:
                delta += 1
            elif ord(ch) == n:
                q, k = delta, BASE
                while True:
                    t = threshold(k, bias)
                    if q < t:
                        break
                    digit = t + (q - t) % (BASE - t)
                    out += "abcdefghijklmnopqrstuvwxyz0123456789"[digit]
                    q = (q - t) // (BASE - t)
                    k += BASE
                out += "abcdefghijklmnopqrstuvwxyz0123456789"[q]
                bias = adapt(delta, done + 1, done == len(basic))
                delta = 0
                done += 1
        delta += 1
        n += 1
    return out


def context_j(label):
    """RFC 5892, appendix A.1 and A.2."""
    codes = set()
    types = "".join(joining_type(ch) for ch in label)
    for i, ch in enumerate(label):
        if ch not in "\u200c\u200d":
            continue
        if i > 0 and ud.combining(label[i - 1]) == 9:  # Virama
            continue
        if ch == "\u200d":
            codes.add("C2")
        elif not (re.search("[LD]T*$", types[:i]) and re.match("T*[RD]", types[i + 1:])):
            codes.add("C1")
    return codes


def is_bidi_domain(labels):
    """RFC 5893, section 1.4."""
    return any(ud.bidirectional(ch) in ("R", "AL", "AN") for label in labels for ch in label)


def bidi_rule(label):
    """RFC 5893, section 2: the numbers of the conditions that do not hold."""
    if not label:
        return set()
    classes = [ud.bidirectional(ch) for ch in label]
    last = next((c for c in reversed(classes) if c != "NSM"), "NSM")
    codes = set()
    if classes[0] not in ("L", "R", "AL"):
        codes.add("B1")
    elif classes[0] == "L":
        if not set(classes) <= {"L", "EN", "ES", "CS", "ET", "ON", "BN", "NSM"}:
            codes.add("B5")
        if last not in ("L", "EN"):
            codes.add("B6")
    else:
        if not set(classes) <= {"R", "AL", "AN", "EN", "ES", "CS", "ET", "ON", "BN", "NSM"}:
            codes.add("B2")
        if last not in ("R", "AL", "EN", "AN"):
            codes.add("B3")
        if {"EN", "AN"} <= set(classes):
            codes.add("B4")
    return codes


def validity(label):
    """Section 4.1, criteria 1 to 8, and UseSTD3ASCIIRules, for a label as text."""
    codes = set()
    if not label:
        return codes
    if ud.normalize("NFC", label) != label:
        codes.add("V1")
    if label[2:4] == "--":
        codes.add("V2")
    if label[0] == "-" or label[-1] == "-":
        codes.add("V3")
    if label.startswith("xn--"):
        codes.add("V4")
    if "." in label:
        codes.add("V5")
    if ud.category(label[0]).startswith("M"):
        codes.add("V6")
    for ch in label:
        if ord(ch) < 0x80:
            if not re.match("[a-z0-9-]", ch):
                codes.add("U1")
        elif status(ord(ch))[0] != VALID:
            codes.add("V7")
    return codes | context_j(label)


class Result:
    """The result of ToASCII: the ASCII form, and the status codes of each label."""

    def __init__(self, ascii, unicode, labels, whole):
        self.ascii, self.unicode, self.labels, self.whole = ascii, unicode, labels, whole

    def codes(self, strict):
        """Return all status codes of the enabled checks."""
        every = set(self.whole).union(*self.labels)
        return sorted(c for c in every if strict or c not in STRICT_ONLY)

    def first(self, strict):
        """The index of the first label that has a code, 0 for one of the whole
        domain, None if there is none."""
        for i, codes in enumerate(self.labels):
            if any(strict or c not in STRICT_ONLY for c in codes):
                return i
        return 0 if strict and self.whole else None


def to_ascii(domain):
    """Section 4.2, with all checks on. Codes tell which of them failed."""
    mapped = ud.normalize("NFC", map_domain(domain))
    texts, labels = [], []
    for label in mapped.split("."):
        codes = set()
        if label.startswith("xn--"):
            text = None
            if label.isascii():
                text = punycode_decode(label[4:])
            if text is None:
                codes.add("P4")
                text = label
            elif text == "" or text.isascii():
                codes.add("P4")  # revision 33: the result is empty or all ASCII
            if "P4" not in codes:
                codes |= validity(text)
        else:
            text = label
            codes |= validity(text)
        texts.append(text)
        labels.append(codes)
    if is_bidi_domain([t for t, c in zip(texts, labels) if "P4" not in c or t.isascii()]):
        for text, codes in zip(texts, labels):
            if "P4" not in codes:
                codes |= bidi_rule(text)
    out = []
    for label, text, codes in zip(mapped.split("."), texts, labels):
        if not label.startswith("xn--") and not text.isascii():
            label = "xn--" + punycode_encode(text)
        out.append(label)
        if not 1 <= len(label) <= 63:
            codes.add("A4_2")
    result = ".".join(out)
    whole = {"A4_1"} if not 1 <= len(result) <= 253 else set()
    return Result(result, ".".join(texts), labels, whole)


def source_labels(domain):
    """The offsets, in code points, of the labels of a domain before mapping.

    Only U+002E, U+3002, U+FF0E and U+FF61 map to a full stop."""
    offsets = [0]
    for i, ch in enumerate(domain):
        if ch in ".\u3002\uff0e\uff61":
            offsets.append(i + 1)
    return offsets


def check_conformance(path):
    """Check to_ascii against IdnaTestV2.txt. Return the number of rows, and the rows
    that differ in the ASCII form or in whether there is an error."""
    def unescape(s):
        if s == '""':
            return ""
        s = re.sub(r"\\x\{([0-9A-F]+)\}", lambda m: chr(int(m[1], 16)), s)
        return re.sub(r"\\u([0-9A-F]{4})", lambda m: chr(int(m[1], 16)), s)

    rows, bad = 0, []
    for line in open(path, encoding="utf-8"):
        cols = [c.strip(" \t\n") for c in line.split("#")[0].split(";")]
        if len(cols) < 7:
            continue
        source = unescape(cols[0])
        if re.search("[\ud800-\udfff]", source):
            continue  # ill-formed strings may be skipped
        rows += 1
        unicode = unescape(cols[1]) if cols[1] else source
        want = unescape(cols[3]) if cols[3] else unicode
        codes = cols[4] or cols[2]
        codes = set(re.findall(r"[A-Z]\w+", codes)) - {"X4_2"}
        got = to_ascii(source)
        if bool(got.codes(True)) != bool(codes) or bool(got.codes(False)) != bool(codes - STRICT_ONLY):
            bad.append((source, sorted(codes), got.codes(True)))
        elif not codes and got.ascii != want:
            bad.append((source, want, got.ascii))
    return rows, bad
