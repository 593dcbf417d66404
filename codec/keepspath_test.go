package codec

import (
	"strings"
	"testing"
)

// TestKeepsPath: a path that KeepsPath keeps is in the key as it is, and no rule applies
// to the key that does not apply to the key of the root.
func TestKeepsPath(t *testing.T) {
	kept := map[Level]int{}
	for _, name := range []string{"equiv", "crawler", "analytics"} {
		p, _ := Lookup(name)
		n := mustNew(p)
		for _, front := range []string{"http://h", "https://www.example.com:8080"} {
			for _, path := range keyPaths {
				for _, lv := range []Level{LevelSyntax, LevelEquivalent, LevelFetch, LevelPage, LevelShape} {
					if !n.KeepsPath(lv, []byte(path)) {
						continue
					}
					kept[lv]++
					root, why := keyAndRules(t, n, lv, front+"/")
					got, hits := keyAndRules(t, n, lv, front+path)
					if want := strings.TrimSuffix(root, "/") + path; got != want || hits != why {
						t.Errorf("%s %v of %s%s: %s by %v, want %s by %v", name, lv, front, path, got, hits, want, why)
					}
				}
			}
		}
	}
	if all := 6 * len(keyPaths); kept[LevelEquivalent] != all || kept[LevelFetch] <= kept[LevelPage] || kept[LevelPage] < all/4 || kept[LevelShape] != 0 {
		t.Errorf("kept %v of %d", kept, all)
	}
}

// keyAndRules returns the key of a URL in normal form, and the rules that apply to it.
func keyAndRules(t *testing.T, n *Normalizer, lv Level, url string) (string, Rules) {
	t.Helper()
	var r Result
	if norm, err := n.Append(nil, []byte(url), &r); err != nil || string(norm) != url {
		t.Fatalf("%s: %s, %v", url, norm, err)
	}
	return string(r.AppendKey(nil, lv)), r.KeyApplied()
}

// keyPaths are paths in normal form, in which key rules find something to do or not.
var keyPaths = []string{
	"/", "/a", "/a/b.html", "/a/", "//", "/a//b", "//a", "/index.html", "/a/INDEX.php", "/index.html/", "/xindex.html", "/index.htmlx",
	"/a;jsessionid=0123456789ABCDEF0123456789ABCDEF", "/a;b=c", "/(S(abcdefghijklmnopqrstuvwx))/a.aspx", "/default.asp", "/home.htm", "/home",
	"/%C3%A9", "/e%CC%81", "/A", "/a:b", "/http://x", "/a/~b/c.d", "/17", "/www.", "/%2F", "/a/index", "/index.", "/.a", "/a.",
}
