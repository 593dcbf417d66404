#!/usr/bin/env python3
"""K0 to K3 and surface in Python, written from docs/reference/keys.md alone.

    pip install -r requirements.txt
    ./reference.py [FILE]        check the vectors of FILE (default: keys.jsonl)

The serialization of the URL Standard comes from ada-url, XXH3 from xxhash. All
else is here, section by section in the order of the page. Prints each vector
that differs; exits 1 if there is one, or if the file has none.
"""

import hashlib
import hmac
import json
import pathlib
import re
import sys
import unicodedata

import ada_url
import xxhash

HERE = pathlib.Path(__file__).parent


class NoKey(Exception):
    """The URL has no key."""


# --- Notation

LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
DIGITS = b"0123456789"
UNRESERVED = frozenset(LETTERS + DIGITS + b"-._~")
SUB_DELIMS = frozenset(b"!$&'()*+,;=")
DEFAULT_PORT = {b"http": b"80", b"https": b"443", b"ws": b"80", b"wss": b"443", b"ftp": b"21"}
KNOWN = {b"http", b"https", b"ws", b"wss", b"ftp", b"file"}
WEB = {b"http", b"https", b"ws", b"wss"}
ROOT = WEB | {b"ftp"}


def escape(byte):
    return b"%%%02X" % byte


def decode(text):
    """Each escape becomes its byte, once."""
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), text)


def lower_outside_escapes(text):
    return re.sub(rb"(%[0-9A-Fa-f]{2})|([A-Z])", lambda m: m[1] or m[2].lower(), text)


def ends_in_number(host):
    if host.endswith(b"."):
        host = host[:-1]
    label = host.rpartition(b".")[2]
    return bool(re.fullmatch(rb"[0-9]+|0[xX][0-9A-Fa-f]*", label))


# --- Splitting a URL

class Parts:
    """The components of a URL. None is absent."""

    def __init__(self, text):
        self.scheme = self.username = self.password = self.host = self.port = self.query = self.fragment = None
        if m := re.match(rb"([A-Za-z][A-Za-z0-9+.-]*):", text):
            self.scheme, text = m[1], text[m.end():]
        authority = None
        if text.startswith(b"//"):
            m = re.match(rb"[^/?#]*", text[2:])
            authority, text = m[0], text[2 + m.end():]
        text, mark, fragment = text.partition(b"#")
        if mark:
            self.fragment = fragment
        self.path, mark, query = text.partition(b"?")
        if mark:
            self.query = query
        if authority is not None:
            self.split_authority(authority)

    def split_authority(self, text):
        userinfo, mark, rest = text.rpartition(b"@")
        if mark:
            self.username, mark, password = userinfo.partition(b":")
            if mark:
                self.password = password
        if m := re.fullmatch(rb"(.*):([0-9]*)", rest, re.S):
            rest, self.port = m[1], m[2]
        self.host = rest
        if rest.startswith(b"["):
            if rest.find(b"]") != len(rest) - 1:
                raise NoKey("bracket")
        elif b"[" in rest or b"]" in rest:
            raise NoKey("bracket")

    @property
    def bracketed(self):
        return self.host is not None and self.host.startswith(b"[")

    def userinfo(self):
        if self.username is None:
            return b""
        return self.username + (b"" if self.password is None else b":" + self.password) + b"@"

    def join(self):
        out = b"" if self.scheme is None else self.scheme + b":"
        if self.host is not None:
            out += b"//" + self.userinfo() + self.host + (b"" if self.port is None else b":" + self.port)
        return out + self.tail()

    def tail(self):
        out = self.path
        if self.query is not None:
            out += b"?" + self.query
        if self.fragment is not None:
            out += b"#" + self.fragment
        return out


# --- From the input to the text

def whatwg_text(data, base):
    def readable(raw):
        text = raw.decode("utf-8", "surrogateescape")
        return re.sub("[\udc80-\udcff]", lambda m: "%%%02X" % (ord(m[0]) - 0xDC00), text)
    if base and re.match(rb"[\0- ]*[A-Za-z][A-Za-z0-9+.-]*:", data):
        try:
            ada_url.URL(readable(base))
        except ValueError:
            base = b""
    try:
        url = ada_url.URL(readable(data), readable(base)) if base else ada_url.URL(readable(data))
    except ValueError:
        raise NoKey("URL Standard") from None
    return url.href.encode("ascii")


def remove_dot_segments(path):
    """RFC 3986 section 5.2.4."""
    out = b""
    while path:
        if path.startswith(b"../"):
            path = path[3:]
        elif path.startswith((b"./", b"/./")):
            path = path[2:]
        elif path == b"/.":
            path = b"/"
        elif path.startswith(b"/../") or path == b"/..":
            path = b"/" + path[4:]
            out = out[:max(out.rfind(b"/"), 0)]
        elif path in (b".", b".."):
            path = b""
        else:
            end = path.find(b"/", 1)
            end = len(path) if end < 0 else end
            out, path = out + path[:end], path[end:]
    return out


def rfc_text(data, base):
    ref = Parts(data)
    if not base or ref.scheme is not None:
        return data
    b = Parts(base)
    if b.scheme is None:
        raise NoKey("base without a scheme")
    t = Parts(b"")
    if ref.host is not None:
        take(t, ref)
        t.scheme, t.path, t.query = b.scheme, remove_dot_segments(ref.path), ref.query
    else:
        take(t, b)
        t.scheme = b.scheme
        if ref.path == b"":
            t.path = b.path
            t.query = b.query if ref.query is None else ref.query
        else:
            path = ref.path
            if not path.startswith(b"/"):  # section 5.2.3
                path = b"/" + path if b.host is not None and b.path == b"" else b.path[:b.path.rfind(b"/") + 1] + path
            t.path, t.query = remove_dot_segments(path), ref.query
    t.fragment = ref.fragment
    if t.host is None and t.path.startswith(b"//"):
        t.path = b"/." + t.path
    return t.join()


def take(target, source):
    for name in ("username", "password", "host", "port"):
        setattr(target, name, getattr(source, name))


def logclean_text(data, base):
    try:
        return whatwg_text(data, base)
    except NoKey:
        pass
    if base and Parts(data).scheme is None:
        whatwg_text(base, b"")
    if m := re.search(rb"//([^/?#]*)", data):
        if b"\\" in m[1]:
            raise NoKey("backslash in the authority")
    text = rfc_text(data, base)
    try:
        return whatwg_text(k0(text), b"")
    except NoKey:
        return text


def text_of(data, base, standard, profile):
    if profile == "logclean":
        return logclean_text(data, base)
    own = standard if profile is None else "rfc3986" if profile.startswith("rfc3986") else "whatwg"
    if own == standard:
        return whatwg_text(data, base) if standard == "whatwg" else rfc_text(data, base)
    if standard == "whatwg":
        text = rfc_text(data, base)
        try:
            return whatwg_text(text, b"")
        except NoKey:
            return text
    text = whatwg_text(data, base)
    try:
        return rfc_text(data, base)
    except NoKey:
        return text


# --- K0

ALLOWED = {
    "username": UNRESERVED | SUB_DELIMS | set(b":"),
    "password": UNRESERVED | SUB_DELIMS | set(b":"),
    "host": UNRESERVED | SUB_DELIMS,
    "path": UNRESERVED | SUB_DELIMS | set(b":@/"),
    "query": UNRESERVED | SUB_DELIMS | set(b":@/?"),
    "fragment": UNRESERVED | SUB_DELIMS | set(b":@/?"),
}


def rewrite_escapes(text, allowed):
    def one(m):
        if m[1]:
            byte = int(m[1], 16)
            return bytes([byte]) if byte in UNRESERVED else escape(byte)
        return m[0] if m[0][0] in allowed else escape(m[0][0])
    return re.sub(rb"%([0-9A-Fa-f]{2})|.", one, text, flags=re.S)


def rewrite_literal(host):
    def one(m):
        if m[1]:
            return b"%" + m[1].upper()
        if m[0] == b"%":
            return b"%25"
        return m[0].lower() if m[0][0] in UNRESERVED | SUB_DELIMS | set(b":[]") else escape(m[0][0])
    return re.sub(rb"%([0-9A-Fa-f]{2})|.", one, host, flags=re.S)


def k0(text):
    u = Parts(text)
    for name, allowed in ALLOWED.items():
        if getattr(u, name) is not None and not (name == "host" and u.bracketed):
            setattr(u, name, rewrite_escapes(getattr(u, name), allowed))
    if u.bracketed:
        u.host = rewrite_literal(u.host)
    elif u.host is not None:
        u.host = lower_outside_escapes(u.host)
    if u.scheme is not None:
        u.scheme = u.scheme.lower()
        if u.path.startswith(b"/"):
            u.path = remove_dot_segments(u.path)
    if u.host is None:
        if u.path.startswith(b"//"):
            u.path = b"/." + u.path
        elif u.scheme is None and b":" in u.path.partition(b"/")[0]:
            u.path = b"./" + u.path
    return u.join()


# --- K1

def ipv6_groups(text):
    """The eight groups of an IPv6address of RFC 3986 section 3.2.2, or None."""
    m = re.fullmatch(rb"(.*?)([0-9]+)\.([0-9]+)\.([0-9]+)\.([0-9]+)", text)
    if m:
        octets = m.groups()[1:]
        if any(int(o) > 255 or o != b"%d" % int(o) for o in octets):
            return None
        a, b, c, d = map(int, octets)
        text = m[1] + b"%x:%x" % (a << 8 | b, c << 8 | d)
    front, mark, back = text.partition(b"::")

    def groups(part):
        return part.split(b":") if part else []
    left, right = groups(front), groups(back)
    if any(not re.fullmatch(rb"[0-9a-f]{1,4}", g) for g in left + right):
        return None
    missing = 8 - len(left) - len(right)
    if mark and missing < 1 or not mark and missing != 0:
        return None
    return [int(g, 16) for g in left] + [0] * missing + [int(g, 16) for g in right]


def ipv6_text(groups):
    best, at = 1, None
    for i in range(8):
        j = i
        while j < 8 and groups[j] == 0:
            j += 1
        if j - i > best:
            best, at = j - i, i
    text = [b"%x" % g for g in groups]
    if at is None:
        return b":".join(text)
    return b":".join(text[:at]) + b"::" + b":".join(text[at + best:])


FORBIDDEN_DOMAIN = set(range(0x21)) | {0x7F} | set(b"#/:<>?@[\\]^|%")


def ascii_host(host):
    """The ASCII form of a host with escapes, or the host if it has none."""
    domain = decode(host)
    if set(domain) & FORBIDDEN_DOMAIN:
        return host
    try:
        # The label at the end keeps ada from reading an IPv4 address.
        url = ada_url.URL("https://" + domain.decode("utf-8") + ".x/")
    except (ValueError, UnicodeDecodeError):
        return host
    result = url.hostname.encode("ascii").removesuffix(b".x")
    if not result:
        return host
    return b"".join(bytes([c]) if c in ALLOWED["host"] else escape(c) for c in result)


def k1(text):
    u = Parts(text)
    if u.port is not None:
        u.port = u.port.lstrip(b"0") or u.port[-1:]
        if u.port in (b"", DEFAULT_PORT.get(u.scheme)):
            u.port = None
    if u.scheme in WEB and u.username == b"" and u.password is None:
        u.username = None
    if u.bracketed:
        groups = ipv6_groups(u.host[1:-1])
        if groups:
            u.host = b"[" + ipv6_text(groups) + b"]"
    elif u.scheme in ROOT and u.host is not None and re.search(rb"%[89A-F]", u.host):
        u.host = ascii_host(u.host)
    if u.scheme == b"file" and u.path.startswith(b"/"):
        if u.host is None:
            u.host = b""
            if u.path.startswith(b"/.//"):
                u.path = u.path[2:]
        elif u.host == b"localhost" and u.username is None and u.port is None:
            u.host = b""
    if u.scheme in ROOT and u.host is not None and u.path == b"":
        u.path = b"/"
    return u.join()


# --- K2

def ipv4(host):
    """The host as an address in dotted decimal, or None."""
    parts = host.split(b".")
    if len(parts) > 4:
        return None
    numbers = []
    for p in parts:
        if re.fullmatch(rb"0[xX][0-9A-Fa-f]*", p):
            numbers.append(int(p[2:] or b"0", 16))
        elif re.fullmatch(rb"0[0-7]+", p):
            numbers.append(int(p, 8))
        elif re.fullmatch(rb"0|[1-9][0-9]*", p):
            numbers.append(int(p))
        else:
            return None
    if any(n > 255 for n in numbers[:-1]) or numbers[-1] >= 256 ** (5 - len(numbers)):
        return None
    value = numbers[-1] + sum(n << 8 * (3 - i) for i, n in enumerate(numbers[:-1]))
    return b".".join(b"%d" % b for b in value.to_bytes(4, "big"))


UUID = rb"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"


def is_token(value):
    if re.fullmatch(UUID + rb"|\{" + UUID + rb"\}", value):
        return True
    if re.fullmatch(rb"[0-9A-Za-z]{16,}(\.[0-9A-Za-z]+)?", value):
        return True
    return bool(re.fullmatch(rb"[0-9A-Za-z_-]{22,}", value)
                and re.search(rb"[0-9]", value) and re.search(rb"[A-Z]", value) and re.search(rb"[a-z]", value))


def cut_path_sessions(path):
    pieces = re.findall(rb"/[^/]*|^[^/]+", path)
    last = max((i for i, p in enumerate(pieces) if p.partition(b";")[0].lower().endswith(b".aspx")), default=-1)
    out = []
    for i, piece in enumerate(pieces):
        front, *params = piece.split(b";")
        split = [(p.partition(b"=")[0].lower(), p.partition(b"=")[2]) if b"=" in p else (None, p) for p in params]
        both = {b"cfid", b"cftoken"} <= {name for name, _ in split}

        def is_session(name, value):
            return (name in (b"jsessionid", b"phpsessid") or name == b"sid" and is_token(value)
                    or both and name in (b"cfid", b"cftoken"))
        piece = b";".join([front] + [raw for raw, (name, value) in zip(params, split) if not is_session(name, value)])
        if i < last and re.fullmatch(rb"/\(([0-9A-Za-z]{24}|([A-Za-z]\([0-9A-Za-z]{24}\))+)\)", piece):
            continue
        out.append(piece)
    return b"".join(out)


class Field:
    def __init__(self, raw):
        self.raw = raw
        self.name, mark, value = raw.partition(b"=")
        self.value = value if mark else None

    @staticmethod
    def decoded(text):
        return decode(text.replace(b"+", b" "))

    @property
    def bare(self):
        name = self.decoded(self.name)
        if name.startswith(b"?"):
            name = name[1:]
        if name[:4].lower() == b"amp;":
            name = name[4:]
        return name.lower()


def fields_of(query):
    return [Field(raw) for raw in query.split(b"&")] if query else []


SIGNED = [set(s.encode() for s in names) for names in json.loads((HERE / "lists/signed-queries.json").read_text())["sets"]]


def is_signed(fields):
    names = {f.bare for f in fields}
    return any(s <= names for s in SIGNED)


SHAPES = {
    "hex32": rb"[0-9A-Fa-f]{32}",
    "alnum16": rb"[0-9A-Za-z]{16,}(\.[0-9A-Za-z]+)?",
    "dotted": rb"[0-9A-Za-z_/~!-]+(\.[0-9A-Za-z_/~!-]+){3,5}",
}


class NameList:
    """A list of parameters: exact names, prefixes, names with a shape of values,
    and pages on which names are not in the list."""

    def __init__(self, exact, prefixes, shaped={}, pages=None):
        self.exact, self.prefixes = {n.lower().encode() for n in exact}, tuple(p.lower().encode() for p in prefixes)
        self.shaped = {n.encode(): SHAPES[shape] for n, shape in shaped.items()}
        self.pages = pages

    def names(self, field, path):
        name = field.bare
        if self.pages and name.decode("latin-1") in self.pages["names"] and re.match(self.pages["path"].encode(), path, re.I | re.S):
            return False
        return (name in self.exact or name.startswith(self.prefixes)
                or name in self.shaped and bool(re.fullmatch(self.shaped[name], field.decoded(field.value or b""))))


BUILT_IN = json.loads((HERE / "lists/parameters.json").read_text())
PARAMETERS = NameList(BUILT_IN["exact"] + BUILT_IN["except"]["names"], BUILT_IN["prefixes"], BUILT_IN["shaped"], BUILT_IN["except"])


def is_session_field(field, cold_fusion):
    name = field.bare
    if name in (b"jsessionid", b"phpsessid") or re.fullmatch(rb"aspsessionid[a-z]{8}", name):
        return True
    if name in (b"sessionid", b"session_id", b"sid"):
        return field.value is not None and is_token(field.decoded(field.value))
    return cold_fusion and name in (b"cfid", b"cftoken")


def spell(text):
    out = b""
    for c in Field.decoded(text):
        if c in LETTERS + DIGITS + b"*-._":
            out += bytes([c])
        else:
            out += b"+" if c == 0x20 else escape(c)
    return out


def key_query(query, path, names):
    """The ten steps on a query of a URL with the path. None is no query."""
    query = query.replace(b"'", b"%27")
    fields = fields_of(query)
    if is_signed(fields):
        return query
    cold_fusion = {b"cfid", b"cftoken"} <= {f.bare for f in fields}
    fields = [f for f in fields if not is_session_field(f, cold_fusion)]
    fields = [f for f in fields if not names.names(f, path)]
    fields = [Field(f.name) if f.value == b"" else f for f in fields]
    fields = [f for f in fields if f.raw]
    if not fields:
        return None
    fields.sort(key=lambda f: f.decoded(f.name))
    return b"&".join(spell(f.name) + (b"" if f.value is None else b"=" + spell(f.value)) for f in fields)


def k2(text, standard, options):
    u = Parts(text)
    host = u.host
    if not (standard == "rfc3986" and b"%5C" in u.userinfo()):
        u.username = u.password = None
    if u.host is not None:
        if len(u.host) >= 2 and u.host.endswith(b"."):
            u.host = u.host[:-1]
        if u.scheme in KNOWN and not u.bracketed and ends_in_number(u.host):
            u.host = ipv4(u.host) or u.host
    path = u.path
    u.path = cut_path_sessions(u.path)
    if u.host is None and u.path.startswith(b"//"):
        u.path = b"/." + u.path
    if u.query is not None:
        u.query = key_query(u.query, path, PARAMETERS)
    if not options.get("keep_https"):
        u.scheme = {b"https": b"http", b"wss": b"ws"}.get(u.scheme, u.scheme)
    u.fragment = page_fragment(u.fragment, host, options)
    return u.join()


def page_fragment(fragment, host, options):
    if fragment is None:
        return None
    fragment = fragment.partition(b":~:")[0]
    host = host or b""
    names = [h.encode() for h in options.get("spa", [])]
    if fragment[:1] in (b"/", b"!") and any(h == b"*" or host == h or host.endswith(b"." + h) for h in names):
        return fragment
    return None


# --- K3

SUFFIXES = json.loads((HERE / "lists/public-suffixes.json").read_text())
RULES = {r.encode() for r in SUFFIXES["icann"] + SUFFIXES["private"]}


def public_suffix(host):
    labels = host.split(b".")
    tails = [b".".join(labels[i:]) for i in range(len(labels))]
    for i, tail in enumerate(tails):
        if b"!" + tail in RULES:
            return tails[i + 1]
    for i, tail in enumerate(tails):
        if tail in RULES or i + 1 < len(tails) and b"*." + tails[i + 1] in RULES:
            return tail
    return labels[-1]


def cut_www(host):
    if not host.startswith(b"www."):
        return host
    r = host[4:].removesuffix(b".")
    if r == b"" or b"" in r.split(b".") or b"[" in r or ends_in_number(r) or len(r) <= len(public_suffix(r)):
        return host
    return host[4:]


def single_slashes(path):
    out = b""
    for i in range(len(path)):
        if path[i:i + 1] == b"/" and i > 0 and path[i - 1:i] == b"/":
            before = path[:i - 1]  # what precedes the first slash
            if not before.endswith(b":"):
                continue
            run = re.search(rb"[A-Za-z0-9+.-]*$", before[:-1])[0][-51:]
            if not 2 <= len(re.sub(rb"^[^A-Za-z]+", b"", run)) <= 50:
                continue
        out += path[i:i + 1]
    return out


INDEX_FILES = {b"%s.%s" % (name, ext) for name, exts in {
    b"index": b"html htm xhtml shtml php php3 php4 php5 php6 php7 php8 asp aspx jsp jspx cfm cgi pl",
    b"default": b"html htm asp aspx",
    b"home": b"html htm",
}.items() for ext in exts.split()}


def nfc(text):
    """Option nfc on a path or a query."""
    tokens = []  # bytes, and the character if they are part of a run
    for m in re.finditer(rb"(?:%[0-9A-Fa-f]{2})+|.", text, re.S):
        piece = m[0]
        if len(piece) == 1:
            tokens.append((piece, piece.decode() if piece in LETTERS else None))
            continue
        for ch in decode(piece).decode("utf-8", "surrogateescape"):
            n = len(ch.encode("utf-8", "surrogateescape"))
            tokens.append((piece[:3 * n], ch if n > 1 else None))
            piece = piece[3 * n:]
    out, run, written = b"", "", b""

    def flush():
        composed = unicodedata.normalize("NFC", run)
        if composed == run:
            return written
        return b"".join(c.encode() if re.fullmatch("[A-Za-z]", c) else b"".join(escape(b) for b in c.encode())
                        for c in composed)
    for raw, ch in tokens:
        if ch is None:
            out, run, written = out + flush() + raw, "", b""
        else:
            run, written = run + ch, written + raw
    return out + flush()


def fold(text, options, lower):
    if options.get("nfc"):
        text = nfc(text)
    return lower_outside_escapes(text) if lower else text


def fold_query(query, options):
    if query is None or is_signed(fields_of(query)):
        return query
    folded = fold(query, options, options.get("lower_query"))
    if folded == query and not options.get("once"):
        return query
    raws = folded.split(b"&")
    if options.get("once"):
        raws = list(dict.fromkeys(raws))
    return b"&".join(sorted(raws, key=lambda raw: Field.decoded(Field(raw).name)))


def page_parameters(fragment, path):
    if fragment is None or b"?" not in fragment:
        return fragment
    front, _, text = fragment.partition(b"?")
    fields = fields_of(text)
    kept = [f for f in fields if not PARAMETERS.names(f, path)]
    if is_signed(fields) or len(kept) == len(fields):
        return fragment
    rest = b"&".join(f.raw for f in kept)
    return front + b"?" + rest if rest else front


def k3(text, options):
    u = Parts(text)
    path = u.path
    u.path = single_slashes(u.path)
    front, mark, last = u.path.rpartition(b"/")
    if mark and last.lower() in INDEX_FILES:
        u.path = front + mark
    while len(u.path) > 1 and u.path.endswith(b"/"):
        u.path = u.path[:-1]
    u.path = fold(u.path, options, options.get("lower_path"))
    if u.query is not None and options.get("site_params"):
        names = options["site_params"]
        u.query = key_query(u.query, path, NameList([n for n in names if n[-1] != "*"], [n[:-1] for n in names if n[-1] == "*"]))
    u.query = fold_query(u.query, options)
    u.fragment = page_parameters(u.fragment, path)
    authority = None
    if u.host is not None:
        authority = u.userinfo() + cut_www(u.host) + (b"" if u.port is None else b":" + u.port)
    if u.scheme in (None, b"http", b"https"):
        return (authority or b"") + u.tail()
    return u.scheme + b":" + (b"" if authority is None else b"//" + authority) + u.tail()


# --- Surface

def is_date(segment):
    m = re.fullmatch(rb"([0-9]{4})-([0-9]{2})-([0-9]{2})", segment)
    if not m:
        return False
    year, month, day = map(int, m.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = {2: 29 if leap else 28, 4: 30, 6: 30, 9: 30, 11: 30}.get(month, 31)
    return 1 <= month <= 12 and 1 <= day <= days


def is_random_token(segment):
    for _ in range(2):
        segment = segment.removesuffix(b"=")
    return bool(re.fullmatch(rb"[A-Za-z0-9_-]{22,}", segment) and re.search(rb"[0-9]", segment)
                and re.search(rb"[a-z]", segment) and re.search(rb"[a-z0-9][A-Z]", segment))


SEGMENTS = {
    b"int": lambda s: re.fullmatch(rb"[0-9]+", s),
    b"uuid": lambda s: re.fullmatch(rb"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", s),
    b"hex": lambda s: re.fullmatch(rb"[0-9A-Fa-f]{16,}", s),
    b"date": is_date,
    b"token": is_random_token,
}


def segment_template(segment):
    for name, fits in SEGMENTS.items():
        if fits(segment):
            return b"{" + name + b"}"
    return segment


def fits_template(own, path):
    if len(own) != len(path):
        return False
    for mine, segment in zip(own, path):
        if not mine.startswith(b"{"):
            if mine != segment:
                return False
        elif segment == b"" or not SEGMENTS.get(mine[1:-1], lambda _: True)(segment):
            return False
    return True


def path_template(path, options):
    segments = path.split(b"/")
    for text in options.get("path_templates", []):
        if fits_template(text.encode().split(b"/"), segments):
            return text.encode()
    return b"/".join(map(segment_template, segments))


def surface(text, options):
    """The surface of a K2 string."""
    u = Parts(text)
    u.fragment = None
    u.path = path_template(u.path, options)
    if u.query is not None:
        names = {f.decoded(f.name) for f in fields_of(u.query) if f.raw}
        u.query = b"&".join(spell(name.replace(b"%", b"%25").replace(b"+", b"%2B")) for name in sorted(names))
    if u.host is None:
        return u.join()
    return u.userinfo() + u.host + (b"" if u.port is None else b":" + u.port) + u.tail()


# --- From a string to a key

def not_zero(key):
    return key if any(key) else key[:-1] + b"\1"


def key_hash(name, key_id, text, secret=b""):
    key_id = key_id.encode()
    if name == "xxh3-128":
        seed = xxhash.xxh3_64_intdigest(key_id)
        return not_zero(xxhash.xxh3_128_digest(text, seed=seed)).hex()
    data = key_id + b"\0" + text
    if name == "sha256-128":
        return not_zero(hashlib.sha256(data).digest()[:16]).hex()
    return not_zero(hmac.new(secret, data, hashlib.sha256).digest()[:16]).hex()


def keys(data, base=b"", standard="whatwg", profile=None, options=None):
    """The canonical strings of K0 to K3 and of surface. Raises NoKey."""
    options = options or {}
    text = text_of(data, base, standard, profile)
    first = k0(text)
    second = k1(first)
    third = k2(second, standard, options)
    return {"k0": first, "k1": second, "k2": third, "k3": k3(third, options), "surface": surface(third, options)}


# --- Test vectors

SECRET = b"urlfold key vectors"


def check(row):
    """What differs in a row, as text; empty if nothing does."""
    data = bytes.fromhex(row["url_hex"]) if "url_hex" in row else row["url"].encode()
    try:
        got = keys(data, row.get("base", "").encode(), row["standard"], row.get("profile"), row.get("options"))
    except NoKey:
        return "" if "error" in row else "no key"
    if "error" in row:
        return "keys " + repr(got)
    short = {"rfc3986": "rfc", "whatwg": "whatwg"}[row["standard"]]
    for level, text in got.items():
        want = row[level]
        if text != want["text"].encode():
            return "%s is %r, want %r" % (level, text.decode("latin-1"), want["text"])
        key_id = "%s-%s/1" % (level, short)
        mine = {"id": key_id, "text": want["text"]}
        for name in ("xxh3-128", "sha256-128", "hmac-sha256"):
            mine[name] = key_hash(name, key_id, text, SECRET)
        if mine != want:
            return "%s: %r, want %r" % (level, mine, want)
    return ""


def main():
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "keys.jsonl"
    rows = passed = 0
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            row = json.loads(line)
            rows += 1
            try:
                differs = check(row)
            except Exception as err:  # a mistake of this script is a failed row, too
                differs = "%s: %s" % (type(err).__name__, err)
            if differs:
                what = {k: row[k] for k in ("group", "url", "url_hex", "base", "standard", "profile", "options") if k in row}
                print("%s:%d: %s: %s" % (path.name, number, json.dumps(what), differs))
            else:
                passed += 1
    print("%d of %d vectors pass" % (passed, rows))
    sys.exit(passed < rows or rows == 0)


if __name__ == "__main__":
    main()
