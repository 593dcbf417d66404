"""The basic URL parser of the WHATWG URL Standard, written from its text.

Text: https://url.spec.whatwg.org/ of 2026-07-02 (whatwg/url, commit 6ae8486),
step by step, code point by code point, without state override. It is simple and
slow, and shares no code with the Go implementation that it checks.

The Standard names its validation errors but does not define their positions.
POSITION lists the code point that each error points at; offsets are converted to bytes of the
UTF-8 input, before anything is stripped.
"""

import re

import uts46

# The validation errors, with the clause that raises them, and what they point
# at. Names and order are those of the table in section 1.1, "Writing".
POSITION = {
    "domain-to-ASCII": ("3.3 domain parser", "the forbidden code point of an ASCII domain, else the first label that fails"),
    "domain-percent-encoded": ("3.5 host parser", "the first percent-encoded byte"),
    "host-invalid-code-point": ("3.5 opaque-host parser", "the code point"),
    "IPv4-empty-part": ("3.5 IPv4 parser", "the last dot"),
    "IPv4-too-few-parts": ("3.5 IPv4 parser", "the end of the last part"),
    "IPv4-too-many-parts": ("3.5 IPv4 parser", "the fifth part"),
    "IPv4-non-numeric-part": ("3.5 IPv4 parser", "the part"),
    "IPv4-non-decimal-part": ("3.5 IPv4 parser", "the part, each one"),
    "IPv4-out-of-range-part": ("3.5 IPv4 parser", "the first part above 255"),
    "IPv6-unclosed": ("3.5 host parser", "the end of the host"),
    "IPv6-invalid-compression": ("3.5 IPv6 parser", "the pointer"),
    "IPv6-too-many-pieces": ("3.5 IPv6 parser", "the pointer"),
    "IPv6-multiple-compression": ("3.5 IPv6 parser", "the pointer"),
    "IPv6-invalid-code-point": ("3.5 IPv6 parser", "the pointer"),
    "IPv6-too-few-pieces": ("3.5 IPv6 parser", "the pointer"),
    "IPv6-piece-leading-zero": ("3.5 IPv6 parser", "the piece"),
    "IPv4-in-IPv6-too-many-pieces": ("3.5 IPv6 parser", "the pointer"),
    "IPv4-in-IPv6-invalid-code-point": ("3.5 IPv6 parser", "the pointer"),
    "IPv4-in-IPv6-out-of-range-part": ("3.5 IPv6 parser", "the pointer"),
    "IPv4-in-IPv6-too-few-parts": ("3.5 IPv6 parser", "the pointer"),
    "invalid-URL-unit": ("4.4 basic URL parser", "the code point, each one; for stripped bytes, the first at either end and the first tab or newline"),
    "special-scheme-missing-following-solidus": ("4.4 scheme and special states", "the code point after the colon; a slash too many"),
    "missing-scheme-non-relative-URL": ("4.4 no scheme state", "the beginning"),
    "invalid-reverse-solidus": ("4.4 relative, file and path states", "the backslash"),
    "invalid-credentials": ("4.4 authority state", "the @, each one"),
    "host-missing": ("4.4 authority and host states", "where the host should be"),
    "port-out-of-range": ("4.4 port state", "the first digit"),
    "port-invalid": ("4.4 port state", "the code point"),
    "file-invalid-Windows-drive-letter": ("4.4 file state", "the letter"),
    "file-invalid-Windows-drive-letter-host": ("4.4 file host state", "the letter"),
    # Not in the table of that date: the Standard added it a few days later.
    "IPv4-non-ASCII-input": ("3.5 host parser", "the host"),
}

SPECIAL = {"ftp": 21, "file": None, "http": 80, "https": 443, "ws": 80, "wss": 443}

ALPHA = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
DIGIT = set("0123456789")
HEX = set("0123456789abcdefABCDEF")
EOF = ""

C0 = {chr(i) for i in range(0x20)}
FORBIDDEN_HOST = set("\x00\t\n\r #/:<>?@[\\]^|")
FORBIDDEN_DOMAIN = FORBIDDEN_HOST | C0 | {"%", "\x7f"}

# The percent-encode sets (section 1.3), ASCII part; all contain what follows.
C0_SET = C0 | {"\x7f"}
FRAGMENT_SET = C0_SET | set(' "<>`')
QUERY_SET = C0_SET | set(' "#<>')
SPECIAL_QUERY_SET = QUERY_SET | {"'"}
PATH_SET = QUERY_SET | set("?^`{}")
USERINFO_SET = PATH_SET | set("/:;=@[\\]|")


class Failure(Exception):
    pass


def percent_encode(text, encode_set, encoding="utf-8"):
    out = []
    for ch in text:
        try:
            raw = ch.encode(encoding)
        except UnicodeEncodeError:
            out.append("%26%23" + str(ord(ch)) + "%3B")
            continue
        for b in raw:
            c = chr(b)
            out.append("%{:02X}".format(b) if b >= 0x7F or c in encode_set else c)
    return "".join(out)


def is_url_code_point(ch):
    cp = ord(ch)
    if cp < 0x80:
        return ch in ALPHA or ch in DIGIT or ch in "!$&'()*+,-./:;=?@_~"
    noncharacter = 0xFDD0 <= cp <= 0xFDEF or cp & 0xFFFE == 0xFFFE
    return 0xA0 <= cp <= 0x10FFFD and not noncharacter


def is_windows_drive_letter(s):
    return len(s) == 2 and s[0] in ALPHA and s[1] in ":|"


def starts_with_windows_drive_letter(s):
    return is_windows_drive_letter(s[:2]) and (len(s) == 2 or s[2] in "/\\?#")


def is_single_dot(s):
    return s.lower() in (".", "%2e")


def is_double_dot(s):
    return s.lower() in ("..", ".%2e", "%2e.", "%2e%2e")


class URL:
    def __init__(self):
        self.scheme = self.username = self.password = ""
        self.host = self.port = self.query = self.fragment = None
        self.path = []

    def special(self):
        return self.scheme in SPECIAL

    def opaque(self):
        return isinstance(self.path, str)

    def shorten(self):
        if self.scheme == "file" and len(self.path) == 1 and is_windows_drive_letter(self.path[0]) and self.path[0][1] == ":":
            return
        if self.path:
            self.path.pop()

    def href(self):
        out = self.scheme + ":"
        if self.host is not None:
            out += "//"
            if self.username or self.password:
                out += self.username + (":" + self.password if self.password else "") + "@"
            out += self.host
            if self.port is not None:
                out += ":" + str(self.port)
        elif not self.opaque() and len(self.path) > 1 and self.path[0] == "":
            out += "/."
        out += self.pathname()
        if self.query is not None:
            out += "?" + self.query
        if self.fragment is not None:
            out += "#" + self.fragment
        return out

    def pathname(self):
        return self.path if self.opaque() else "".join("/" + s for s in self.path)

    def parts(self):
        """Return the results of the getters of the URL class (section 6.1)."""
        parts = {
            "protocol": self.scheme + ":",
            "username": self.username,
            "password": self.password,
            "hostname": self.host or "",
            "port": "" if self.port is None else str(self.port),
            "pathname": self.pathname(),
            "search": "?" + self.query if self.query else "",
            "hash": "#" + self.fragment if self.fragment else "",
        }
        return {k: v for k, v in parts.items() if v}


class Parser:
    """One run of the basic URL parser."""

    def __init__(self, source, base=None, encoding="utf-8"):
        self.source, self.base, self.encoding = source, base, encoding
        self.errors = []  # (byte offset, name)
        self.url = URL()
        start, end = 0, len(source)
        while start < end and source[start] <= " ":
            start += 1
        while end > start and source[end - 1] <= " ":
            end -= 1
        self.map = []  # index in input -> index in source
        if start > 0:
            self.at_source("invalid-URL-unit", 0)
        if end < len(source):
            self.at_source("invalid-URL-unit", end)
        tab = False
        for i in range(start, end):
            if source[i] in "\t\n\r":
                if not tab:
                    self.at_source("invalid-URL-unit", i)
                tab = True
                continue
            self.map.append(i)
        self.input = "".join(source[i] for i in self.map)
        self.map.append(end)

    def at_source(self, name, i):
        assert name in POSITION, name
        self.errors.append((len(self.source[:i].encode()), name))

    def error(self, name, i):
        self.at_source(name, self.map[min(i, len(self.map) - 1)])

    def fail(self, name, i):
        self.error(name, i)
        raise Failure(name)

    # c and remaining of the Standard.
    def c(self):
        return self.input[self.p] if self.p < len(self.input) else EOF

    def remaining(self):
        return self.input[self.p + 1:]

    def check_unit(self, i):
        ch = self.input[i]
        if ch == "%":
            rest = self.input[i + 1:i + 3]
            if not (len(rest) == 2 and set(rest) <= HEX):
                self.error("invalid-URL-unit", i)
        elif not is_url_code_point(ch):
            self.error("invalid-URL-unit", i)

    def parse(self):
        self.p = 0
        self.buffer = ""
        self.at_sign = self.brackets = self.password_token = False
        self.state = self.scheme_start
        while True:
            self.state()
            if self.p >= len(self.input):
                break
            self.p += 1
        return self.url

    def goto(self, state, back=0):
        self.state = state
        self.p -= back

    def end_of_authority(self):
        c = self.c()
        return c == EOF or c in "/?#" or self.url.special() and c == "\\"

    def copy(self, *names):
        for name in names:
            value = getattr(self.base, name)
            setattr(self.url, name, list(value) if isinstance(value, list) else value)

    def start_query(self):
        self.url.query = ""
        self.state = self.query

    def start_fragment(self):
        self.url.fragment = ""
        self.state = self.fragment

    # The states, in the order of the Standard.

    def scheme_start(self):
        if self.c() in ALPHA:
            self.buffer += self.c().lower()
            self.state = self.scheme
        else:
            self.goto(self.no_scheme, 1)

    def scheme(self):
        c, url = self.c(), self.url
        if c != EOF and (c in ALPHA or c in DIGIT or c in "+-."):
            self.buffer += c.lower()
        elif c == ":":
            url.scheme, self.buffer = self.buffer, ""
            if url.scheme == "file":
                if not self.remaining().startswith("//"):
                    self.error("special-scheme-missing-following-solidus", self.p + 1)
                self.state = self.file
            elif url.special() and self.base is not None and self.base.scheme == url.scheme:
                self.state = self.special_relative_or_authority
            elif url.special():
                self.state = self.special_authority_slashes
            elif self.remaining().startswith("/"):
                self.goto(self.path_or_authority, -1)
            else:
                url.path = ""
                self.state = self.opaque_path
        else:
            self.buffer = ""
            self.state = self.no_scheme
            self.p = -1

    def no_scheme(self):
        base = self.base
        if base is None or base.opaque() and self.c() != "#":
            self.fail("missing-scheme-non-relative-URL", 0)
        elif base.opaque():
            self.copy("scheme", "path", "query")
            self.start_fragment()
        elif base.scheme != "file":
            self.goto(self.relative, 1)
        else:
            self.goto(self.file, 1)

    def special_relative_or_authority(self):
        if self.c() == "/" and self.remaining().startswith("/"):
            self.goto(self.special_authority_ignore_slashes, -1)
        else:
            self.error("special-scheme-missing-following-solidus", self.p)
            self.goto(self.relative, 1)

    def path_or_authority(self):
        if self.c() == "/":
            self.state = self.authority
        else:
            self.goto(self.path, 1)

    def relative(self):
        url = self.url
        self.copy("scheme")
        if self.c() == "/":
            self.state = self.relative_slash
        elif url.special() and self.c() == "\\":
            self.error("invalid-reverse-solidus", self.p)
            self.state = self.relative_slash
        else:
            self.copy("username", "password", "host", "port", "path", "query")
            if self.c() == "?":
                self.start_query()
            elif self.c() == "#":
                self.start_fragment()
            elif self.c() != EOF:
                url.query = None
                url.shorten()
                self.goto(self.path, 1)

    def relative_slash(self):
        if self.url.special() and self.c() in ("/", "\\"):
            if self.c() == "\\":
                self.error("invalid-reverse-solidus", self.p)
            self.state = self.special_authority_ignore_slashes
        elif self.c() == "/":
            self.state = self.authority
        else:
            self.copy("username", "password", "host", "port")
            self.goto(self.path, 1)

    def special_authority_slashes(self):
        if self.c() == "/" and self.remaining().startswith("/"):
            self.goto(self.special_authority_ignore_slashes, -1)
        else:
            self.error("special-scheme-missing-following-solidus", self.p)
            self.goto(self.special_authority_ignore_slashes, 1)

    def special_authority_ignore_slashes(self):
        if self.c() not in ("/", "\\"):
            self.goto(self.authority, 1)
        else:
            self.error("special-scheme-missing-following-solidus", self.p)

    def authority(self):
        c, url = self.c(), self.url
        if c == "@":
            self.error("invalid-credentials", self.p)
            if self.at_sign:
                self.buffer = "%40" + self.buffer
            self.at_sign = True
            for ch in self.buffer:
                if ch == ":" and not self.password_token:
                    self.password_token = True
                    continue
                encoded = percent_encode(ch, USERINFO_SET)
                if self.password_token:
                    url.password += encoded
                else:
                    url.username += encoded
            self.buffer = ""
        elif self.end_of_authority():
            if self.at_sign and self.buffer == "":
                self.fail("host-missing", self.p)
            self.goto(self.host, len(self.buffer) + 1)
            self.buffer = ""
        else:
            self.buffer += c

    def host(self):
        c, url = self.c(), self.url
        if c == ":" and not self.brackets:
            if self.buffer == "":
                self.fail("host-missing", self.p)
            url.host = self.host_parser(self.buffer, self.p - len(self.buffer), not url.special())
            self.buffer = ""
            self.state = self.port
        elif self.end_of_authority():
            if url.special() and self.buffer == "":
                self.fail("host-missing", self.p)
            url.host = self.host_parser(self.buffer, self.p - len(self.buffer), not url.special())
            self.buffer = ""
            self.goto(self.path_start, 1)
        else:
            if c == "[":
                self.brackets = True
            if c == "]":
                self.brackets = False
            self.buffer += c

    def port(self):
        c, url = self.c(), self.url
        if c in DIGIT:
            self.buffer += c
        elif self.end_of_authority():
            if self.buffer != "":
                port = int(self.buffer)
                if port > 0xFFFF:
                    self.fail("port-out-of-range", self.p - len(self.buffer))
                url.port = None if port == SPECIAL.get(url.scheme) else port
                self.buffer = ""
            self.goto(self.path_start, 1)
        else:
            self.fail("port-invalid", self.p)

    def file(self):
        c, url, base = self.c(), self.url, self.base
        url.scheme, url.host = "file", ""
        if c in ("/", "\\"):
            if c == "\\":
                self.error("invalid-reverse-solidus", self.p)
            self.state = self.file_slash
        elif base is not None and base.scheme == "file":
            self.copy("host", "path", "query")
            if c == "?":
                self.start_query()
            elif c == "#":
                self.start_fragment()
            elif c != EOF:
                url.query = None
                if not starts_with_windows_drive_letter(self.input[self.p:]):
                    url.shorten()
                else:
                    self.error("file-invalid-Windows-drive-letter", self.p)
                    url.path = []
                self.goto(self.path, 1)
        else:
            self.goto(self.path, 1)

    def file_slash(self):
        c, url, base = self.c(), self.url, self.base
        if c in ("/", "\\"):
            if c == "\\":
                self.error("invalid-reverse-solidus", self.p)
            self.state = self.file_host
        else:
            if base is not None and base.scheme == "file":
                url.host = base.host
                if (not starts_with_windows_drive_letter(self.input[self.p:]) and base.path
                        and is_windows_drive_letter(base.path[0]) and base.path[0][1] == ":"):
                    url.path.append(base.path[0])
            self.goto(self.path, 1)

    def file_host(self):
        c, url = self.c(), self.url
        if c == EOF or c in "/\\?#":
            at = self.p - len(self.buffer)
            self.p -= 1
            if is_windows_drive_letter(self.buffer):
                self.error("file-invalid-Windows-drive-letter-host", at)
                self.state = self.path
            elif self.buffer == "":
                url.host = ""
                self.state = self.path_start
            else:
                host = self.host_parser(self.buffer, at, not url.special())
                url.host = "" if host == "localhost" else host
                self.buffer = ""
                self.state = self.path_start
        else:
            self.buffer += c

    def path_start(self):
        c, url = self.c(), self.url
        if url.special():
            if c == "\\":
                self.error("invalid-reverse-solidus", self.p)
            self.goto(self.path, 0 if c in ("/", "\\") else 1)
        elif c == "?":
            self.start_query()
        elif c == "#":
            self.start_fragment()
        elif c != EOF:
            self.goto(self.path, 0 if c == "/" else 1)

    def path(self):
        c, url = self.c(), self.url
        slash = c == "/" or url.special() and c == "\\"
        if c == EOF or slash or c in "?#":
            if url.special() and c == "\\":
                self.error("invalid-reverse-solidus", self.p)
            if is_double_dot(self.buffer):
                url.shorten()
                if not slash:
                    url.path.append("")
            elif is_single_dot(self.buffer):
                if not slash:
                    url.path.append("")
            else:
                if url.scheme == "file" and not url.path and is_windows_drive_letter(self.buffer):
                    self.buffer = self.buffer[0] + ":"
                url.path.append(self.buffer)
            self.buffer = ""
            if c == "?":
                self.start_query()
            if c == "#":
                self.start_fragment()
        else:
            self.check_unit(self.p)
            self.buffer += percent_encode(c, PATH_SET)

    def opaque_path(self):
        c, url = self.c(), self.url
        if c == "?":
            self.start_query()
        elif c == "#":
            self.start_fragment()
        elif c == " ":
            self.error("invalid-URL-unit", self.p)
            url.path += "%20" if self.remaining()[:1] in ("?", "#") else " "
        elif c != EOF:
            self.check_unit(self.p)
            url.path += percent_encode(c, C0_SET)

    def query(self):
        c, url = self.c(), self.url
        if self.encoding != "utf-8" and (not url.special() or url.scheme in ("ws", "wss")):
            self.encoding = "utf-8"
        if c == "#" or c == EOF:
            encode_set = SPECIAL_QUERY_SET if url.special() else QUERY_SET
            url.query += percent_encode(self.buffer, encode_set, self.encoding)
            self.buffer = ""
            if c == "#":
                self.start_fragment()
        else:
            self.check_unit(self.p)
            self.buffer += c

    def fragment(self):
        c = self.c()
        if c != EOF:
            self.check_unit(self.p)
            self.url.fragment += percent_encode(c, FRAGMENT_SET)

    # Hosts, section 3.5.

    def host_parser(self, text, at, opaque):
        if text.startswith("["):
            if not text.endswith("]"):
                self.fail("IPv6-unclosed", at + len(text))
            return "[" + serialize_ipv6(self.ipv6(text[1:-1], at + 1)) + "]"
        if opaque:
            return self.opaque_host(text, at)
        m = re.search("%[0-9A-Fa-f]{2}", text)
        if m:
            self.error("domain-percent-encoded", at + m.start())
        domain, offsets = percent_decode(text)
        ascii = self.domain(domain, [at + i for i in offsets])
        if ends_in_number(ascii):
            if not domain.isascii():
                self.error("IPv4-non-ASCII-input", at)
            return self.ipv4(ascii, text, at)
        return ascii

    def opaque_host(self, text, at):
        for i, ch in enumerate(text):
            if ch in FORBIDDEN_HOST:
                self.fail("host-invalid-code-point", at + i)
        for i in range(len(text)):
            self.check_unit(at + i)
        return percent_encode(text, C0_SET)

    def domain(self, domain, offsets):
        """The domain parser with beStrict false (section 3.3)."""
        result = uts46.to_ascii(domain)
        where = None
        if result.codes(True):
            labels = uts46.source_labels(domain)
            where = offsets[labels[result.first(True)]]
        ascii = None
        if domain.isascii():
            ascii = domain.lower()
        elif not result.codes(False):
            ascii = result.ascii
        failed = not ascii
        for i, ch in enumerate(ascii or ""):
            if ch in FORBIDDEN_DOMAIN:
                failed = True
                if domain.isascii():
                    where = max(where, offsets[i])
                break
        if failed:
            self.fail("domain-to-ASCII", where)
        if where is not None:
            self.error("domain-to-ASCII", where)
        return ascii

    def ipv4(self, host, text, at):
        plain = host == text.lower()  # otherwise offsets in the host are meaningless

        def where(i):
            return at + i if plain else at

        parts = host.split(".")
        if parts[-1] == "":
            self.error("IPv4-empty-part", where(len(host) - 1))
            parts.pop()
        starts = [0]
        for part in parts:
            starts.append(starts[-1] + len(part) + 1)
        if len(parts) < 4:
            self.error("IPv4-too-few-parts", where(starts[-1] - 1))
        if len(parts) > 4:
            self.fail("IPv4-too-many-parts", where(starts[4]))
        numbers = []
        for part, start in zip(parts, starts):
            result = ipv4_number(part)
            if result is None:
                self.fail("IPv4-non-numeric-part", where(start))
            if result[1]:
                self.error("IPv4-non-decimal-part", where(start))
            numbers.append(result[0])
        for n, start in zip(numbers, starts):
            if n > 255:
                self.error("IPv4-out-of-range-part", where(start))
                break
        if any(n > 255 for n in numbers[:-1]):
            raise Failure("IPv4-out-of-range-part")
        if numbers[-1] >= 256 ** (5 - len(numbers)):
            raise Failure("IPv4-out-of-range-part")
        value = numbers[-1]
        for counter, n in enumerate(numbers[:-1]):
            value += n * 256 ** (3 - counter)
        return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))

    def ipv6(self, text, at):
        address = [0] * 8
        piece, compress, p = 0, None, 0

        def c():
            return text[p] if p < len(text) else EOF

        if c() == ":":
            if text[1:2] != ":":
                self.fail("IPv6-invalid-compression", at + p)
            p += 2
            piece += 1
            compress = piece
        while c() != EOF:
            if piece == 8:
                self.fail("IPv6-too-many-pieces", at + p)
            if c() == ":":
                if compress is not None:
                    self.fail("IPv6-multiple-compression", at + p)
                p += 1
                piece += 1
                compress = piece
                continue
            value = length = 0
            while length < 4 and c() in HEX:
                value = value * 16 + int(c(), 16)
                p += 1
                length += 1
            if c() == ".":
                if length == 0:
                    self.fail("IPv4-in-IPv6-invalid-code-point", at + p)
                p -= length
                if piece > 6:
                    self.fail("IPv4-in-IPv6-too-many-pieces", at + p)
                seen = 0
                while c() != EOF:
                    number = None
                    if seen > 0:
                        if c() == "." and seen < 4:
                            p += 1
                        else:
                            self.fail("IPv4-in-IPv6-invalid-code-point", at + p)
                    if c() not in DIGIT:
                        self.fail("IPv4-in-IPv6-invalid-code-point", at + p)
                    while c() in DIGIT:
                        digit = int(c())
                        if number is None:
                            number = digit
                        elif number == 0:
                            self.fail("IPv4-in-IPv6-invalid-code-point", at + p)
                        else:
                            number = number * 10 + digit
                        if number > 255:
                            self.fail("IPv4-in-IPv6-out-of-range-part", at + p)
                        p += 1
                    address[piece] = address[piece] * 256 + number
                    seen += 1
                    if seen in (2, 4):
                        piece += 1
                if seen != 4:
                    self.fail("IPv4-in-IPv6-too-few-parts", at + p)
                break
            start = p - length
            if c() == ":":
                p += 1
                if c() == EOF:
                    self.fail("IPv6-invalid-code-point", at + p)
            elif c() != EOF:
                self.fail("IPv6-invalid-code-point", at + p)
            if length > 1 and value < 16 ** (length - 1):
                self.error("IPv6-piece-leading-zero", at + start)
            address[piece] = value
            piece += 1
        if compress is not None:
            swaps, piece = piece - compress, 7
            while piece != 0 and swaps > 0:
                other = compress + swaps - 1
                address[piece], address[other] = address[other], address[piece]
                piece -= 1
                swaps -= 1
        elif piece != 8:
            self.fail("IPv6-too-few-pieces", at + p)
        return address



def percent_decode(text):
    """Percent-decode and decode as UTF-8; also the index in text of each code
    point of the result, and of its end."""
    raw, where = bytearray(), []
    i = 0
    while i < len(text):
        m = re.match("%([0-9A-Fa-f]{2})", text[i:])
        if m:
            raw.append(int(m[1], 16))
            where.append(i)
            i += 3
            continue
        for b in text[i].encode():
            raw.append(b)
            where.append(i)
        i += 1
    out = raw.decode("utf-8", "replace")
    offsets, n = [], 0
    for ch in out:
        offsets.append(where[min(n, len(where) - 1)])
        n += len(ch.encode()) if ch != "\ufffd" else 1
    return out, offsets + [len(text)]


def ends_in_number(text):
    parts = text.split(".")
    if parts[-1] == "":
        parts.pop()
    last = parts[-1]
    if last != "" and set(last) <= DIGIT:
        return True
    return ipv4_number(last) is not None


def ipv4_number(text):
    """Return the number and whether it is not decimal, or None."""
    if text == "":
        return None
    error, radix = False, 10
    if text[:2] in ("0x", "0X"):
        error, radix, text = True, 16, text[2:]
    elif len(text) >= 2 and text[0] == "0":
        error, radix, text = True, 8, text[1:]
    if text == "":
        return 0, True
    digits = {8: set("01234567"), 10: DIGIT, 16: HEX}[radix]
    if not set(text) <= digits:
        return None
    return int(text, radix), error


def serialize_ipv6(address):
    longest, size, found, count = None, 1, None, 0
    for i, piece in enumerate(address):
        if piece != 0:
            if count > size:
                longest, size = found, count
            found, count = None, 0
        else:
            if found is None:
                found = i
            count += 1
    compress = found if count > size else longest
    out, ignore = "", False
    for i, piece in enumerate(address):
        if ignore and piece == 0:
            continue
        ignore = False
        if compress == i:
            out += "::" if i == 0 else ":"
            ignore = True
            continue
        out += "{:x}".format(piece)
        if i != 7:
            out += ":"
    return out


def parse(source, base=None, encoding="utf-8"):
    """Parse source against base, which is a string or None.

    Return the URL or None, the validation errors as (offset, name) by offset, and
    the offset of the one that ended the run. A base that does not parse makes the
    result None, without errors."""
    record = None
    if base is not None:
        try:
            record = Parser(base).parse()
        except Failure:
            return None, [], None
    p = Parser(source, record, encoding)
    url = failed_at = None
    try:
        url = p.parse()
    except Failure:
        failed_at = p.errors[-1][0]
    return url, sorted(p.errors, key=lambda e: e[0]), failed_at
