#!/usr/bin/env python3.11
"""Writes tables.bin from the tables of Python 3.11: stringprep (RFC 3454,
Unicode 3.2) and unicodedata (Unicode 14)."""
import stringprep as sp
import sys
import unicodedata as now

sys.path.append("../table")
from packed import Packed

if now.unidata_version != "14.0.0":
    sys.exit("gen.py: needs the Unicode 14 of Python 3.11")
old = now.ucd_3_2_0
ALL = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
HANGUL = range(0xAC00, 0xAC00 + 11172)


def ranges(test):
    """Returns the ranges of code points for which test is true."""
    out, start = [], None
    for c in range(0x110001):
        inside = c < 0x110000 and test(chr(c))
        if inside and start is None:
            start = c
        elif not inside and start is not None:
            out.append((start, c - 1))
            start = None
    return out


def prohibited(c):
    return any(t(c) for t in (sp.in_table_c12, sp.in_table_c22, sp.in_table_c3, sp.in_table_c4, sp.in_table_c5,
                              sp.in_table_c6, sp.in_table_c7, sp.in_table_c8, sp.in_table_c9))


def of_chars(pairs):
    return [(ord(c), text) for c, text in pairs if c != text]


# In the order in which tables.go reads them.
p = Packed()
for test in (sp.in_table_a1, sp.in_table_b1, prohibited, sp.in_table_d1, sp.in_table_d2):
    p.spans([(lo, hi, 0) for lo, hi in ranges(test)])
p.text_map(of_chars((c, sp.map_table_b2(c)) for c in ALL))
others = [c for c in ALL if ord(c) not in HANGUL]
kd = [(c, now.normalize("NFKD", c)) for c in others]
p.text_map(of_chars(kd))
p.text_map(of_chars((c, now.normalize("NFD", c)) for c in others))
changed = [(ord(c), old.normalize("NFKD", c)) for c, d in kd if c != d and old.normalize("NFKD", c) != d]
assert all(old.normalize("NFKD", c) == c for c, d in kd if c == d)
p.text_map(changed)
marks = [(ord(c), now.combining(c)) for c in ALL if now.combining(c)]
spans = []
for c, value in marks:
    if spans and spans[-1][1:] == [c - 1, value]:
        spans[-1][1] = c
    else:
        spans.append([c, c, value])
p.spans(spans)
composed = []
for c in ALL:
    d = now.decomposition(c)
    if d and d[0] != "<" and " " in d:
        a, b = (chr(int(x, 16)) for x in d.split())
        if now.normalize("NFC", a + b) == c:
            composed.append((ord(a), ord(b), ord(c)))
p.uint(len(composed))
for row in sorted(composed):
    for c in row:
        p.uint(c)
p.write()
