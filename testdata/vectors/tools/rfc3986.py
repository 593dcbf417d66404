"""RFC 3986 in Python, written from its text: the grammar of appendix A, the
resolution of section 5, the normalization of section 6.

A reference is bytes; here each byte is one character (latin-1). Nothing in it
is shared with the Go code that it checks.
"""

import re

import uts46

# Appendix A, collected ABNF.
PCT = "%[0-9A-Fa-f]{2}"
UNRESERVED = r"A-Za-z0-9._~\-"
SUB = "!$&'()*+,;="
PCHAR = f"(?:[{UNRESERVED}{SUB}:@]|{PCT})"
SCHEME = "[A-Za-z][A-Za-z0-9+.-]*"
USERINFO = f"(?:[{UNRESERVED}{SUB}:]|{PCT})*"
REG_NAME = f"(?:[{UNRESERVED}{SUB}]|{PCT})*"
DEC_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])"
IPV4 = rf"{DEC_OCTET}(?:\.{DEC_OCTET}){{3}}"
H16 = "[0-9A-Fa-f]{1,4}"
LS32 = f"(?:{H16}:{H16}|{IPV4})"
IPV6 = "(?:" + "|".join((
    f"(?:{H16}:){{6}}{LS32}",
    f"::(?:{H16}:){{5}}{LS32}",
    f"(?:{H16})?::(?:{H16}:){{4}}{LS32}",
    f"(?:(?:{H16}:)?{H16})?::(?:{H16}:){{3}}{LS32}",
    f"(?:(?:{H16}:){{0,2}}{H16})?::(?:{H16}:){{2}}{LS32}",
    f"(?:(?:{H16}:){{0,3}}{H16})?::{H16}:{LS32}",
    f"(?:(?:{H16}:){{0,4}}{H16})?::{LS32}",
    f"(?:(?:{H16}:){{0,5}}{H16})?::{H16}",
    f"(?:(?:{H16}:){{0,6}}{H16})?::",
)) + ")"
IPVFUTURE = rf"[vV][0-9A-Fa-f]+\.[{UNRESERVED}{SUB}:]+"
HOST = rf"(?:\[(?:{IPV6}|{IPVFUTURE})\]|{REG_NAME})"  # an IPv4address is a reg-name too
AUTHORITY = f"(?:{USERINFO}@)?{HOST}(?::[0-9]*)?"
ABEMPTY = f"(?:/{PCHAR}*)*"
ABSOLUTE = f"/(?:{PCHAR}+{ABEMPTY})?"
NOSCHEME = f"(?:[{UNRESERVED}{SUB}@]|{PCT})+{ABEMPTY}"
ROOTLESS = f"{PCHAR}+{ABEMPTY}"
TAIL = rf"(?:\?(?:{PCHAR}|[/?])*)?(?:#(?:{PCHAR}|[/?])*)?"
URI = re.compile(f"{SCHEME}:(?://{AUTHORITY}{ABEMPTY}|{ABSOLUTE}|{ROOTLESS}|){TAIL}")
RELATIVE = re.compile(f"(?://{AUTHORITY}{ABEMPTY}|{ABSOLUTE}|{NOSCHEME}|){TAIL}")


def is_uri(s):
    return URI.fullmatch(s) is not None


def is_relative_ref(s):
    return RELATIVE.fullmatch(s) is not None


class HostInvalid(Exception):
    pass


# Appendix B, with the scheme of section 3.1 in place of "anything but :/?#", so
# that "1a:b" is a path: a string that is not a URI has components, too.
SPLIT = re.compile(rf"(?s)(?:({SCHEME}):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?")
# The userinfo ends at the last "@", the port is digits after the last ":".
SPLIT_AUTHORITY = re.compile(r"(?s)(?:(.*)@)?(.*?)(?::([0-9]*))?")


class Ref:
    def __init__(self, s):
        m = SPLIT.fullmatch(s)
        self.scheme, self.authority, self.path, self.query, self.fragment = m.groups()
        self.userinfo = self.host = self.port = None
        self.username = self.password = None
        self.host_invalid = False
        if self.authority is not None:
            self.userinfo, self.host, self.port = SPLIT_AUTHORITY.fullmatch(self.authority).groups()
            if self.userinfo is not None:
                name, colon, password = self.userinfo.partition(":")
                self.username, self.password = name, password if colon else None
            if self.literal():
                self.host_invalid = self.host.find("]") != len(self.host) - 1
            else:
                self.host_invalid = "[" in self.host or "]" in self.host

    def literal(self):
        return self.host is not None and self.host.startswith("[")

    def host_kind(self):
        """Return which alternative of "host" (section 3.2.2) it is."""
        if not self.host:
            return "none"
        if not self.literal():
            return "IPv4" if re.fullmatch(IPV4, self.host) else "name"
        inner = self.host[1:-1]
        return "IPv6" if re.fullmatch(IPV6, inner) else "IPvFuture" if re.fullmatch(IPVFUTURE, inner) else "invalid"

    def parts(self):
        names = ("scheme", "username", "password", "host", "port", "path", "query", "fragment")
        return {n: getattr(self, n) for n in names if getattr(self, n) is not None}


ALLOWED = {  # the raw bytes that the grammar allows in each component
    "username": UNRESERVED + SUB, "password": UNRESERVED + SUB + ":", "host": UNRESERVED + SUB,
    "path": UNRESERVED + SUB + ":@/", "query": UNRESERVED + SUB + ":@/?", "fragment": UNRESERVED + SUB + ":@/?",
}


def violations(s):
    """Return the names of the violations of the grammar in s, as a sorted list."""
    ref, found = Ref(s), set()
    for name, allowed in ALLOWED.items():
        text = getattr(ref, name)
        if text is None:
            continue
        for m in re.finditer("%(?![0-9A-Fa-f]{2})", text):
            rest = text[m.end():]
            if re.match("[uU][0-9A-Fa-f]{4}", rest):
                found.add("percent-u")
            elif len(rest) < 2 and re.fullmatch("[0-9A-Fa-f]?", rest):
                found.add("truncated")
            else:
                found.add("non-hex")
        if name == "host" and ref.literal():
            inner = text[1:-1]
            if re.fullmatch(f"{IPV6}|{IPVFUTURE}", inner):
                continue
            zone = re.fullmatch(f"(?s)({IPV6})%.*", inner)
            found.add("zone-id" if zone else "ip-literal-bad")
            allowed += ":\\[\\]"
        for ch in re.findall(f"(?s)[^{allowed}%]", text):
            if ch == " ":
                found.add("raw-space")
            elif ch < " " or ch == "\x7f":
                found.add("raw-control")
            elif ch >= "\x80":
                found.add("raw-non-ascii")
            else:
                found.add("raw-backslash" if ch == "\\" else "raw-illegal")
    if ref.scheme is None and ref.authority is None and ":" in ref.path.split("/")[0]:
        found.add("scheme-invalid")
    return sorted(found)


# Section 5.2.

def remove_dot_segments(path):
    """Implement section 5.2.4 literally."""
    inp, out = path, ""
    while inp:
        if inp.startswith("../"):  # A
            inp = inp[3:]
        elif inp.startswith("./"):
            inp = inp[2:]
        elif inp.startswith("/./"):  # B
            inp = inp[2:]
        elif inp == "/.":
            inp = "/"
        elif inp.startswith("/../"):  # C
            inp = inp[3:]
            out = out[:out.rfind("/")] if "/" in out else ""
        elif inp == "/..":
            inp = "/"
            out = out[:out.rfind("/")] if "/" in out else ""
        elif inp in (".", ".."):  # D
            inp = ""
        else:  # E
            end = inp.find("/", 1)
            end = len(inp) if end < 0 else end
            out, inp = out + inp[:end], inp[end:]
    return out


def merge(base, path):
    """Section 5.2.3."""
    if base.authority is not None and base.path == "":
        return "/" + path
    return base.path[:base.path.rfind("/") + 1] + path


def recompose(scheme, authority, path, query, fragment):
    """Section 5.3. A path that begins with "//" cannot follow a scheme (section
    3.3): "/." is put in front, which changes nothing about what it identifies."""
    out = "" if scheme is None else scheme + ":"
    if authority is not None:
        out += "//" + authority
    elif path.startswith("//"):
        out += "/."
    out += path
    if query is not None:
        out += "?" + query
    if fragment is not None:
        out += "#" + fragment
    return out


def resolve(base, ref):
    """Section 5.2.2, strict. Return the target, or the name of an error."""
    B, R = Ref(base), Ref(ref)
    if B.scheme is None or B.host_invalid:
        return None, "base-invalid"
    if R.host_invalid:
        return None, "host-invalid"
    if R.scheme is not None:
        scheme, authority, path, query = R.scheme, R.authority, remove_dot_segments(R.path), R.query
    else:
        if R.authority is not None:
            authority, path, query = R.authority, remove_dot_segments(R.path), R.query
        else:
            if R.path == "":
                path = B.path
                query = R.query if R.query is not None else B.query
            else:
                if R.path.startswith("/"):
                    path = remove_dot_segments(R.path)
                else:
                    path = remove_dot_segments(merge(B, R.path))
                query = R.query
            authority = B.authority
        scheme = B.scheme
    return recompose(scheme, authority, path, query, R.fragment), None


# Section 6.2.2.

def escapes(text, allowed):
    """Sections 2.1, 2.4, 6.2.2.1 and 6.2.2.2: escape bytes that are not allowed raw,
    and a "%" that starts no escape; hex digits are upper case; escapes of
    unreserved characters are decoded."""
    def one(m):
        token = m[0]
        if len(token) == 3:
            ch = chr(int(token[1:], 16))
            return ch if re.fullmatch(f"[{UNRESERVED}]", ch) else token.upper()
        return token if re.fullmatch(f"[{allowed}]", token) else "%{:02X}".format(ord(token))

    return re.sub(f"(?s){PCT}|.", one, text)


def lower_outside_escapes(text):
    return re.sub(f"{PCT}|[A-Z]", lambda m: m[0].upper() if m[0][0] == "%" else m[0].lower(), text)


def literal(host):
    """An IP literal: no escape in it is decoded."""
    def one(m):
        token = m[0]
        if len(token) == 3:
            return token.upper()
        return token.lower() if re.fullmatch(f"[{UNRESERVED}{SUB}:\\[\\]]", token) else "%{:02X}".format(ord(token))

    return re.sub(f"(?s){PCT}|.", one, host)


ROOTED = {"http", "https", "ws", "wss", "ftp"}  # an empty path is "/"
WEB = {"http", "https", "ws", "wss"}
PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"}


def normalize(s, scheme_based):
    """Sections 6.2.2 and, if asked for, 6.2.3. Return the text, or the name of an
    error."""
    ref = Ref(s)
    if ref.host_invalid:
        return None, "host-invalid"
    scheme = None if ref.scheme is None else ref.scheme.lower()
    authority = None
    path = escapes(ref.path, ALLOWED["path"])
    if ref.authority is not None:
        host = literal(ref.host) if ref.literal() else lower_outside_escapes(escapes(ref.host, ALLOWED["host"]))
        userinfo, port = None, ref.port
        if ref.userinfo is not None:
            userinfo = escapes(ref.username, ALLOWED["username"])
            if ref.password is not None:
                userinfo += ":" + escapes(ref.password, ALLOWED["password"])
        if scheme_based:
            if userinfo == "" and scheme in WEB:
                userinfo = None
            if port is not None:
                port = re.sub("^0+(?=[0-9])", "", port)
                if port == "" or port == PORTS.get(scheme):
                    port = None
            if ref.literal():
                host = short_ipv6(host)
            elif scheme in ROOTED:
                host = ascii_domain(host)
            if scheme == "file" and host == "localhost" and userinfo is None and port is None and path.startswith("/"):
                host = ""
        authority = ("" if userinfo is None else userinfo + "@") + host + ("" if port is None else ":" + port)
    elif scheme_based and scheme == "file" and path.startswith("/"):
        authority = ""  # RFC 8089, appendix B: file:/x is file:///x
    if scheme is not None and path.startswith("/"):
        path = remove_dot_segments(path)
    if authority is None and scheme is None and not path.startswith("//") and ":" in path.split("/")[0]:
        path = "./" + path  # section 4.2
    if scheme_based and path == "" and authority is not None and scheme in ROOTED:
        path = "/"
    query = None if ref.query is None else escapes(ref.query, ALLOWED["query"])
    fragment = None if ref.fragment is None else escapes(ref.fragment, ALLOWED["fragment"])
    return recompose(scheme, authority, path, query, fragment), None


def short_ipv6(host):
    """RFC 5952, section 4, with all of the address in hex."""
    inner = host[1:-1]
    if not re.fullmatch(IPV6, inner):
        return host
    m = re.search(f"{IPV4}$", inner)
    if m:
        a, b, c, d = (int(n) for n in m[0].split("."))
        inner = inner[:m.start()] + "{:x}:{:x}".format(a << 8 | b, c << 8 | d)
    left, gap, right = inner.partition("::")
    left = [int(g, 16) for g in left.split(":") if g]
    right = [int(g, 16) for g in right.split(":") if g]
    groups = left + [0] * (8 - len(left) - len(right)) * bool(gap) + right
    runs = re.finditer("(?:0 )+", "".join("0 " if g == 0 else "1 " for g in groups))
    best = max(runs, key=lambda m: m.end() - m.start(), default=None)
    text = ["{:x}".format(g) for g in groups]
    if best is None or best.end() - best.start() < 4:
        return "[" + ":".join(text) + "]"
    return "[" + ":".join(text[:best.start() // 2]) + "::" + ":".join(text[best.end() // 2:]) + "]"


def ascii_domain(host):
    """A domain with characters beyond ASCII, which section 3.2.2 writes as escapes
    of UTF-8, in the form that is looked up, if UTS 46 has one."""
    if not re.search("%[89A-F]", host):
        return host
    raw = re.sub("%(..)", lambda m: chr(int(m[1], 16)), host).encode("latin-1")
    try:
        domain = raw.decode("utf-8")
    except UnicodeDecodeError:
        return host
    result = uts46.to_ascii(domain)
    if result.codes(False) or result.ascii == "" or set(result.ascii) & set("\x00\t\n\r #/:<>?@[\\]^|%\x7f") \
            or any(ch < " " for ch in result.ascii):
        return host
    return escapes(result.ascii, ALLOWED["host"])
