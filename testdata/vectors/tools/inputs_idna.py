"""The domains of idna.jsonl: (clause, domains)."""

import uts46

CASES = []


def cases(clause, *domains):
    for d in domains:
        CASES.append((clause, d))


# Section 5: each status of the mapping table, over scripts and planes.
cases("UTS 46 §5 valid", "shop", "é", "ж.test", "λ", "中文", "日本語.test", "한국", "ไทย", "हिन्दी", "ქართული", "አማርኛ", "ខ្មែរ", "ශ්\u200dරී", "עברית", "عربي", "😀.test", "☕", "♥", "≠", "≮", "≯", "a≠b", "𐐨", "ß", "ς", "·", "l·l", "'a", "·a", "ー", "々",
      "a", "x", "ɐ", "ᴀ", "ⅎ", "ꜱ", "𞤢", "𑀅", "𛀁", "\U0001f9ff", "\U00020000", "\U00030000", "\U000323af", "⁄", "–", "—", "‖", "†", "‰", "‱", "※", "←", "∀", "⌘", "■", "☃", "✓", "々", "\ua9cf")
cases("UTS 46 §5 mapped", "SHOP", "É", "Ж", "Λ", "ẞ", "ﬁ", "ﬀ.test", "Ⅷ", "ⅷ", "①", "⑳", "⒈", "㈱", "㍿", "ｓｈｏｐ", "ＳＨＯＰ．ＴＥＳＴ", "ｶﾞ", "ﾊﾟ", "ℌ", "𝒶𝓫𝔠", "𝟎𝟏", "½", "¼", "²", "µ", "ſ", "K", "Å", "Ω", "ĳ", "ŉ", "ǆ", "ǅ", "ﷺ", "ﷲ", "ﺀ", "שׁ", "丽", "你", "🅰", "🈂", "ΐ", "Σ", "ΑΣ", "İ", "ª", "º",
      "\u1e9b", "a\u0344", "㎏", "㏕", "㋀", "℀", "℡", "™", "…", "¨", "´", "¯", "\u2017", "\u00a0", "\u2003", "\u3000", "﹒", "︙", "＿", "！", "％", "／", "：", "＠", "［", "＾", "｜", "＜", "⅐", "⑴", "🄀", "ᴬ", "Ꭰ", "Ა", "ꭰ", "𐐀", "𞤀", "Ɐ", "Ꙁ", "ϒ", "ϐ", "ϑ", "\u03f4", "Ɥ", "＝", "＋", "￡", "￢")
cases("UTS 46 §5 ignored", "sh\u00adop", "\u00ad", "\u200b", "a\u200bb", "\ufeffa", "a\ufeff", "\u2060", "a\u2064b", "\u180b", "a\u180ec", "\ufe00", "☕\ufe0f", "a\ufe0e", "\U000e0100", "漢\U000e0101", "\u034f", "a\u034fb", "\u00ad.a", "a.\u00ad", "\u00ad\u200b\ufeff", "xn--\u00adzca", "x\u00adn--zca", "\u2061",
      "\u200b.\u200b", "\u00ad-", "a\u00ad\u0301", "e\u034f\u0301", "\u17b4", "\u3164", "\uffa0")
cases("UTS 46 §5 deviation", "faß", "FAß", "βόλος", "ΒΌΛΟΣ", "ς", "σς", "نامه\u200cای", "ක්\u200dෂ", "ß.ß", "strasse", "straße", "xn--strae-oqa", "xn--3xa", "xn--zca")
cases("UTS 46 §5 disallowed", "\u0080", "\u2028", "\u2029", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u206f", "\ue000", "\uf8ff", "\ufdd0", "\ufffe", "\uffff", "\ufffd", "\ufff9", "\ufffc", "\U000e0001", "\U000e0041", "\U000f0000", "\U00100000", "\U0010fffd", "\U0010ffff", "\U0001fffe", "a\u2028b", "\u061c", "\ufff0",
      "\u0378", "\u2065", "\U0001d173", "\U000e007f", "\U00050000", "\u2ff0", "\u2ff5", "é\u0085", "\u1680", "\u0300\ufffd", "a.\u202e.b", "ok.\ue001", "\u06dd", "\u070f", "\u08e2", "\U000110bd")

# Section 4, step 2: normalization.
cases("UTS 46 §4 step 2 NFC", "e\u0301", "E\u0301", "u\u0308", "a\u030a", "o\u0302\u0301", "a\u0323\u0302", "a\u0302\u0323", "\u1100\u1161", "\u1100\u1161\u11a8", "\uac00\u11a8", "\u1112\u1161\u11ab", "か\u3099", "は\u309a", "\u0915\u093c", "\u05d9\u05b4", "\u0b47\u0b3e", "\u0cc6\u0cd5", "\u1025\u102e", "\u0dd9\u0dcf", "\U00011099\U000110ba", "ẛ\u0323",
      "q\u0307\u0323", "a\u0315\u0300", "\u03b1\u0301", "\u0627\u0653", "и\u0306", "Å\u0327", "ﬁ\u0301", "①\u0301", "s\u0323\u0307", "x\u0301", "\u0958", "\u2adc", "\ufb1d", "\U0001d15e", "a\u05b0\u094d", "u\u00ad\u0308", "u\u200b\u0308", "\u212b\u0301", "\u0344a")

# Section 4, step 3: labels.
cases("UTS 46 §4 step 3 labels", "a.b.c", "é.b.c", "a。b", "a．b", "a｡b", "。", "a。", "。a", "a..é", "é..", ".é", "é.", "a.é.b.ü.c", "é。é．é｡é", "..", ".", "", "a․b", "é․b", "a‥b", "é…b", "⒈é", "é.⒈", "a﹒é")

# Section 4, step 4 and section 4.2: Punycode.
cases("UTS 46 §4 step 4 Punycode", "xn--bcher-kva.test", "xn--BCHER-KVA.é", "XN--bcher-kva.é", "Xn--Bcher-Kva.é", "ｘｎ－－bcher-kva", "xn--fiqs8s", "xn--fiqs8s.é", "xn--mgbh0fb.é", "xn--ls8h", "xn--ls8h.é", "xn--e1afmkfd.é", "xn--a.é", "xn--.é", "xn---.é", "xn----.é", "xn--a-.é", "xn--ab-.é", "xn--é", "xn--é-a", "xn--0.é",
      "xn--zz.é", "xn--99999999.é", "xn--a!.é", "xn--a_b.é", "xn--bcher-kva-.é", "xn--bcher-.é", "xn--u-ccb.é", "xn--e-ufa.é", "xn--xn---epa.é", "xn--xn--a-wua.é", "xn--tda.é", "xn--TDA.É", "xn--9ca.é", "xn--mxa.é", "xn--ihqwcrb4cv8a8dqg056pqjye.é", "xn--0zwm56d.é", "xn--80ak6aa92e.é", "xn--1ch", "xn--1ch.é", "xn--fsqu00a.xn--0zwm56d.é", "xn--ww-.é",
      "xn--8i7caa.é", "xn--abc-.é", "xn---ok-.é", "xn--kgbechtv.é", "xn--zckzah.é", "xn--deba0ad.é", "xn--bcher-kvaa.é", "xn--2222222222222222.é", "xn--ü", "xn--p1ai.ж", "xn--nxasmm1c.é", "xn--3xa.é", "xn--a-ecp.ru.é", "xn--a-9fb.é", "xn--ab-m1t.é", "xn--53h.é", "xn--ecb.é", "xn--oib.é", "xn--0ug.é", "xn--1ug.é", "xn--ab-j1t.é", "xn--mn-8ia.é",
      "ab--é", "xn-é", "xn.é", "x--é", "xnn--a.é", "ünterschied", "a" * 20 + "é" * 20, "中" * 30, "é" * 64, "\U0001f600" * 25, "aé" * 30, "zz" * 40 + "é", "xn--vek.é", "ma\u00f1ana", "pi\u00f1ata.MA\u00d1ANA", "ö" * 3, "öä", "äö", "-ö", "ö-", "a-ö", "--ö", "ö--")

# Section 4.1 and 4.2: hyphens, STD3, length, marks.
cases("UTS 46 §4.1 criterion 2, 3 CheckHyphens", "-a", "a-", "-", "--", "ab--cd", "a--b", "abc--d", "-é", "é-", "éa--b", "ab--é", "a-b", "-a-.é", "é.-", "é.a-", "é.-b", "xn--ab--yka", "a.-b.c", "a.b-.c", "1--2", "12--3", "-1-", "xn---", "xn--a-.b", "aé--b")
cases("UTS 46 §4.1 criterion 6 marks", "\u0301a", "\u0301", "\u0308é", "\u093e\u0915", "a.\u0301b", "\u0301.a", "\u20ddx", "\u0488", "\u05b0\u05d0", "\u064b\u0628", "\u0e31", "\u3099か", "\ufe20a", "\U0001d165", "a\u0301", "a\u20dd", "xn--a-4fb.é", "\u0903", "\u0a03\u0a15", "\u302a")
cases("UTS 46 §4.1 criterion 7 STD3", "a_b", "a b", "a!b", "a_é", "é!", "a/é", "é%", "a@é", "é\x7f", "a\x01é", "_dmarc.é", "é.a_b", "a*b", "*.é", "a~é", "é`", "a'é", "é+", "é=", "é&", "é(é)", "é$", "≮", "≯", "≠a", "＿é", "Ａ＿Ｂ", "é,", "é;", "é?", "é#", "é[", "é^", "é|", "é{}", "é\"", "é<>", "é\\")
cases("UTS 46 §4.2 step 4 VerifyDnsLength", "a" * 63, "a" * 64, "é" + "a" * 54, "é" + "a" * 57, "é" + "a" * 58, "é" + "a" * 60, "a" * 63 + ".é", "a" * 64 + ".é", ".".join(["a" * 63] * 3 + ["b" * 61]), ".".join(["a" * 63] * 3 + ["b" * 62]), ".".join(["a" * 63] * 4), ".".join(["é" + "a" * 54] * 4), ".".join(["a"] * 127), ".".join(["a"] * 128), "a.", "a..", ".a", "a..b", "é.", "é..é", ".",
      "", "é" + "." + "b" * 63, "é" + "." + "b" * 64, "ü" * 57, "ü" * 58, "ü" * 59, "中" * 20, "中" * 56 + ".x", "a" * 62 + ".", "é." * 30, "é." * 40)

# Section 4.1 criterion 8: RFC 5892, appendix A.1 and A.2.
KA, VIRAMA, BEH, ALEF, FATHA = "\u0915", "\u094d", "\u0628", "\u0627", "\u064e"
for j in ("\u200c", "\u200d"):
    cases("RFC 5892 A.1, A.2", j, "a" + j, j + "a", "a" + j + "b", "é" + j, KA + j, KA + VIRAMA + j, KA + VIRAMA + j + KA, VIRAMA + j + KA, j + VIRAMA, KA + VIRAMA + j + j, BEH + j + BEH, BEH + j, j + BEH, ALEF + j + BEH, BEH + j + ALEF, ALEF + j + ALEF, BEH + FATHA + j + BEH, BEH + j + FATHA + BEH,
          BEH + FATHA + j + FATHA + BEH, FATHA + j + BEH, BEH + j + FATHA, BEH + j + "a", "a" + j + BEH, BEH + j + j + BEH, "\ua872" + j + BEH, "\ua872" + j + "\u1820", "\u1820" + j + "\u1820", "\u1820" + j + ALEF, "\u0640" + j + BEH, BEH + j + "\u0640", "\u0bcd" + j, "க\u0bcd" + j, "\u0d15\u0d4d" + j + "\u0d15", "\u0dca" + j, "ක\u0dca" + j + "ෂ",
          "\u0e3a" + j, "\u1039" + j, "က\u1039" + j, "\u17d2" + j, "\U0001107f" + j, "\U00011005\U00011046" + j, "a." + BEH + j + BEH, BEH + "." + j, BEH + j + "." + BEH, "\u05d0" + j + "\u05d0", "\u0715" + j + "\u0712", "\u0712" + j + "\u0715", "\U00010ac0" + j + "\U00010ac1", "xn--a-" + j, "\u0903" + j, "\u1a60" + j, "\u2d7f" + j)

# Section 4.1 criterion 9: RFC 5893, section 2.
R, AL, AN, NSM = "\u05d0", "\u0627", "\u0661", "\u0308"
cases("RFC 5893 §1.4 Bidi domain", R, AL, "a" + AN, AN, "0a", "0a." + R, R + ".0a", "0." + R, R + ".0", "-a." + R, "a!." + R, R + ".a!", "a1." + AL, "_a." + R, "a_b." + R, "0é", "é.0", "0é." + R, "xn--4db.0é", "xn--4db.0a", "0a.xn--4db", "é." + R + ".", R + "..é", "xn--mgb.é", "a.b.c." + AL, AL + ".é." + R)
cases("RFC 5893 §2 condition 1", "1" + R, "-" + R, "!" + R, AN + R, NSM + R, "1." + R, "-." + R, "1a" + R, AN + "a", "+" + R, "," + R, "#" + R, "۱" + R, "1." + AL + ".a", "1é." + R)
cases("RFC 5893 §2 condition 2", R + "a", R + "é", R + "a" + R, AL + "b", R + "a1", R + "-" + R, R + "!" + R, R + "," + R, R + "#" + R, R + NSM + R, R + "1" + R, R + AN + R, R + AL + R, R + "中", AL + "ж" + AL, R + "\u02b9" + R)
cases("RFC 5893 §2 condition 3", R + "-", R + "!", R + ",", R + "#", R + "1", R + AN, R + AL, R + NSM, R + "1" + NSM, R + "-" + NSM, R + AN + NSM, R + NSM + NSM, AL + "_", AL + "۱", R + "!" + NSM)
cases("RFC 5893 §2 condition 4", R + "1" + AN, R + AN + "1", AL + "1" + R + AN, R + "1" + R + "1", R + AN + R + AN, AL + AN + "۱", AL + "۱" + AN, R + "1" + NSM + AN, AL + "12", AL + AN + AN)
cases("RFC 5893 §2 condition 5", "a" + R, "a" + AL, "a" + AN, "a" + R + "b", "é" + R, "a-" + R + "b", "a1" + AL, "中" + R, "a" + NSM + R + "b", "a." + "b" + R)
cases("RFC 5893 §2 condition 6", "a-." + R, "a!." + R, "a1." + R, "aé." + R, "a" + NSM + "." + R, "a1" + NSM + "." + R, "a-" + NSM + "." + R, "a,." + R, "a#." + R, "é!." + R, "a_." + AL, "a۱." + AL, "a-1." + R, "a--." + R)

# The URL Standard's domain parser: ASCII is accepted whatever UTS 46 says.
cases("URL domain parser ASCII", "SHOP.Test", "xn--", "xn--a", "XN--A", "xn--0", "xn--zz", "xn--8i7caa", "xn--xn---epa", "xn--u-ccb", "xn--a-", "xn--ab-j1t", "xn--0ug", "-a-.b", "ab--cd", "a_b", "a..b", "a.", ".a", "a b", "a%b", "1.2.3.4", "0x", "xn--4db.0a", "xn--mgbh0fb.1", "a!b", "~", "xn--TDA", "xn--tda.xn--tda", "xn---", "xn--99999999", "a" * 300)


# Section 4.1 criteria 1, 4 and 7: what an A-label may stand for.
def a_label(text):
    return "xn--" + uts46.punycode_encode(text)


cases("UTS 46 §4.1 criterion 1 NFC", *(a_label(t) + ".é" for t in ("e\u0301", "\u1100\u1161", "か\u3099", "\u212b", "\u0958", "a\u0302\u0323", "\uac00\u11a8")))
cases("UTS 46 §4.1 criterion 4 ACE prefix", *(a_label(t) + ".é" for t in ("xn--é", "xn--", "xn--中", "xn--tdaü", "xN--é")))
cases("UTS 46 §4.1 criterion 7 status", *(a_label(t) + ".é" for t in ("É", "ﬁ", "\u00ad", "a\u00adé", "\u2028", "\ue000", "\ufffd", "\U0010ffff", "é。a", "Ａ", "ẞ", "㈱", "\u200b", "é\u0378")))
cases("UTS 46 §4 step 4 Punycode", *(a_label(t) + ".é" for t in ("é", "中文", "😀", "ß", "ς", "a-é", "-é", "é-", "é.a", "a_é", "\u0301é", "a\u200d", "क्\u200d", "\u05d0a", "1\u05d0", "\U0010fffd", "\U00020000")))

# The URL Standard decodes invalid UTF-8 to U+FFFD, which is disallowed.
cases("UTF-8 decode without BOM", b"a\x80", b"\xff", b"a.\xc3", b"\xc3\xa9.\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf.a", b"\xe2\x82.test", b"ok.b\xfe.c", b"\xf0\x9f\x98", b"xn--\x80", b"\xff.a")
