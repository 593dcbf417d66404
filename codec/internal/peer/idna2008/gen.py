#!/usr/bin/env python3.11
"""Writes tables.bin from the tables of the Python package idna 3.20 (Unicode 18)
and of Python 3.11 (Unicode 14)."""
import sys
import unicodedata
import idna
from idna import idnadata, uts46data
from idna.intranges import _decode_range

sys.path.append("../../table")
from packed import Packed

if idna.__version__ != "3.20" or unicodedata.unidata_version != "14.0.0":
    sys.exit("gen.py: needs idna 3.20 and the Unicode 14 of Python 3.11")


def spans(values):
    """Returns spans of equal values, from a function of code points to numbers."""
    out, start, last = [], 0, 0
    for c in range(0x110001):
        v = values(c) if c < 0x110000 else 0
        if v != last:
            if last:
                out.append((start, c - 1, last))
            start, last = c, v
    return out


def of_ranges(named):
    table = {}
    for value, ranges in named:
        for r in ranges:
            lo, hi = _decode_range(r)
            for c in range(lo, hi):
                table[c] = value
    return lambda c: table.get(c, 0)


BIDI = ["", "L", "R", "AL", "AN", "EN", "ES", "CS", "ET", "ON", "BN", "NSM"]


def bidi(c):
    value = unicodedata.bidirectional(chr(c))
    return 0 if value == "" else BIDI.index(value) if value in BIDI else len(BIDI)


classes = idnadata.codepoint_classes
# In the order in which tables.go reads them.
p = Packed()
p.spans(spans(of_ranges([(1, classes["PVALID"]), (2, classes["CONTEXTJ"]), (3, classes["CONTEXTO"])])))
p.spans(spans(of_ranges(
    [(i + 1, idnadata.joining_types[t]) for i, t in enumerate("LRDT") if t in idnadata.joining_types])))
p.spans(spans(of_ranges(
    [(i + 1, idnadata.scripts[s]) for i, s in enumerate(["Greek", "Hebrew", "Hiragana", "Katakana", "Han"])])))
p.spans(spans(bidi))
p.spans(spans(lambda c: 2 if unicodedata.combining(chr(c)) == 9 else int(unicodedata.category(chr(c))[0] == "M")))
KIND = {ord(s): i for i, s in enumerate("?VDIM")}
MAPPED = KIND[ord("M")]
starts = list(uts46data.uts46_starts)
texts, statuses, last = [], bytearray(), None
for start, status, text in zip(starts, uts46data.uts46_statuses, uts46data.uts46_replacements):
    status, text = KIND.get(status, 0), text or ""
    if (status, text) != last or status == MAPPED:
        texts.append((start, text))
        statuses.append(status)
    last = (status, text)
p.text_map(texts)
p.out += statuses
p.write()
