package params

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestPatternErrors(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		_, err := compilePattern(src)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", src, err, want)
		}
	}
	f("a(?=b)", "assertion, group name or flag at byte 1")
	f("(?i)a", "assertion, group name or flag")
	f(`a\b`, "escape other than \\d, \\w, \\s and punctuation at byte 2")
	f(`(a)\1`, "escape other than")
	f(`a\`, "trailing backslash")
	f("a^b", "assertion at byte 1")
	f("^a^b", "assertion at byte 2")
	f("a$b", "assertion")
	f("a**", "invalid nested repetition operator: \"**\"")
	f("*a", "missing argument to repetition operator")
	f("a|*", "missing argument to repetition operator")
	f("a{2,1}", "invalid repeat count")
	f("a{1001}", "invalid repeat count")
	f("(a", "missing closing )")
	f("a)", "unexpected )")
	f("[a", "missing closing ]")
	f("[b-a]", "invalid character class range")
	f(`[a-\d]`, "invalid escape sequence")
	f("[xé]", "non-ASCII character in a class at byte 2")
	f("[[:alpha:]]", "named class")
	f(strings.Repeat("(?:a", 1001)+strings.Repeat(")*", 1001), "nests too deeply")
	f("((a{100}){100}){100}", "invalid repeat count")
	f("(a{100}){10}", "too long")
	f("((){1000}){1000}", "invalid repeat count")
	f("a{0,1000}", "too long")
	f("a{513}", "too long")
}

func TestSpellings(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		tree, _, err := parsePattern(src)
		if err != nil {
			t.Fatal(err)
		}
		texts := spellings(tree)
		slices.Sort(texts)
		got := strings.Join(texts, " ")
		if texts == nil {
			got = "many, " + literalPrefix(tree)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", src, got, want)
		}
	}
	f("Echobox", "echobox")
	f("fb_(?:source|ref)", "fb_ref fb_source")
	f("srs?", "sr srs")
	f("p[fd]_rd", "pd_rd pf_rd")
	f("a{2,3}", "aa aaa")
	f("(?:ref_?)?src", "ref_src refsrc src")
	f("wt_?z?mc", "wt_mc wt_zmc wtmc wtzmc")
	f("a{0}", "")
	f("utm(?:_[a-z_]*)?", "many, utm")
	f("[a-z]*ref", "many, ")
	f("x|y*", "many, ")
	f("dbkanal_[0-9]{3}", "many, dbkanal_")
	f("[a-z]{2}", "many, ")
	f("(é|[kS])b", "kb sb Éb éb")
	f("aé+", "many, a")
}

func TestGlob(t *testing.T) {
	f := func(glob, path string, want bool) {
		t.Helper()
		a, err := compilePath(glob)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.match([]byte(path)); got != want {
			t.Errorf("%q on %q: got %v", glob, path, got)
		}
	}
	f("/a", "/a", true)
	f("/a", "/A", false)
	f("/a", "/a/", false)
	f("/a/*", "/a/b", true)
	f("/a/*", "/a/", true)
	f("/a/*", "/a/b/c", false)
	f("/a/**", "/a", true) // the folder itself
	f("/a/**", "/a/b/c", true)
	f("/a/**", "/ab", false)
	f("/**", "", true)
	f("/**", "/", true)
	f("/a**", "/abc/d", true)
	f("/**/x", "/a/b/x", true)
	f("/**/x", "/ax", false)
	f("**.html", "/a/b.html", true)
	f("/*/*.php", "/a/b.php", true)
	f("/a.b", "/axb", false)
	f("^/a(b|c)", "/ACd", true)
	f("^/a(b|c)$", "/acd", false)
	f(`^/a\$`, "/a$x", true)
}

// FuzzPattern compares patterns with package regexp. '.' matches one byte here
// and one character there, so all texts are ASCII.
func FuzzPattern(f *testing.F) {
	seeds := []string{
		"", "a", "utm(?:_[a-z_]*)?", "(a|bc)*d?", "[^a-z%0-9]adId", "x{2,4}y{2,}", `\d\W[\w\-]\s?`, "[]a-]|[^]]", "a|", "(?:|a)+?b??",
		"^ab$", `a\$$`, "[a-c-e]", `[\d-z]+`, "(a{0}b{1})*", "(?:(?:a|b)?c?){3}", ".*a.{3}",
	}
	for _, p := range seeds {
		f.Add(p, "utm_source")
		f.Add(p, "Abcabcd$ -]")
	}
	ascii := func(s string) string {
		return strings.Map(func(r rune) rune { return min(r, 'x') }, strings.ToValidUTF8(s, "x"))
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		pattern, text = ascii(pattern), ascii(text)
		tree, _, err := parsePattern(pattern)
		if err != nil {
			return
		}
		re, err := regexp.Compile(`(?is)\A(?:` + pattern + `)\z`)
		if err != nil {
			t.Fatalf("%q: accepted here, but regexp reports %v", pattern, err)
		}
		matches := newAutomaton(tree, false).match([]byte(text))
		if matches != re.MatchString(text) {
			t.Fatalf("%q on %q: got %v", pattern, text, matches)
		}
		if texts := spellings(tree); texts != nil && slices.Contains(texts, lowerASCII(text)) != matches {
			t.Fatalf("%q on %q: got spellings %q", pattern, text, texts)
		}
		if matches && !hasPrefixFold([]byte(text), literalPrefix(tree)) {
			t.Fatalf("%q on %q: got literal prefix %q", pattern, text, literalPrefix(tree))
		}
	})
}
