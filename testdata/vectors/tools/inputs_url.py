"""The inputs of url-standard.jsonl: (clause, base, inputs), by hand and by small
loops. A clause is a state of the basic URL parser, or another algorithm of the
URL Standard. An input may stand under several clauses; the first one counts."""

CASES = []


def cases(clause, *inputs, base=None, encoding=None):
    for text in inputs:
        CASES.append((clause, base, text, encoding))


# Before the states: stripping.
cases("strip",
      " http://shop.test/", "\x00http://shop.test/", "\x1f\x1fhttp://shop.test/a", "http://shop.test/ ",
      "http://shop.test/a\x00\x01", "\thttp://shop.test/", "http://shop.test/\n", "  http://shop.test/a b  ",
      "ht\ttp://shop.test/", "http:\n//shop.test/", "http:/\r/shop.test/", "http://sh\top.te\nst/", "http://shop.test:8\t0/",
      "http://shop.test/a\t/b\n/c\r", "http://shop.test/?q\t=1", "http://shop.test/#f\nr", "\t \r\n", "", " ", "\x00",
      "\u00a0http://shop.test/", "http://shop.test/\u00a0", "http://shop.test/\x7f", "  ftp:\t//\tf.test\t/",
      "http://u\tser:pa\nss@shop.test/", "http://[::\t1]/", "http://1\t27.0.0.1/", "a\tb:c\td", "http://shop.test/%4\t1",
      "http://shop.test/.\t./a", "http://shop.test/\t", "\thttp://shop.test\t", "file:\t///c\t:/x", "http://shop.test\n?\n#\n")
cases("strip", " x", "x ", "\tx\ny\r", " \t", "a\tb/../c", base="http://shop.test/d/e")

# Scheme start state and scheme state.
cases("scheme start state", "http://shop.test/", "Ab:c", "1http://shop.test/", "+a:b", "-a:b", ".a:b", ":", "://shop.test/", "_a:b",
      "é:b", "/", "?", "#", "//shop.test/", "%61:b", "(:", "z:", "A:", "Z:")
cases("scheme start state", "1a:b", "+a:b", "-x", ".x:y", ":", ":80", "é", "%41", base="http://shop.test/d/e?q#f")
cases("scheme state", "HTTP://shop.test/", "hTtPs://shop.test/", "WS://shop.test/", "wSS://shop.test/", "FTP://f.test/", "FILE:///x",
      "a+b-c.1:x", "a0:x", "http", "http/", "ht tp://shop.test/", "ht%74p://shop.test/", "http;//shop.test", "https", "a", "a/b:c",
      "a?b:c", "a#b:c", "httpé://shop.test/", "http//shop.test/", "http\\://shop.test/", "a_b:c", "a:b:c", "blob:http://shop.test/x",
      "about:blank", "javascript:alert(1)", "data:text/plain,a b", "mailto:a@b.test", "urn:isbn:0", "tel:+1", "httpx://shop.test/",
      "x-http://shop.test/", "view-source:http://shop.test/")
cases("scheme state", "http", "ht tp:x", "a/b:c", "a?b:c", "a#b:c", "a_b:c", "0:1", base="http://shop.test/d/e?q#f")
cases("scheme state", "HTTP:x", "https:x", "ws://y.test", "file:x", "data:x", "z:", base="http://shop.test/d/e?q#f")

# No scheme state.
cases("no scheme state", "shop.test", "/a", "?a", "#a", "\\a", "a b", "é", "//", "..", "%2e")
cases("no scheme state", "#", "#f", "# f", "#\u00e9", "", "x", "?q", "/x", "//x", "\\", "./", base="mailto:someone@shop.test?subject=1")
cases("no scheme state", "#f", "#", "x", "", "?", base="data:,x#old")
cases("no scheme state", "x", "#f", "", "?q", "/y", base="file:///d/e?q#f")
cases("no scheme state", "x", "#f", "", "?q", "/y", "//y/z", base="app://host/d/e?q#f")
cases("no scheme state", "x", "#f", "", "?q", "/y", base="app:/d/e?q#f")
cases("no scheme state", "x", "/x", "#", base="http://a b/")
cases("no scheme state", "x", base="relative/base")

# Special relative or authority state.
cases("special relative or authority state", "http:x", "http:/x", "http://x.test", "http:", "http:?a", "http:#a", "http:\\x", "http:\\\\y.test",
      "http:/\\y.test", "http:../z", "HTTP:x", "http:///y.test/", "http:////y.test", "http:\\/y.test", "http:.", "http: x", "http:%2e%2e/x",
      base="http://u:p@shop.test:8080/d/e?q#f")
cases("special relative or authority state", "ftp:x", "ftp:/x", "ftp://y.test", base="ftp://f.test/d/e")
cases("special relative or authority state", "wss:x", "ws:x", base="wss://s.test/d/e")
cases("special relative or authority state", "https:x", "https:/y.test", base="http://shop.test/d/e")

# Path or authority state.
cases("path or authority state", "app:/x", "app://x", "app:/", "app://", "app:/?q", "app:/#f", "app:/.", "app:/..", "app:/.//x", "app:/..//x",
      "app:/a/..//x", "app:/%2e//x", "app:/\\x", "app:///", "app:////", "app:/ x", "app:/.//", "app:/a/../..//x?q#f", "app:/./x", "app:/.//?",
      "app:/..//#f")
cases("path or authority state", "app:/x", "app:x", "app:", "app://y/z", base="app://host/d/e")

# Relative state and relative slash state.
REL = ("x", "x/y", "/x", "//y.test", "//y.test/z?q#f", "?r", "?", "#g", "#", "", ".", "..", "./x", "../x", "../../x", "../../../x", "x/..", "x/.",
       "\\x", "\\\\y.test\\z", "/\\y.test", "\\/y.test", "/\\\\y.test", "x\\y", "x?y\\z", "x:y", "./x:y", "1:2", "%2e%2e/x", ".%2E", "%2e", "x y",
       "///y.test", "/..", "/../x", "?q?r", "#g#h", "//", "///", "//u:p@y.test:81", "//[::1]", "//y test", "//:80", "//@", "/ x", "é?é#é")
cases("relative state", *REL, base="http://u:p@shop.test:8080/d/e?q#f")
cases("relative state", *REL, base="app://u:p@shop.test:8080/d/e?q#f")
cases("relative slash state", "/x", "//y.test/", "///y.test", "\\\\y.test/", "/\\y.test/", "\\/y.test", "/", "\\", "/?q", "/#f", "//", "/..//x",
      base="https://shop.test")
cases("relative slash state", "/x", "//y", "///y", "\\\\y", "/\\y", "\\", "//", "///", "/..//x", "//?q", "//#f", "/.//p", base="app:/d//e")
cases("relative state", "x", "..", "../..", "", "?q", "#f", "/.//x", "../..//x", ".//x", "x/..//y", base="app:/.//d/e")
cases("relative state", "x", "..", "", "/x", "//h", base="app://h")
cases("relative state", "x", "..", "", "/x", base="app:///d/e")
cases("relative state", "x", "..", "", "?q", "#f", base="http://shop.test")
cases("relative state", "x", "..", base="http://shop.test/?q/r#f/s")

# Special authority slashes states.
cases("special authority slashes state", "http:shop.test", "http:/shop.test", "https:/shop.test/a", "http:\\shop.test", "http:\\\\shop.test",
      "http:/\\shop.test", "http:\\/shop.test", "ws:s.test", "wss:/s.test", "ftp:f.test/x", "http:@shop.test", "http:", "http:/", "http:?q", "http:#f",
      "http: shop.test", "http:é.test")
cases("special authority ignore slashes state", "http:///shop.test", "http:////shop.test/", "http://\\shop.test", "http:\\\\\\shop.test",
      "http:///////", "http://", "http:///", "https:///?q", "https:///#f", "http:///u:p@shop.test/", "ws:////s.test", "ftp:\\\\\\\\f.test\\x")

# Authority state.
cases("authority state", "http://u@shop.test/", "http://u:p@shop.test/", "http://:p@shop.test/", "http://u:@shop.test/", "http://:@shop.test/",
      "http://@shop.test/", "http://u@v@shop.test/", "http://u:p@q:r@shop.test/", "http://u:p:q@shop.test/", "http://@@shop.test/", "http://u@",
      "http://u@/", "http://u:p@?q", "http://u@#f", "http://u@\\x", "http://@", "http://@/x", "http://:@/", "http://u@:80/", "http://u;=v@shop.test/",
      "http://u[v]@shop.test/", "http://u/v@shop.test/", "http://u?v@shop.test/", "http://u#v@shop.test/", "http://u\\v@shop.test/", "http://u v@shop.test/",
      "http://é:ü@shop.test/", "http://%41:%zz@shop.test/", "http://u^v|w@shop.test/", "http://u'v\"w@shop.test/", "http://u`{}<>:p`{}<>@shop.test/",
      "http://\U0001f511@shop.test/", "http://u%40v:p%3aq@shop.test/", "http://u@v@w@x@shop.test", "http://a:b:c@d:e@shop.test", "http://u,$&+!*()~@shop.test",
      "ftp://anonymous@f.test/x", "ws://u:p@s.test", "http://u\x7fv\x01@shop.test", "https://u:p@[::1]:8443/", "https://u@127.0.0.1/", "http://u:p@u:p@u:p@h.test")
cases("authority state", "app://u@host/", "app://u:p@host/", "app://@host/", "app://:@host/", "app://u@", "app://u@/x", "app://u@?q", "app://u\\v@host/",
      "app://u@\\host", "app://u@v@host", "app://u@:80", "app://:p@host:1/", "app://@", "app://:@", "app://u:@host", "app://é:ü@host/", "ssh://git@host/r.git")

# Host state.
cases("host state", "http://shop.test", "http://shop.test?q", "http://shop.test#f", "http://shop.test\\x", "http://:80/", "http://:/", "http://?", "http://#",
      "http:///", "http://shop.test:/", "http://shop.test:80/", "http://a:b:c/", "http://[::1]/", "http://[::1]:80/", "http://[::1", "http://[::1]x/", "http://[::1]x:80/",
      "http://x[::1]/", "http://[[::1]]/", "http://[]/", "http://]/", "http://a]:80/", "http://[a]b[:80]/", "http://[:80/", "http://h[:1]:80/", "http://[",
      "http://.test/", "http://./", "http://../", "http://-/", "http://a..b/", "http://a./", "http://a.b../", "http://shop_1.test/", "http://*.test/",
      "http://(a)/", "http://a,b;c=d/", "http://a$b&c!d'e/", "http://a~b`c{d}e/", "http://\"a\"/", "https://h?a@b", "https://h#a@b", "https://h/a@b:c", "https://h\\a@b:c")
cases("host state", "app://host", "app://host?q", "app://host#f", "app://host\\x", "app://:80/", "app://:/", "app://", "app:///x", "app://?q", "app://#f", "app://host:",
      "app://host:80", "app://[::1]:80", "app://[::1", "app://[::1]x", "app://x[y]", "app://[", "app://[]", "app://host\\", "app://HOST/", "app://1.2.3/", "app://h[:1]:2")

# Port state.
cases("port state", "http://shop.test:80/", "https://shop.test:443/", "ws://s.test:80", "wss://s.test:443", "ftp://f.test:21/", "http://shop.test:443/",
      "https://shop.test:80/", "http://shop.test:0/", "http://shop.test:00080/", "http://shop.test:0000/", "http://shop.test:65535/", "http://shop.test:65536/",
      "http://shop.test:99999999999999999999/", "http://shop.test:000065535/", "http://shop.test:8a/", "http://shop.test:a/", "http://shop.test:-1/",
      "http://shop.test:+1/", "http://shop.test: 80/", "http://shop.test:80 /", "http://shop.test:8.0/", "http://shop.test:\u0661/", "http://shop.test:80:81/",
      "http://shop.test:80@x/", "http://shop.test:?q", "http://shop.test:#f", "http://shop.test:\\x", "http://shop.test:80?q", "http://shop.test:81#f",
      "http://shop.test:81\\x", "http://shop.test:%38/", "http://shop.test::80/", "http://[::1]:65536/", "http://1.2.3.4:80/", "http://1.2.3.4:81/",
      "ftp://f.test:80/", "ws://s.test:443/", "http://shop.test:65536?", "http://shop.test:8[0]/", "app://host:80/", "app://host:0", "app://host:65536", "app://host:x",
      "app://host:8\\0", "app://host:?q", "app://host:#f", "app://host:000", "https://shop.test:0443/", "http://shop.test:\u00e9")

# File state, file slash state, file host state.
FILE = ("file:", "file:/", "file://", "file:///", "file:////", "file:x", "file:/x", "file://x", "file://x/y", "file:///x", "file:?q", "file:#f", "file:\\x",
        "file:\\\\x\\y", "file:/\\x/y", "file:\\/x/y", "file:c:", "file:c:/", "file:/c:/x", "file://c:/x", "file:///c:/x", "file:c|/x", "file:/c|/x",
        "file://c|/x", "file:///c|/x", "file:///c|", "file:c:x", "file:/c:x", "file://c:x", "file:/c:/../x", "file:/c:/../../x", "file:c:\\x", "file:\\c:\\x",
        "file://localhost/x", "file://LOCALHOST/x", "file://loc%61lhost/x", "file://localhost", "file://localhost:80/", "file://h:80/x", "file://u@h/x", "file://h?q",
        "file://h#f", "file://h\\x", "file:///?q", "file:///#f", "file:..", "file:/..", "file:///..", "file:/../c:/x", "file:///x/../c:/y", "file://%43%3A/x", "file://1.2.3/x",
        "file://[::1]/x", "file://[::1/x", "file://é.test/x", "file://h|/x", "file://c:?q", "file://c:#f", "file:c:?q", "file:c:#f", "file:/c:?q", "file://cc:/x",
        "file:///c:", "file:///c:/", "file:///c:/.", "file:///c:/..", "file:///C|/..", "file:///x/c|/y", "file:////c:/x", "file:///%63:/x", "file:///c%3A/../x",
        "file:///c%7C/../x", "file://?q", "file://#f", "file:c", "file:.c:/x", "file:1:/x", "file://./x", "file:/./c:/x", "file:/c:/./x/../..", "file://\\x", "file:x y", "file:é")
cases("file state", *FILE)
FILEREL = ("", "x", "./x", "../x", "../../x", "../../../x", "/x", "//x", "//x/y", "///x", "?r", "#g", "?", "#", "c:", "c:/", "c:/x", "c|/x", "c|", "C:\\x", "c:x", "c|x", "/c:/x",
           "/c|/x", "//c:/x", "//c|", "\\x", "\\\\x\\y", "/\\x", "\\c:\\x", "c:?q", "c:#f", "c|?q", "c|#f", "/c:", "/c|?q", "/..", "/../x", "..", ".", "%2e%2e", "1:/x", "//localhost/x",
           "//", "///", "file:x", "file:/x", "file:", "file:c:/x", "file:?q", "file:#f", "file:/c|/x", "http:x", " x", "é")
cases("file state", *FILEREL, base="file:///c:/d/e?q#f")
cases("file state", *FILEREL[:40], base="file://host/d/e?q#f")
cases("file slash state", "/x", "\\x", "/", "/c:/x", "/d|/x", "/..", "/?q", "/#f", "file:/x", "file:/", "//h/x", base="file://host/c:/d/e")
cases("file slash state", "/x", "/..", "/../x", "/c:/x", "/.", "file:/x", base="file:///c:")
cases("file state", "file:x", "file:", "file:?q", "file:/x", "file://h/x", "file:c:/x", base="http://shop.test/d/e")
cases("file state", "../x", "..", "../../..", "x", "/x", base="file:///d")
cases("file host state", "//h:80/x", "//h\\x", "//H/x", "//u@h", "//localhost", "//%6cocalhost/x", "//1.2/x", "//[::]/", "//h?q", "//h#f", "//é/x", "//h%zz/x", base="file:///d/e")

# Path start state and path state.
cases("path start state", "http://shop.test", "http://shop.test/", "http://shop.test\\", "http://shop.test?", "http://shop.test#", "http://shop.test/?", "app://host",
      "app://host/", "app://host?", "app://host#", "app://host\\", "app://host:1?q", "app://host:1#f", "app://host:1/x", "app://[::1]?q")
DOTS = ("/.", "/..", "/./", "/../", "/./.", "/../..", "/a/.", "/a/..", "/a/./b", "/a/../b", "/a/b/../../c", "/a/b/../../../c", "/...", "/..a", "/a..", "/.a", "/a.", "/%2e", "/%2E", "/.%2e",
        "/%2e.", "/%2E%2e", "/%2e%2E/", "/%2e%2e/a", "/a/%2e%2e", "/a/%2e/b", "/a/.%2E/b", "/a/%2e%2e%2f", "/%252e%252e/a", "//", "//..", "//../", "/a//..", "/a//../b", "/a///../../b",
        "/.//", "/..//", "/a/..//b", "/.;/a", "/..;/a", "/. /a", "/.\\", "/..\\", "/a\\..\\b", "/a/\\../b", "/a\\b", "\\a\\.\\b", "/./..", "/.././", "/%2e%2e%2e", "/%2e./%2e.", "/a/b/.././c/./..")
for prefix in ("http://shop.test", "app://host", "app:"):
    cases("path state", *(prefix + d for d in DOTS if prefix != "app:" or d[0] == "/"))
cases("path state", "http://shop.test/a b", "http://shop.test/%", "http://shop.test/%4", "http://shop.test/%zz", "http://shop.test/%41%2f%7e", "http://shop.test/%u0041",
      "http://shop.test/é/\u4e2d\u6587", "http://shop.test/\U0001f600", "http://shop.test/\ufdd0", "http://shop.test/\ufffe", "http://shop.test/\U0001ffff", "http://shop.test/\x80\x9f",
      "http://shop.test/\u00a0", "http://shop.test/\U0010fffd", "http://shop.test/\U0010fffe", "http://shop.test/a;b=c,d:e@f", "http://shop.test/a&b=c+d", "http://shop.test/!$'()*~_-",
      "http://shop.test/[a]", "http://shop.test/a|b", "http://shop.test/a^b", "http://shop.test/a`b{c}d", "http://shop.test/\"<>", "http://shop.test/%%41", "http://shop.test/a%", "http://shop.test/%2",
      "http://shop.test/\ufeff", "http://shop.test/\u200b", "http://shop.test/%C3%A9", "http://shop.test/%c3%a9", "http://shop.test/%FF", "app://host/a b%zz\u00e9", "http://shop.test/a\\b\\%2e%2e\\c",
      "http://shop.test/C:/..", "http://shop.test/c|/..", "app://host/c|/..", "http://shop.test/a\u2028b", "http://shop.test/e\u0301", "http://shop.test/%2E%2E%2F..", "http://shop.test/.html", "app://host/\\..\\x")

# Opaque path state.
cases("opaque path state", "app:x", "app:", "app:?q", "app:#f", "app:x?q#f", "app:x y", "app:x ?q", "app:x #f", "app:x  #f", "app: ", "app: x", "app: ?q", "app: #f", "app:  ?q", "app:%zz", "app:%",
      "app:%4", "app:é", "app:\x01\x7f", "app:\"<>`{}|\\^", "app:a/b/../c", "app:..", "app:.", "app:a//b", "app:\U0001f600", "app:\ufdd0", "app:[a]", "data:,a b  c", "data:,%41 ",
      "javascript:a ? b : c", "javascript:a # b", "mailto:é@shop.test", "app:x  ", "app:x y z ?", "app:\\x", "app:\\\\x", "blob:x y #", "app:a%20 #f", "app:\u00a0", "app:x\u0085y", "app:;,/?:@&=+$-_.!~*'()")
cases("opaque path state", "app:x", "app:", base="app:y")

# Query state and fragment state.
cases("query state", "http://shop.test/?", "http://shop.test/?a b", "http://shop.test/?a'b", "http://shop.test/?\"<>", "http://shop.test/?`{}|\\^[]", "http://shop.test/?%", "http://shop.test/?%zz",
      "http://shop.test/?%4", "http://shop.test/?é", "http://shop.test/?a?b", "http://shop.test/?a#b?c", "http://shop.test/?/../", "http://shop.test/?\x7f\x80", "http://shop.test/?\ufffe", "http://shop.test/?&amp;x=1",
      "http://shop.test/?a=1&b=2;c=3+d", "http://shop.test/?#", "app://host?a'b", "app://host?a b%zz\"<>", "app:x?a'b", "app:/x?é", "ws://s.test?a'b", "file:///x?a'b", "http://shop.test/?\U0001f600", "http://shop.test/?%c3%A9",
      "http://shop.test/?:@!$()*,-._~", "app://host?#", "http://shop.test?a\\b")
cases("query state", "http://shop.test/?é", "https://shop.test/?ü&é#é", "ws://s.test/?é", "wss://s.test/?é", "app://host?é", "app:x?é", "ftp://f.test/?é", "file:///?é", "http://shop.test/?\u2603",
      "http://shop.test/?a'b \u00ff", "http://shop.test/é?é", "http://shop.test/?", "http://shop.test/?%E9é%zz", encoding="iso-8859-1")
cases("fragment state", "http://shop.test/#", "http://shop.test/#a b", "http://shop.test/#\"<>`", "http://shop.test/#{}|\\^[]'", "http://shop.test/#%", "http://shop.test/#%zz", "http://shop.test/#a#b", "http://shop.test/#?a",
      "http://shop.test/#é", "http://shop.test/#\x01\x7f", "http://shop.test/#\ufdef", "http://shop.test/#:~:text=a", "http://shop.test/#!/a/../b", "app:x#a`b", "app://host#a b", "http://shop.test/#\U0001f600", "http://shop.test/#%4",
      "app:#\x00x", "http://shop.test#f", "http://shop.test/#/", "http://shop.test/#\u0080\u00a0", "file:#a b")

# The percent-encode sets, byte by byte: each row of ASCII in each component.
for row in ("\x01\x02\x03\x04\x05\x06\x07\x08", "\x0b\x0c\x0e\x0f\x10\x11\x12\x13", "\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f", " !\"$&'()", "*+,-.;<=>", "^_`{|}~\x7f"):
    for template in ("http://shop.test/a{}b", "http://shop.test/?a{}b", "app://host?a{}b", "http://shop.test/#a{}b", "app:a{}b", "http://a{}b@shop.test/", "http://a:b{}c@shop.test/", "app://a{}b@host"):
        cases("percent-encode sets", template.replace("{}", row))

# Host parser: forbidden code points.
for ch in sorted(set("\x00 #/:<>?@[\\]^|%\x7f") | {chr(i) for i in range(1, 0x20)} - set("\t\n\r")):
    cases("forbidden domain code points", f"http://sh{ch}op.test/", f"http://sh%{ord(ch):02x}op.test/")
for ch in "\x00 #/:<>?@[\\]^|%\x01\x1f\x7f\"`{}'":
    cases("forbidden host code points", f"app://ho{ch}st/x")
cases("opaque-host parser", "app://HoSt/", "app://h%41/", "app://h%/", "app://h%4/", "app://h%zz/", "app://é/", "app://\u4e2d\u6587/", "app://\x01/", "app://a\u00a0b/", "app://a\ufdd0b/", "app://\U0001f600.x/", "app://1.2.3.4/", "app://0x1/",
      "app://a..b/", "app://a,b;c/", "app://xn--a/", "app://a!$&'()*+,;=b/", "app://%41%zz%c3/", "app://\"/", "app://a\x80b", "app://[::1.2.3.4]/", "app://[::G]/")
cases("host parser", "http://SHOP.Test/", "http://sh%6Fp.test/", "http://%73hop%2etest/", "http://sh%zzop.test/", "http://sh%/", "http://sh%4/", "http://%C3%A9.test/", "http://%c3%28.test/", "http://%ff.test/", "http://é.test/", "http://É.test/",
      "http://b\u00fccher.test/", "http://\u4e2d\u56fd.test/", "http://\uff53hop.test/", "http://shop\u3002test/", "http://shop\uff0etest/", "http://shop\uff61test/", "http://sh\u00adop.test/", "http://\u00ad/", "http://%C2%AD/", "http://xn--bcher-kva.test/",
      "http://XN--Bcher-KVA.test/", "http://xn--/", "http://xn--a/", "http://xn--\u00e9/", "http://xn--zca.\u00df/", "http://a\u200db/", "http://\u0628\u200c\u0628.test/", "http://\u05d0a.test/", "http://\u05d01.test/", "http://1\u05d0.test/",
      "http://-a.test/", "http://a-.test/", "http://ab--c.test/", "http://a_b.test/", "http://a.test./", "http://a.test../", "http://" + "a" * 63 + ".test/", "http://" + "a" * 64 + ".test/", "http://" + "a." * 126 + "a/", "http://" + "a." * 127 + "ab/",
      "http://\u2100.test/", "http://\u2048.test/", "http://a\u2260b.test/", "http://a\uff05b.test/", "http://a\uff0fb.test/", "http://a\uff1ab.test/", "http://\U0001f600.test/", "http://\ufffd.test/", "http://%EF%BF%BD.test/", "http://\ue000.test/",
      "http://\u0301a.test/", "http://a\u0301.test/", "http://%ef%bb%bfa.test/", "http://a%2Fb.test/", "http://a%00b.test/", "http://a%25b.test/", "http://%5B::1]/", "http://a%3a80/", "http://u%40a.test/", "http://\u1e9e.test/", "http://\u03c2.test/",
      "http://\u0130.test/", "http://\uff0e\uff0e/", "http://\u3002/", "http://a\u3002/", "http://xn--4db.0\u00fc/", "http://%F0%9F%98%80.test/", "http://a%CC%81.test/", "http://\u00e9%41.test/", "http://%e9.test/", "http://a\u00a0b/", "http://\u200b/")

# Ends in a number checker, IPv4 parser, IPv4 number parser.
IPV4 = ("1.2.3.4", "0.0.0.0", "255.255.255.255", "256.1.1.1", "1.256.1.1", "1.1.256.1", "1.1.1.256", "1.1.1.255.", "1.2.3.4.", "1.2.3.4..", "1.2.3", "1.2", "1", "0", "1.", "0.", "1.2.3.4.5", "1.2.3.4.5.", "1.2.3.4.5.6",
        "01.02.03.04", "010.1", "08", "09.1", "1.08", "0x1", "0X1F", "0x", "0X", "0x.0x", "0x1.0x2.0x3.0x4", "1.0x", "a.0x", "0xg", "0x1g", "a.1", "a.0x1", "a.b", "a.1b", "1.a", "1.2.a.4", "a.09", "1..2", ".1", "..1", "1.2..4",
        "4294967295", "4294967296", "0xffffffff", "0x100000000", "037777777777", "040000000000", "1.16777215", "1.16777216", "1.2.65535", "1.2.65536", "99999999999999999999999", "0xfffffffffffffffffffff", "1.2.3.00", "1.2.3.0x", "00000000000000000000001",
        "0x00000000000000000000ff", "1e1", "+1", "-1", "1_0", "1.2.3.-4", "0b1", "0o7", "1.2.3.4a", "0.0.0.0x0", "127.1", "127.0.1", "0177.0.0.01", "0x7f.1", "256", "256.256", "1.2.3.256.", "0..0", "0x.", "192.0x00A80001", "a.4294967296", "a.0x.", "b.0xzz", "1.1.1.0400")
cases("IPv4 parser", *("http://" + h + "/" for h in IPV4))
cases("IPv4 parser", "http://%31%32%37.0.0.1/", "http://1%2e2%2e3%2e4/", "http://\uff11.\uff12.\uff13.\uff14/", "http://1\u30022\u30023\u30024/", "http://\u2460/", "http://0\uff581/", "http://\u00b9.2/", "http://1.2.3\u00ad.4/", "http://1\uff0e256\uff0e1\uff0e1/",
      "http://a.\uff11/", "http://\u0661/", "http://\U0001d7d9.2/", "http://1.2.3.\uff14\uff0e/", "http://\uff10\uff18/", "http://%30x1/", "http://1%2E/", "ws://1/", "ftp://0x10/", "https://1.2.3.4:443/", "file://1.2.3/x", "http://\u00e9.1/")

# IPv6 parser and serializer.
IPV6 = ("::", "::1", "1::", "1::8", "1:2:3:4:5:6:7:8", "0:0:0:0:0:0:0:0", "1:0:0:4:5:6:7:8", "1:0:3:0:5:0:7:8", "1:0:0:4:0:0:0:8", "1:0:0:0:5:0:0:0", "0:0:3:4:5:6:0:0", "0:2:3:4:5:6:7:0", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "1::3:4:5:6:7:8",
        "ABCD:EF01:2345:6789:abcd:ef01:2345:6789", "0001:002:03::04", "00::", "::00", "0::0", "::0:0", "000::", "0000:0000::0001", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8:", "1:2:3:4:5:6:7:8::", "1:2:3:4:5:6:7:", "1:2:3:4:5:6:7", "1", "1:", ":", ":1", ":::", "1:::2",
        "::1::", "1::2::3", "::1:", "1::2:", "12345::", "::12345", "g::", "::g", "1:2:3!:4", "::1%25eth0", "::1%eth0", "::1 ", " ::1", "::1/64", "::1.2.3.4", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "1:2:3:4:5:1.2.3.4", "::2:3:4:5:6:7:1.2.3.4",
        "::2:3:4:5:6:1.2.3.4", "1::3:4:5:6:7:1.2.3.4", "::.1.2.3", "::1..2.3", "::1.2.3", "::1.2.3.", "::1.2", "::1.", "::1.2.3.4.", "::1.2.3.4.5", "::1.2.3.4:5", "::256.1.1.1", "::1.1.1.256", "::1.1.1.999", "::01.1.1.1", "::1.00.1.1", "::0.0.0.0", "::1.2.3.a", "::a.1.2.3", "::1a.1.2.3",
        "::1.2.3.4a", "::12345.1.1.1", "::1.2a.3.4", "1.2.3.4", "1.2.3.4::", "::255.255.255.255", "::1-2", "[::1]", "::1]", "1:2:3:4:5:6:7:8.1.1.1", "0:0:0:0:0:0:13.1.68.3", "f:0:f:0:0:f:0:0", "0:f:0:0:f:f:0:0", "0:0:f:0:0:f:0:0", "::é", "::\uff11", "1:2:3:4:5:6:7:g", "1.", ".", "v1.a", "::%31",
        "1:2:3:4:5:6:7:8:g", "::0.0.0.00", "::1.2.3.4\\", "fe80::1%25", "1::0", "0:1::", "00001::", "::10.0.0.1", "1:02:003:0004::5", "::ffff:0:0", "64:ff9b::192.0.2.33")
cases("IPv6 parser", *("http://[" + h + "]/" for h in IPV6))
cases("IPv6 parser", "app://[1::0:0:2]/", "app://[::1.2.3.4]:5", "app://[1:2]", "app://[::G]", "http://[::1", "http://[::1/", "http://[::1?q", "http://[", "http://[]", "app://[]", "app://[", "app://[x", "http://u@[::1", "http://[::1]]", "https://[0::]:443/", "ws://[::1%00]/")

# Several validation errors in one URL, each with its offset.
cases("validation errors", "http:\\\\u:p@SHOP.test:80\\a b\\%zz?\"#`", "  http:/\\1.0x2.03./ ", "https:é.test:443/%", "http://@@1.2.3.256/", "http://u@[1:2:3]/", "http://a_b%41.test:99999/", "file:\\\\c:\\x y", "http:shop.test\\..\\%2e?<>#{}\t",
      "\thttp://\u2460.\u2461/\n", "http://u@%31.%32.%33/", "http://[00::01:1.2.3.4]/", "http://[00:00:0:0:0:0:0:00]:70000/", "app://a%b@h%/%?%#%", "http://-a-.b_c..test/|", "http://x:y@z:8a/", " app:x y #z ", "http://1.2.3.08/ ", "http:\\/\\//shop.test")
cases("validation errors", "c|\\x y", "\\\\c:\\", "//c|/%", "\tc:\\..\\..\n", base="file:///d:/e/f")
cases("validation errors", "http:x y", "http:\\x|", "\\\\u@y.test\\%", "/\\/\\1", " //a_b ", "?a b#c d ", base="http://shop.test/d/")

# More cases of the errors that occur fewer than five times above.
cases("IPv4 parser", "http://10.0.0.0.1", "http://0x1.2.3.4.5/", "http://1.1.1.1.1.1.", "http://%31.2.3.4.5/", "http://a.b.c.d.5/", "ws://9.8.7.6.5:80/")
cases("IPv6 parser", "http://[:]", "http://[:a::]", "http://[:.]", "app://[:2::]/", "http://[: :]/", "http://[a:b:c:d:e:f:0:1:2]", "app://[1:2:3:4:5:6:7:8:9:a]",
      "http://[::2:3:4:5:6:7:8:9]", "http://[a::b::c]", "http://[::a::]", "app://[1::2:3::4]", "http://[::ffff::1.2.3.4]", "http://[1:2:3:4:5:6:7:127.0.0.1]",
      "app://[1:2::4:5:6:7:9.9.9.9]", "http://[::2:3:4:5:6:7:0.0.0.0]", "http://[::300.1.2.3]", "app://[::1.2.3.256]", "http://[::ffff:1.260.1.1]", "http://[::1.2.3.1000]",
      "http://[::9.8]", "app://[::9.8.7]", "http://[1:2:3:4:5:6:9.8.7]", "http://[::ffff:0.0]")

# A base has no effect on a URL with another scheme or with an authority.
cases("URL with a base", "http://y.test/z", "https://y.test/z?q#f", "http://y.test/z?a&amp;b", "http://y.test/%7e/../x y", "app://y/z", "mailto:a@b.test", base="http://shop.test/d/e?q#f")
cases("URL with a base", "http://y.test/z", "app:/y/z", "file:///y", base="app:opaque")

# Segments that would be drive letters if their escapes were decoded.
cases("file slash state", "file:///%43|/x", "file:///%43:/x/..", "file:///%63%3a/x", "file:///%43|", "file:///x/%43:/%7e", "file:///%31:/x", "file:///%c3:/%61", "file:///%43:%7e/x", "file:///%7e|/..", "file:///%4a:")
cases("file slash state", "/%43|/x", "%43:", "%43|/../y", base="file:///c:/d")

# RFC 3986 has no host for these, browsers do.
cases("host state", "http://shop.test\\[x]", "http://shop.test\\]:80/", "https://u@shop.test\\[", "http://[::1]\\x")
cases("relative slash state", "//y.test\\[x", "\\\\y.test\\]", "//[::1]\\@", base="http://shop.test/d/e")
cases("relative slash state", "x", "//y.test/z/../%7e", base="http://shop.test\\[d/e")
