package params

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// keyMatcher returns a Matcher with rules of all kinds, and with names that
// must not match them.
func keyMatcher(t testing.TB) *Matcher {
	return compile(t, Default(), plain(t, "example.com: ref\n/x_[0-9]+/\nid ~int\n!example.com: jsessionid\n!example.com: utm_keep"))
}

// appendKeyQuery is AppendChanged that appends an unchanged query too.
func appendKeyQuery(dst, query []byte, m *Matcher, site Site, s *Scratch) (out []byte, present bool, why Why) {
	out, present, why = AppendChanged(dst, query, m, site, s)
	if present && why&^WhySigned == 0 {
		out = append(out, query...)
	}
	return out, present, why
}

func TestAppendKeyQuery(t *testing.T) {
	m := keyMatcher(t)
	var s Scratch
	f := func(query, want, why string) {
		t.Helper()
		out, present, got := appendKeyQuery([]byte("x"), []byte(query), m, Site{}, &s)
		text := strings.TrimPrefix(string(out), "x")
		if !present {
			text = "absent" + text
		}
		if text != want || got.String() != why {
			t.Errorf("%q: got %q, %q, want %q, %q", query, text, got, want, why)
		}
	}
	f("", "absent", "")
	f("a=1&b=2", "a=1&b=2", "")

	// q-drop, with the spellings of D4.38. All other fields are kept.
	f("a=1&utm_source=x&b=2", "a=1&b=2", "q-drop")
	f("utm_source=x", "absent", "q-drop")
	f("UTM_Source=x&%75tm_medium=y&utm%5Fterm", "absent", "q-drop")
	f("%3Futm_source=x&amp;gclid=1", "absent", "q-drop")
	f("a=1&amp;b=2", "a=1&amp%3Bb=2", "q-form") // a field with the name amp;b: D4.39
	f("id=7&id=x", "id=x", "q-drop")
	f("id=%37", "absent", "q-drop") // a shape applies to the decoded value
	f("ref=x&source=y&sid=5&s=1", "ref=x&s=1&sid=5&source=y", "q-sort-name")

	// q-noempty and q-eq: D4.35, `a` and `a=` are equivalent.
	f("&&", "absent", "q-noempty")
	f("a=&&b&", "a&b", "q-noempty,q-eq")
	f("=", "absent", "q-noempty,q-eq")
	f("=1", "=1", "")
	f("1423", "1423", "") // a field without value is data

	// q-form: URL Standard §5.2.
	f("a=b%20c+d", "a=b+c+d", "q-form")
	f("a=%2f%2F/", "a=%2F%2F%2F", "q-form")
	f("a=~%7E", "a=%7E%7E", "q-form")
	f("%61=%2a*-._", "a=**-._", "q-form")
	f("a=%&b=%zz&c=%4%31", "a=%25&b=%25zz&c=%2541", "q-form")
	f("a=%e9&b=%C0%AF", "a=%E9&b=%C0%AF", "q-form")
	f("a==b", "a=%3Db", "q-form")
	f("f[]=1", "f%5B%5D=1", "q-form")

	// q-sort-name: D4.36.
	f("q2=a&q=b", "q=b&q2=a", "q-sort-name") // by name, not by the whole field: '2' < '='
	f("b=2&a=2&b=1&a=1", "a=2&a=1&b=2&b=1", "q-sort-name")
	f("%62=1&a=2", "a=2&b=1", "q-form,q-sort-name") // by the decoded name
	f("a*=1&a+=2", "a+=2&a*=1", "q-sort-name")      // ' ' < '*' < '+'
	f("a=1&a=1", "a=1&a=1", "")                     // repeated fields are data: D4.37
	f("page_id=1&page_id=0&page_ids=2", "page_id=1&page_id=0&page_ids=2", "")
	f("page_ids=2&page_id=1&page_id=0", "page_id=1&page_id=0&page_ids=2", "q-sort-name")

	// qsid.
	f("jsessionid=1&a=2", "a=2", "qsid")
	f("cfid=1&a=2&CFTOKEN=3", "a=2", "qsid")
	f("cfid=1&a=2", "a=2&cfid=1", "q-sort-name")
	f("sid=0123456789abcdef.node1&PHPSESSID=&utm_x", "absent", "qsid,q-drop")

	// Signed URLs: D4.42.
	f("b=1&X-Amz-Signature=f00&a=%2f&utm_source=x", "b=1&X-Amz-Signature=f00&a=%2f&utm_source=x", "q-signed")
	f("Expires=1&Signature=x&&", "Expires=1&Signature=x&&", "q-signed")
	f("Signature=x&utm_source=1", "Signature=x", "q-drop")
}

func TestAppendKeyQuerySite(t *testing.T) {
	m := keyMatcher(t)
	var s Scratch
	f := func(host string, query, want string, rules ...string) {
		t.Helper()
		site := m.Site([]byte(host), []byte("/"), &s)
		out, _, _ := appendKeyQuery(nil, []byte(query), m, site, &s)
		var got []string
		for _, d := range s.Dropped() {
			got = append(got, string(d.Pair.Name([]byte(query)))+" "+m.Rule(d.Rule).Source)
		}
		if string(out) != want || !slices.Equal(got, rules) {
			t.Errorf("%s %q: got %q %q, want %q %q", host, query, out, got, want, rules)
		}
	}
	f("example.com", "ref=1&a=2&x_1", "a=2", "ref test:1", "x_1 test:2")
	f("example.org", "ref=1&a=2", "a=2&ref=1")
	f("example.com", "jsessionid=1&utm_keep", "jsessionid=1&utm_keep") // an exception also keeps session IDs
	f("example.org", "jsessionid=1&utm_keep", "", "jsessionid ", "utm_keep default:34")
	f("example.org", "b=1;a=2", "b=1%3Ba%3D2")
}

func TestAppendFiltered(t *testing.T) {
	m := keyMatcher(t)
	var s Scratch
	f := func(query string, want string, present bool, why string) {
		t.Helper()
		out, got, w := AppendFiltered([]byte("x"), []byte(query), m, Site{}, &s)
		if string(out) != "x"+want || got != present || w.String() != why {
			t.Errorf("%q: got %q, %v, %q, want %q, %v, %q", query, out[1:], got, w, want, present, why)
		}
	}
	f("", "", true, "") // "?" is kept
	f("b=%2f&a=&&c=~ ", "b=%2f&a=&&c=~ ", true, "")
	f("b=%2f&utm_source=1&a=", "b=%2f&a=", true, "q-drop")
	f("utm_source=1&b", "b", true, "q-drop")
	f("gclid=1", "", false, "q-drop")
	f("jsessionid=1", "jsessionid=1", true, "") // the URL may need its session to work
	f("gclid=1&sig=x&se=y", "gclid=1&sig=x&se=y", true, "q-signed")
}

func TestWhyNames(t *testing.T) {
	if got, want := Why(1<<numWhy-1).String(), "q-signed,qsid,q-drop,q-noempty,q-eq,q-form,q-sort-name,q-once"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestSortCorpus compares the order with URLSearchParams.sort(), which sorts by
// UTF-16 code units. Ours sorts by bytes, that is, by code points. The two
// differ if a name with a character from U+E000 to U+FFFF is compared with one
// above (D4.36).
func TestSortCorpus(t *testing.T) {
	var cases []struct {
		Input  string
		Output [][2]string
	}
	if err := json.Unmarshal(corpus(t, "whatwg/urlsearchparams-sort.json"), &cases); err != nil {
		t.Fatal(err)
	}
	differs := map[string]string{
		"ﬃ&🌈": "U+FB03 < U+1F308 by bytes; D83C DF08 < FB03 by UTF-16",
	}
	var s Scratch
	for _, c := range cases {
		out, _, _ := appendKeyQuery(nil, []byte(c.Input), nil, Site{}, &s)
		var got [][2]string
		for _, p := range AppendPairs(nil, out) {
			got = append(got, [2]string{string(AppendName(nil, p.Name(out))), string(AppendName(nil, p.Value(out)))})
		}
		if same, why := slices.Equal(got, c.Output), differs[c.Input]; same == (why != "") {
			t.Errorf("%q: got %q, URLSearchParams %q; expected difference: %q", c.Input, got, c.Output, why)
		}
	}
}

// checkTidy checks that the fast path for tidy queries gives the same result as
// the general path.
func checkTidy(t *testing.T, query []byte, m *Matcher, site Site, s *Scratch) {
	t.Helper()
	got, gotPresent, gotWhy := appendKeyQuery(nil, query, m, site, s)
	drops := slices.Clone(s.Dropped())
	want, present, why := s.appendUntidy(nil, query, m, site)
	if !slices.Equal(drops, s.Dropped()) {
		t.Fatalf("%q: dropped %v, want %v", query, drops, s.Dropped())
	}
	if present && why&^WhySigned == 0 {
		want = append(want, query...)
	}
	if !bytes.Equal(got, want) || gotPresent != present || gotWhy != why {
		t.Fatalf("%q: got %q, %v, %v, want %q, %v, %v", query, got, gotPresent, gotWhy, want, present, why)
	}
	if !m.anyName(site) {
		checkInPlace(t, query, m, s, want, present, why)
	}
}

// checkInPlace checks that appendTidy can write its result over the query, and that it
// ignores what follows the query.
func checkInPlace(t *testing.T, query []byte, m *Matcher, s *Scratch, want []byte, present bool, why Why) {
	t.Helper()
	const front = 3
	text := append(bytes.Repeat([]byte("4"), front), query...)
	text = append(text, bytes.Repeat([]byte("4"), 2*tidyRoom)...)
	out, gotPresent, got, ok := appendTidy(text[:front], text[front:][:len(query)], m, s)
	switch {
	case !ok:
		return
	case got == 0:
		out = text[:front+len(query)]
	}
	if !bytes.Equal(out[front:], want) || gotPresent != present || got != why {
		t.Fatalf("%q: in place: got %q, %v, %v, want %q, %v, %v", query, out[front:], gotPresent, got, want, present, why)
	}
}

var querySeeds = []string{
	"", "a=1&b=2", "b=2&a=1&b=1", "utm_source=x&a", "a=&b", "&&=&", "x_1&id=7&id=a", "%3Futm_source&amp;gclid&?gclid", "cfid=1&CFTOKEN",
	"sid=0123456789abcdef&session_id=5", "Signature=a&Expires", "a=%2f/%zz%4%31+%20", "%61=1&a=2&A=3", "a;b=c", "\xff=\x00&%ff", "jsessionid&PHPSESSID=",
	"utm_source=a", "utm_source=a&utm_medium=b%20&c=1%20", "c=2&utm_source=a=b&b=1&gclid", "fbclid=%zz&a=1&utm_id=2", // tidy ones with dropped fields
	"a=1&b=2%20x&c==/", "b+=1&b*=1", // a tidy query and another one
	"page_id=1&page_id=0&page_ids=2", "page_ids=%20&page_id=1&page_idea=0&page_id=0", "b=%4&a=%", "i=1&h=2&g=3&f=4&e=5&d=6&c=7&b=8&a=9",
	"f[]=1&a=2&amp;c=3&b/", "a&amp;gclid=1&b", "?utm_x&?", "a&amp;&?amp;utm_x", "\x00", "\x00&\x00\x00",
	strings.Repeat("a", 58) + "=%20&" + strings.Repeat("b", 61) + "=+&c=&utm_source", // three charts
}

func FuzzKeyQuery(f *testing.F) {
	for _, q := range querySeeds {
		f.Add([]byte(q), uint64(1))
	}
	m := keyMatcher(f)
	var s, s2 Scratch
	f.Fuzz(func(t *testing.T, query []byte, seed uint64) {
		host := []string{"example.com", "example.org"}[seed%2]
		site := m.Site([]byte(host), nil, &s)
		out, present, why := appendKeyQuery([]byte("x"), query, m, site, &s)
		if out[0] != 'x' || present != (len(out) > 1) {
			t.Fatalf("%q: %q, %v", query, out, present)
		}
		out = out[1:]
		match := func(name, value string) bool {
			_, drop := m.Match(m.Site([]byte(host), nil, &s2), []byte(name), []byte(value))
			return drop
		}
		kept := func(name, _ string) bool {
			return host == "example.com" && strings.EqualFold(slowBare(name), "jsessionid")
		}
		if want, wantPresent := slowKeyQuery(string(query), match, kept); string(out) != want || present != wantPresent {
			t.Fatalf("%q: got %q, %v, want %q, %v", query, out, present, want, wantPresent)
		}
		if why == 0 && !bytes.Equal(out, query) {
			t.Fatalf("%q: became %q for no reason", query, out)
		}
		if again, _, why := appendKeyQuery(nil, out, m, site, &s); !bytes.Equal(again, out) || why&^WhySigned != 0 {
			t.Fatalf("%q: %q, then %q by %v", query, out, again, why)
		}
		checkTidy(t, query, m, site, &s)
		if why&WhySigned == 0 {
			checkUnsigned(t, query, out, m, site, &s, seed)
		}
		checkFiltered(t, query, m, site, &s)
		s.draw(query)
		s.read(query, m)
		same := func(f field, p Pair) bool { return f.Pair == p }
		if pairs := AppendPairs(nil, query); !slices.EqualFunc(s.fields, pairs, same) {
			t.Fatalf("%q: fields %v, pairs %v", query, s.fields, pairs)
		}
	})
}

// checkUnsigned checks that the order of fields with different names does not
// matter, that '=' without a value is ignored, and that an escaped slash
// remains escaped.
func checkUnsigned(t *testing.T, query, out []byte, m *Matcher, site Site, s *Scratch, seed uint64) {
	t.Helper()
	if bytes.ContainsAny(out, "/?;~\x00 ") {
		t.Fatalf("%q: result %q is not in form encoding", query, out)
	}
	fields := bytes.Split(query, []byte("&"))
	name := func(f []byte) string {
		n, _, _ := bytes.Cut(f, []byte("="))
		return string(AppendName(nil, n))
	}
	r := rand.New(rand.NewPCG(seed, 2))
	for range 2 * len(fields) {
		if i := r.IntN(len(fields)); i > 0 && name(fields[i-1]) != name(fields[i]) {
			fields[i-1], fields[i] = fields[i], fields[i-1]
		}
	}
	for i, f := range fields {
		if !bytes.Contains(f, []byte("=")) {
			fields[i] = append(bytes.Clone(f), '=')
		}
	}
	if other, _, _ := appendKeyQuery(nil, bytes.Join(fields, []byte("&")), m, site, s); !bytes.Equal(other, out) {
		t.Fatalf("%q: %q, but %q: %q", query, out, bytes.Join(fields, []byte("&")), other)
	}
}

// checkFiltered checks that AppendFiltered keeps bytes and that the result has
// the same key.
func checkFiltered(t *testing.T, query []byte, m *Matcher, site Site, s *Scratch) {
	t.Helper()
	kept, present, why := AppendFiltered(nil, query, m, site, s)
	var want [][]byte
	drops := s.Dropped()
	for _, p := range AppendPairs(nil, query) {
		if len(drops) > 0 && drops[0].Pair == p {
			drops = drops[1:]
		} else {
			want = append(want, query[p.Start:p.End])
		}
	}
	if joined := bytes.Join(want, []byte("&")); !bytes.Equal(kept, joined) || !present && len(kept) > 0 || why == 0 && !bytes.Equal(kept, query) {
		t.Fatalf("%q: kept %q, want %q", query, kept, joined)
	}
	again, _, _ := AppendFiltered(nil, kept, m, site, s)
	if !bytes.Equal(again, kept) {
		t.Fatalf("%q: filtered %q, then %q", query, kept, again)
	}
}
