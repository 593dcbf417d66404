"""The inputs of the three RFC 3986 files: (clause, …). A str is
encoded as UTF-8, bytes are used as they are."""

SYNTAX, RESOLVE, NORMALIZE = [], [], []


def syntax(clause, *inputs):
    for text in inputs:
        SYNTAX.append((clause, text))


def resolve(clause, base, *refs):
    for ref in refs:
        RESOLVE.append((clause, base, ref))


def normalize(clause, *inputs):
    for text in inputs:
        NORMALIZE.append((clause, text))


# --- Syntax: sections 2, 3 and 4 ----------------------------------------------

syntax("§2.1 percent-encoding", "a:%41", "a:%", "a:%4", "a:%4g", "a:%g4", "a:%%41", "a:%zz%41", "a:%u0041", "a:%U00e9", "a:%u004", "a:%u", "a:b%?c", "a:b%4?c%4#d%4", "a://%/", "a://%4/", "a://u%@h", "a://u:%4@h", "a:%c3%a9", "a:%00", "a:%ff",
       "a:%2f%2F", "//%zz", "?%", "#%", "%", "%4", "%41", "a:%4 1", "a:%é", "a://h:80/%", "a:x%u12345", "a:%uD83D", "a:%2", "a://%u0041/")
syntax("§2.2 reserved characters", "a::/?#", "a:[", "a:]", "a:/[b]", "a:?[b]", "a:#[b]", "a:@", "a:!$&'()*+,;=", "a://!$&'()*+,;=/", "a://!$&'()*+,;=@h", "a:?!$&'()*+,;=:@/?", "a:#!$&'()*+,;=:@/?", "a:##", "a:#b#c", "a:?b?c")
syntax("§2.3 unreserved characters", "a:AZaz09-._~", "a://AZaz09-._~/", "a://AZaz09-._~@h/", "?AZaz09-._~", "#AZaz09-._~", "AZaz09-._~")
syntax("§2 characters outside", "a: ", "a:b c", "a:\t", "a:\x00", "a:\x1f", "a:\x7f", "a:é", b"a:\xff", b"a:\x80", "a:\\", "a:\"", "a:<", "a:>", "a:^", "a:`", "a:{", "a:|", "a:}", "a://b c/", "a://é/", "a://b\\c/", "a://\"/", "a://<>/", "a://^`{|}/", "a://\x00/", "a://b\x7fc/",
       "a://u v@h", "a://é@h", "a://u\\v@h", "a://u:p q@h", "a://u:é\x01@h", "a:?b c", "a:?é", "a:?\"<>", "a:?\\", "a:?{}|^`", "a:?\x01\x7f", "a:#b c", "a:#é", "a:#\"<>", "a:#\\", "a:#{}|^`", "a:#\x00", " a:b", "a:b ", "\ta:b", "a\n:b", b"//\xc3\x28/", b"?\xf0\x9f", b"#\xed\xa0\x80",
       "a:b\\c d\x01é|", "a://h/\\..\\", "\\\\h\\x", "/\\h", "http:\\\\h")
syntax("§3 syntax components", "foo://example.net:8042/over/there?name=ferret#nose", "urn:example:animal:ferret", "a:b", "a:/b", "a://b", "a:", "a:?b", "a:#b", "a:/?#", "a://b?c#d", "a://?c", "a://#d", "a:b?c#d", "http://", "http:", "http:///x", "file:///x", "a:b:c", "a://b//c")
syntax("§3.1 scheme", "A:b", "a1+-.:b", "1a:b", "+a:b", "-a:b", ".a:b", ":b", ":", "a_b:c", "a b:c", "a%41:b", "é:b", "ab:", "http", "z9:", "a/b:c", "a?b:c", "a#b:c", "//a:b", "a+:", "HTTP:x", "x.y-z+0:q", "a!:b", "a;b:c", "a@b:c", "@:b")
syntax("§3.2 authority", "a://", "a:///", "a://?", "a://#", "//h", "//", "///", "//h/p", "//h?q", "//h#f", "a://h:80/", "a://u@h:80/", "a://u:p@h:80/p?q#f", "a:/", "a:h", "a:////h")
syntax("§3.2.1 userinfo", "a://u@h", "a://u:p@h", "a://@h", "a://:@h", "a://u:@h", "a://:p@h", "a://u:p:q@h", "a://u@v@h", "a://u:p@q@h", "a://u%40v@h", "a://@", "a://u@", "a://@:80", "a://u;v=w@h", "a://u[v@h", "a://u/v@h", "a://u?v@h", "a://u#v@h", "http://u:p@[::1]:8080/", "a://u%zz@h", "a://:%4@h")
syntax("§3.2.2 host: registered name", "a://h", "a://H.Example", "a://a..b", "a://.", "a://a.", "a://-a-", "a://a_b", "a://%41", "a://%c3%a9.test", "a://a,b;c", "a://a b", "a://é.test", "a://a|b", "a://1a", "a://a:b", "a://a:b:c", "a://a:80:81", "a://:b", "http://a:b@c:d/", "a://a~b", "a://x*y", "http://xn--a/", "http://xn--bcher-kva.test/",
       "http://a_b.test/", "http://%61.test/", "http://b%c3%bccher.test/", "http://%ff.test/", "http://é.test/", "http://xn--zz.é/", "http://%e2%80%ae.test/", "mailto://é/", "http://a%2eb/", "http://a%00b/", "http://*.test/", "http://a$b/", "http://0x7f.1/", "http://127.1/", "http://2130706433/", "http://0177.0.0.1/", "http://1.2.3/", "http://1.2.3.4.5/", "http://09/", "http://a.0x1/", "http://a.0xg/", "http://1.2.3.4./", "http://a.1a./")
syntax("§3.2.2 host: IPv4address", "a://1.2.3.4", "a://0.0.0.0", "a://255.255.255.255", "a://256.1.1.1", "a://1.2.3", "a://1.2.3.4.", "a://01.2.3.4", "a://1.2.3.04", "a://1..3.4", "a://1.2.3.4:80", "a://1.2.3.4a", "a://1.2.3.", "a://1.2.3.256", "a://100.200.250.249", "a://1.2.3.4.5", "a://0.00.0.0", "a://999.1.1.1", "a://1.2.3.1000", "a://1a.2.3.4", "a://1.2.3.4567", "a://12345678", "a://1-2.3.4", "a://1.2-3.4.5", "a://1234.5.6.7")
V6 = ("::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "::2:3:4:5:6:7:8", "1::3:4:5:6:7:8", "1:2:3:4:5:6::8", "1:2:3:4:5:6:7::", "::3:4:5:6:7:8", "1:2::5:6:7:8", "1:2:3::6:7:8", "1:2:3:4::7:8", "1:2:3:4:5::8", "::1.2.3.4", "::ffff:255.255.255.255", "1::1.2.3.4", "1:2:3:4:5::1.2.3.4", "::2:3:4:5:6:1.2.3.4",
      "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", ":::", ":", ":1", "1:", "::1:", "1:::2", "1:2:3:4:5:6:7:1.2.3.4", "::2:3:4:5:6:7:1.2.3.4", "::1.2.3", "::1.2.3.4.5", "::256.1.1.1", "::01.2.3.4", "::1.2.3.4:5", "12345::", "g::", "::g", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "0001:0002::", "ABCD::abcd", "::1%25eth0", "::1%eth0", "fe80::a%25en1", "fe80::a%", "fe80::%25",
      "::1 ", "", " ", "1", "1.2.3.4", "::1.", "::.1", "1:2:3:4:5:6:7:", "::1/64", "::1.2.3.4.", "1::1.2.3", "::1.2.3.4a", "::1.2.3.1234", "1:2:3:4:5:6:7:8%25x", "%25", "a%25b", "::\\", "::é", "::1.2.3.", "[::1", "::1..2.3")
syntax("§3.2.2 host: IP-literal", *("a://[" + v + "]/" for v in V6))
syntax("§3.2.2 host: IP-literal", "a://[v1.a]", "a://[V1F.a:b!$&'()*+,;=]", "a://[v.a]", "a://[v1.]", "a://[v1a]", "a://[vg.a]", "a://[v1.a/b]", "a://[v1.a b]", "a://[v1.%41]", "a://[v1.é]", "a://[x1.a]", "a://[v1.a]:80", "a://[v]", "a://[v1]", "a://[v1.a\\]", "a://[v1.\x01]",
       "a://[::1", "a://::1]", "a://[::1]x", "a://x[::1]", "a://[::1]:80", "a://[::1]:x", "a://[", "a://]", "a://[]", "a://[[::1]]", "a://[::1]]", "a://u@[::1", "a://[::1]@h", "a://[a]b]", "//[::1", "//[", "//]x", "a://[::1]:", "a://[::1]:080", "a://h]:80", "a://h[", "a://[::1]\\x", "http://[::1%25é]/", "http://[A::%zz]/")
syntax("§3.2.3 port", "a://h:", "a://h:0", "a://h:65535", "a://h:65536", "a://h:00080", "a://h:99999999999999999999", "a://h:x", "a://h:8x", "a://h:-1", "a://h: 80", "a://h:%38", "a://:80", "a://h:80:90", "a://h::80", "a://h:é", "http://h:70000/", "http://[::1]:70000/", "http://1.2.3.4:65536/", "a://h:80a:90", "http://h:", "http://h:x/")
syntax("§3.3 path", "a:b/c", "a:/b/c", "a:b//c", "a:/", "a://h/", "a://h//", "a://h//b//", "a:.", "a:..", "a:/.", "a:/..", "a:./b", "a:/./b", "a:/../b", "a:/b/.", "a:/b/..", "a:/b/./c", "a:/b/../c", "a:/...", "a:/b..", "a:/..b", "a:/%2e", "a:/%2e%2E/b", "a:/b/%2e%2e", "a:/.%2e/", "a:/%2e./", "a:/..%2f", "a:/%2e%2e%2f", "a:/..%5c", "a:/..;x", "a:b:c@d",
       "b", "b/c", "/b", "./b", "../b", ".", "..", "./b:c", "b:c/d", "b/c:d", "", "/", "//", "/.//b", "b//c", "/b:c", "b;p=1", "b@c", "b=1,2", "@", ";", "%2e/b", "/%2E%2E%2F/x", "b/..%2Fc", "a:/%252e%252e/", "a:/%2e%2", "a:/.%", "a:/b/.%zz", "a:/%2e%2e%5C")
syntax("§3.4 query", "a:?", "a:?b=c&d=e", "a:?b/c?d", "a:?b#c", "?", "?b", "b?", "b?c", "a://h?b", "a:?b%zz", "a:?b|c", "a:?b[0]=1", "a:?b&amp;c", "a:?&amp;", "?a&amp;b&amp;c", "a:?b;c", "a:?b&am;p", "a:?%2541&amp;", "http://h/?x&amp;y#&amp;z", "http://h/?u=http://i/?a=b", "a:?'", "a:?b+c")
syntax("§3.5 fragment", "a:#", "a:#b", "a:#b/c?d", "#", "#b", "b#", "b#c", "a:#b#c", "a:#b%4", "a:#b|c", "a:?b#c?d", "a:#&amp;", "#:~:text=b", "#!b")
syntax("§4.1 URI reference", "g", "g:h", "/g", "//g", "?y", "#s", "", "g?y#s", "g;x=1/./y", "http:g", "http:/g", "http:?y", "ws:", "ftp:x", "file:", "file:x", "file://", "file://h", "file:/x", "file:\\\\h\\x", "https:///x", "HTTPS:x")
syntax("§4.2 relative reference", "this:that", "./this:that", "this/that:x", "1this:that", "this%3athat", ":that", "th_is:that", "a b:c", "é:x", "this?:that", "this#:that", "1:", "80:", "/:", "*:*", "a@b:c", "_:x", "%:b", "::", ":/", ":/x:y")
syntax("several defects", "http://h/?x&amp;y z", "http://h/a?x&amp;%zz#%41", "https://h/?&amp;|", "http://H/?a=1&amp;b=%7e", "http://u:p@[::1%25e]:99999/..%2f%zz%u0041%00%c0%af?a b&amp;\\#\x01é", " http://h\t/ ", "http://a_b:x/%2541%252f%25252e", "http://h/%ed%a0%80%ef%bf%bf%ff%41%2f", "http://h/%e4%bd", "http://h/%41%42%43%zz%44", "HTTP://H/%7euser/../%", "http://h/a\tb", "http://h/" + "%zz" * 20, "http://h/" + "%zz |" * 9 + "?" + "%" * 7,
       "http://" + "a|" * 12 + "/", "http://h\\@e/", "http://e\\.h/", "http:\t//h/", "http:h/p", "http:/h/p", "https:\\h", "http:///h/p", "file:/\\h/x", "file:c:/x", "http://h\x00.e/", "ht\ttp://h", "\x01//h/x", "//h\t.e/", "//h\\e", "\t//h", "http://h%2fe/", "http://h%09e/", "http://1\t.2/", "a://h\t/", "a:\tb", "file:////h/x", "ftp:\\\\h", "http://@/", "http://u@", "ws://", "http://[::1]\\@h/")

# --- Section 5 ------------------------------------------------------------------

# The table of section 5.4: the scripts are held to it, the vectors are others.
BASE_5_4 = "http://a/b/c/d;p?q"
TABLE_5_4 = {
    "g:h": "g:h", "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/", "/g": "http://a/g", "//g": "http://g", "?y": "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y",
    "#s": "http://a/b/c/d;p?q#s", "g#s": "http://a/b/c/g#s", "g?y#s": "http://a/b/c/g?y#s", ";x": "http://a/b/c/;x", "g;x": "http://a/b/c/g;x", "g;x?y#s": "http://a/b/c/g;x?y#s",
    "": "http://a/b/c/d;p?q", ".": "http://a/b/c/", "./": "http://a/b/c/", "..": "http://a/b/", "../": "http://a/b/", "../g": "http://a/b/g", "../..": "http://a/", "../../": "http://a/",
    "../../g": "http://a/g", "../../../g": "http://a/g", "../../../../g": "http://a/g", "/./g": "http://a/g", "/../g": "http://a/g", "g.": "http://a/b/c/g.", ".g": "http://a/b/c/.g",
    "g..": "http://a/b/c/g..", "..g": "http://a/b/c/..g", "./../g": "http://a/b/g", "./g/.": "http://a/b/c/g/", "g/./h": "http://a/b/c/g/h", "g/../h": "http://a/b/c/h",
    "g;x=1/./y": "http://a/b/c/g;x=1/y", "g;x=1/../y": "http://a/b/c/y", "g?y/./x": "http://a/b/c/g?y/./x", "g?y/../x": "http://a/b/c/g?y/../x", "g#s/./x": "http://a/b/c/g#s/./x",
    "g#s/../x": "http://a/b/c/g#s/../x", "http:g": "http:g",
}
SHAPES = ("x:y", "x", "./x", "x/", "/x", "//x", "?x", "x?y", "#x", "x#y", "x?y#z", ";x", "x;y", "", ".", "./", "..", "../", "../x", "../..", "../../", "../../x", "../../../x", "/./x", "/../x", "x.", ".x", "x..", "..x", "./../x", "./x/.", "x/./y", "x/../y", "x;y=1/./z", "x;y=1/../z",
          "x?y/../z", "x#y/../z", "?", "#", "//x/../y", "//x/./..", "...", "./.", "./..", "../.", "/", "//", "/.", "/..", "/...")
resolve("§5.4 shapes, deep base", "shop://u:p@Host.test:81/one/two;k=v/three?four#five", *SHAPES)
resolve("§5.4 shapes, base without authority", "shop:/one/two/three?four", *SHAPES)
resolve("§5.4 shapes, rootless base", "shop:one/two?four", *SHAPES)
resolve("§5.2.3 empty base path", "shop://host", *SHAPES[:36])
resolve("§5.2.3 empty base path", "shop://host?q/r", "x", "", "?y", "#z", "../x")
resolve("§5.2.3 empty base path", "shop:", "x", "../x", "/x", "", "?y", "#z", "//h", "./x", "..")
resolve("§5.2.3 opaque base", "mailto:someone", "x", "../x", "/x", "", "?y", "#z", "//h", "a/b")
resolve("§5.2.3 empty authority", "file:///one/two", "x", "../x", "../../x", "/x", "//h/x", "///x", "", "?y", "#z", "..")
resolve("§5.1 base", "", "x", "")
resolve("§5.1 base", "one/two", "x")
resolve("§5.1 base", "/one", "shop:x")
resolve("§5.1 base", "//host/one", "x")
resolve("§5.1 base", "?q", "x")
resolve("§5.1 base", "1a:b", "x")
resolve("§5.1 base", "shop://[::1/", "x")
resolve("§5.1 base", "shop://h]/", "x")
resolve("§5.1 base", "shop://[::1]x/", "x")
resolve("§5.1 base", "shop://h/a#fragment/b", "x", "", "?y", "#z")
resolve("§5.2.1 host", "shop://host/a", "//[::1", "//[::1]/x", "//]", "//[", "//[::1]:80", "//[::1]x", "//[v1.a]/..", "//[bad]/x", "//h:port/x", "//u@v@h", "shop://[::1", "other://[/x")
resolve("§5.2.2 strict", "http://shop.test/d/e", "http:x", "http:", "http:/x", "http:?y", "http:#z", "HTTP:x", "http:../x", "http:.", "http://y.test/../x", "http:x/../y", "https:x", "http:./x", "http:/../x/.")
resolve("§5.2.2 scheme", "http://shop.test/d/e", "http://y.test/z", "https://y.test/z?q#f", "http://y.test/a/../z", "http://y.test")
resolve("§5.2.2 scheme", "shop://host/a/b", "x:", "x:.", "x:..", "x:./y", "x:../y", "x:/./y", "x:/../y", "x:y/../z", "x:y/..", "x:y/.", "x:..y", "x://h/../y", "x://h/..", "x://h", "x://h/.//y", "x:/.//y", "x:/a/..//y", "x:..//y", "x:.//y", "x:../../y", "x:?..", "x:#..", "X:/Y/./Z", "x:/%2e%2e/y", "x:/..%2f", "x:/a//../b", "x:/a//..//b", "x:/../..", "x:.../y", "x:./../y/./..")
resolve("§5.2.4 remove dot segments", "shop://h/a/b/c/d", "./././x", "../../../../../x", "x/././y", "x/.././y", "x/y/../../z", "x//../y", "x//..//y", ".././x", "./.././x", "././..", "x/...", "x/..../y", ".../x", "x/..y/../z", "x/.y/./z", "%2e%2e/x", "%2E/x", ".%2e/x", "..%2Fx", "x/%2e%2e/y", "x/../..", "x/../../..", "/x/../../y", "/./../x", "/x/./", "/x/../", "//", "..//x", ".//x", "../..//x", "./", "x/..//",
        "../a/../b/../c", "/a/b/./c/../d/..", "..?x", ".?x", "..#x", ".#x", "x/..?y", "x/.#y", "..;x", ".;x", "x;/../y", "../;x", "/.x/..y/...", "x/./..", "x/../.", "/..//", "/...//..", "////x", "/.//x", "//h/.//x")
resolve("§5.2.4 without authority", "shop:/a/b", "..//x", "../..//x", ".//x", "/.//x", "/..//x", "/a/..//x", "x/..//y", "../../..//", "/.//", "/./", "//", "../.", "/x//..//y")
resolve("§5.2.4 rootless", "shop:a/b/c", "../x", "../../x", "../../../x", "..", "../..", "../../..", ".", "./x", ".//x", "../..//x", "x/../../../y", "/x", "%2e%2e/x")
resolve("§5.2.4 rootless", "shop:a", "x", "..", "../x", ".", "./x", "x/..", "x/.", "x/../..", "..//x", "./..//x")
resolve("§5.2.4 base not normalized", "shop://h/a/../b/./c/", "x", "..", ".", "", "?y", "#z", "../x", "/x")
resolve("§5.2.4 base not normalized", "shop:../a/./b", "x", "..", "", "#z", "../../x", ".")
resolve("§5.3 recomposition", "shop://h/a?b#c", "#", "?", "?#", "x?", "x#", "x?#", "//i", "//i?", "//i#", "//i?#", "//?x", "//#x", "//", "//@", "//:", "//i:", "//u@i:80", "/?x#y", ";?#")
resolve("§5.3 recomposition", "shop://?q", "x", "", "#z", "?y", "..")
resolve("§5.3 recomposition", "shop://:80", "x", "/x", "", "..", "//:81")
resolve("§4.2 colon", "shop://h/a/b", "./x:y", "x/y:z", "1:2", "?x:y", "#x:y", "/x:y", ".:x", "..:x", ":x", "x%3ay")
resolve("bytes that are no URI", "shop://h/a b/c", "x y", "é", b"\xff", "\\x", "x|y?z w#{}", "%zz", "%", "x\ty", "\x00", "//é/", "/\\..\\x", "..\\x", "./é/../x", "?é", "#é")

# --- Section 6 ------------------------------------------------------------------

normalize("§6.2.1 simple string comparison", "shop://host/a?b#c", "shop:a", "shop:", "a", "", "http://shop.test/", "http://shop.test/a/b?c=d#e", "//host/a", "?q", "#f")
normalize("§6.2.2.1 case: scheme", "SHOP:a", "sHoP://h", "HTTP://shop.test/", "Http:a", "A+B-C.1:x", "Z:", "HTTPS:", "WSS://s.test", "FILE:///x", "1A:b", "A")
normalize("§6.2.2.1 case: host", "shop://HOST", "http://Shop.TEST/", "shop://U:P@HOST:80", "shop://%C3%89/", "shop://%c3%89/", "shop://%4Aa/", "shop://%6Aa/", "shop://[ABCD::EF]/", "shop://[V1.ABC]/", "//HOST/A", "shop://A%2fB/", "shop://É/", "shop://[::FFFF:1.2.3.4]", "shop://[FE80::A%25EN0]/", "HTTP://[::A]:80")
normalize("§6.2.2.1 case: escapes", "shop:%2f", "shop:%2F", "shop:%3a%3A", "shop:%c3%a9", "shop:%aA", "shop:?%2f%3d", "shop:#%2f%c3", "shop://%2f/", "shop://u%3a:p%40@h/", "shop:%zz%2f", "shop:/%e2%82%ac", "%2f", "//h%2f", "shop://[::1%2f]/", "shop://[v1.%aa]/", "shop:%25%2b%5b")
normalize("§6.2.2.2 percent-encoding: unreserved", "shop:%41", "shop:%7E%7e", "shop:%2D%2E%5F", "shop:/%41%5A%61%7A%30%39", "shop:?%41", "shop:#%41", "shop://%41/", "shop://%41:%42@h/", "shop:%2541", "shop:%40%41%42", "shop:/%2e/x", "shop:/a/%2e%2e/b", "shop:/%2E%2E", "shop:%2e%2e/x", "%41:b", "a%3Ab", "%2e%2e/x", "shop:/%5B%41%5D", "shop:%2F%61", "shop://%61.test:80", "shop:%60%7b%7F%80")
normalize("§2.1 what is not allowed is escaped", "shop:a b", "shop:é", b"shop:\xff\x80", "shop:\x00\x1f\x7f", "shop:\"<>\\^`{|}", "shop:[a]", "shop:?a b", "shop:?[a]{b}|\\^`\"<>", "shop:#a b#c", "shop:#[a]", "shop://a b/", "shop://é/", "shop://u v:p q@h/", "shop://é:ü@h/", "shop://a|b/", "shop://a:b/", "shop://a:b:80/", "shop://u@v@h/", "shop:?é#é", "é", "a b", "//a b",
          "shop://[::1 ]/", "shop://[é]/", "shop://[a|b]/", "shop://[\\]/", "shop:\u4e2d\u6587", "shop:\U0001f600", "shop:/a\\b", "shop:\t", " shop:a ", "shop://\"/", "shop:a\u00a0b")
normalize("§2.4 malformed percent-encoding", "shop:%", "shop:%4", "shop:%zz", "shop:%%41", "shop:%4%41", "shop:%u0041", "shop:?%", "shop:#%", "shop://%/", "shop://%zz/", "shop://u%@h/", "shop:100%", "shop:%2%35", "shop:%25%", "%", "%zz", "shop:%4g%g4", "shop://[%]/", "shop://[::1%zz]/", "shop:%e9%", "shop:% 41")
normalize("§6.2.2.3 dot segments", "shop:/.", "shop:/..", "shop:/./a", "shop:/../a", "shop:/a/.", "shop:/a/..", "shop:/a/./b", "shop:/a/../b", "shop:/a/b/../../c", "shop:/a/b/../../../c", "shop:/a//../b", "shop:/a//..//b", "shop:/...", "shop:/.a/..b", "shop:/a./b..", "shop://h/.", "shop://h/..", "shop://h/a/../..", "shop://h/./", "shop://h/../", "shop://h/a/./b/../c/.", "shop://h/a/b/c/./../../g",
          "shop:a/../b", "shop:./a", "shop:../a", "shop:.", "shop:..", "a/../b", "./a", "../a", "/a/../b", "/./a", "..", ".", "//h/a/../b", "shop:/a/..;b", "shop:/a/.;/b", "shop:/a?b/../c", "shop:/a#b/../c", "shop:/%2e%2e/a", "shop:/a/%2E", "shop:/a/.%2e/b", "shop:/a/..%2fb", "shop:/..%5c", "http://h/a/../", "http://h/..?q", "shop:/.../../a", "shop:/a/.../..", "mid/content=5/../6", "shop:/a/b/..", "shop:/a/b/.", "shop:/././.", "shop:/../../..")
normalize("§3.3 a path that would read as an authority", "shop:/.//a", "shop:/..//a", "shop:/a/..//b", "shop:/.//", "shop:/./..//a", "shop:/a/../..//b//c", "shop://h/.//a", "shop:/.//a/../b", "shop:/.//a/../..", "shop:/%2e//a", "shop:/.///a", "/.//a", "a//b", "shop:a//b", "file:/.//a")
normalize("§4.2 a path that would read as a scheme", "./a:b", "a%3Ab", "1:b", ":b", "a_b:c", "./a/b:c", "%61:b", "b/a:c", "é:x", "a b:c", "@:b", ".:b", "%2e:b", "1a:b:c")
for scheme, port in (("http", 80), ("https", 443), ("ws", 80), ("wss", 443), ("ftp", 21)):
    normalize("§6.2.3 scheme-based: default port", f"{scheme}://h.test:{port}/", f"{scheme}://h.test:{port}", f"{scheme}://h.test:0{port}/a", f"{scheme}://h.test:/", f"{scheme}://h.test:{port + 1}/", f"{scheme}://h.test:0/", f"{scheme}://h.test:0000/", f"{scheme}://h.test")
normalize("§6.2.3 scheme-based: default port", "shop://h:80/", "shop://h:/", "shop://h:007", "http://h:65536/", "http://h:99999999999/", "http://[::1]:80/", "http://u@h:80/", "//h:80/", "//h:/", "file://h:80/x", "http://h:443/", "https://h:80/", "HTTP://h:80?q", "http://:80/", "http://h:080#f", "shop://h:0080/x", "http://h:0443/", "gopher://h:70/")
normalize("§6.2.3 scheme-based: empty path", "http://h", "https://h?q", "ws://h#f", "wss://h?q#f", "ftp://h", "shop://h", "file://h", "http:", "http:?q", "//h", "http://h?", "http://h#", "HTTP://H", "http://", "http://u@h", "http://[::1]", "shop:", "file://")
normalize("RFC 8089 file", "file:/x", "file:///x", "file://localhost/x", "file://LOCALHOST/x", "file://localhost", "file://localhost:80/x", "file://u@localhost/x", "file://h/x", "file:x", "file:", "file:/", "file:///", "file://%6cocalhost/x", "file:/../x", "file:/.//x", "FILE:/x?q#f", "file:////x", "file://localhost//x", "file:?q", "file:/a/..//b", "file://localhost:/x")
normalize("§6.2.3 scheme-based: empty userinfo", "http://@h/", "https://@h:443/", "ws://@h", "wss://@h/", "ftp://@h/", "shop://@h/", "http://:@h/", "http://u:@h/", "http://:p@h/", "http://@@h/", "//@h/", "file://@h/x", "HTTP://@H", "http://@[::1]/", "http://@/")
normalize("RFC 5952 §4 IPv6", *("http://[" + v + "]/" for v in ("0:0:0:0:0:0:0:1", "2001:0DB8::0001", "2001:db8:0:0:1:0:0:1", "2001:db8:0:1:1:1:1:1", "::ffff:192.0.2.1", "0:0:0:0:0:0:0:0", "1:0:0:2:0:0:0:3", "1::2", "0::0:0", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:0:3:0:5:0:7:0", "A:B:C:D:E:F:0:0", "0:0:1:0:0:0:0:0", "1:2:3:4:5:6:1.2.3.4", "::1.2.3.4", "::0.0.0.0", "::1", "::",
                                                                "v1.A", "::1%25Eth0", "g::", "1:2:3:4:5:6:7:8", "0001::", "00aa::0bb", "1::3:4:5:6:7:8")))
normalize("RFC 5952 §4 IPv6", "shop://[0:0::1]/", "//[0:0::1]/", "ftp://[0::0:1]:21", "file://[0::1]/x", "HTTP://U@[0::A]:080")
normalize("RFC 5891 domains", "http://b%C3%BCcher.test/", "http://bücher.test/", "http://B%c3%9cCHER.test/", "https://%E4%B8%AD%E6%96%87.test/", "ws://é.test", "ftp://é.test/", "shop://é.test/", "file://é.test/x", "//é.test/", "http://%FF.test/", "http://xn--bcher-kva.test/", "http://fa%C3%9F.test/", "http://a%CC%81.test/", "http://%E2%80%AE.test/", "http://%D7%90a.test/", "http://%EF%BC%A1.test/", "http://é_a.test/", "http://a%20é.test/", "http://é%2Fa.test/", "http://é%25.test/",
          "http://%C2%AD/", "http://é%22.test/", "http://u@é.test:80/", "http://a%E3%80%82é/", "http://%E2%85%A7.test/", "http://xn--a.é/", "http://é..test/", "http://-é-/", "http://%c3%a9%zz.test/", b"http://\xe9.test/", "http://é%00/", "http://%f0%9f%98%80/", "wss://é'!$.test/", "http://0.é/", "http://é.%d7%90/")
normalize("all at once", "HTTP://@B%C3%BCCHER.test:080/%7e/./a/../%zz b|?%c3%a9 %41[#%7e`", "FILE://LocalHost/%2e%2e//x y", "shop:/.//%7e%2F%2f/..", "HTTPS://u%3a:p|@[0:0::1]:0443?%", "WSS://H%41:443", " HTTP://H/ ", "http://H:x/%", "HTTP:/a/../b", "//H%41/./é", "SHOP:%2e%2e/%2E")
normalize("no host", "shop://[::1", "http://h]/", "http://[::1]x/", "//[", "http://[]]/", "file://[/x")
