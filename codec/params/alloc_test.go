package params

import "testing"

func TestNoAllocs(t *testing.T) {
	sample, err := ParseClearURLs([]byte(clearSample))
	if err != nil {
		t.Fatal(err)
	}
	m := compile(t, Default(), sample, plain(t, "example.com/a/**: ref\ngoogle.*: ved\n/x_[0-9]+/\n!www.example.com: utm_keep"))
	var s Scratch
	dst := make([]byte, 0, 1024)
	pairs := make([]Pair, 0, 64)
	host, path := []byte("www.example.com"), []byte("/a/b;jsessionid=1/c")
	query := []byte("z=1&%75tm_source=a+b&utm_keep=%2f&x_12=&ref=1&sid=0123456789abcdef&cfid&cftoken=1&id=%zz&a&b&c&d&e&f&g&h&i&j&k&q=~ ")
	name := []byte("UTM_Source")
	f := func(what string, do func()) {
		t.Helper()
		if n := testing.AllocsPerRun(100, do); n != 0 {
			t.Errorf("%s: got %v allocations, want 0", what, n)
		}
	}
	f("AppendPairs", func() { pairs = AppendPairs(pairs[:0], query) })
	f("AppendName", func() { AppendName(dst, query[4:20]) })
	f("Signed", func() { Signed(query) })
	f("Site and Match", func() { m.Match(m.Site(host, path, &s), name, nil) })
	f("AppendKeyQuery", func() { appendKeyQuery(dst, query, m, m.Site(host, path, &s), &s) })
	f("AppendFiltered", func() { AppendFiltered(dst, query, m, m.Site(host, path, &s), &s) })
	f("CutPathSession", func() { CutPathSession(dst, path) })
	f("CampaignField", func() { CampaignField(name) })
	f("ClickID", func() { ClickID(name) })
	f("sessionOf", func() { sessionOf(name, name) })
}
