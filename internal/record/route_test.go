package record

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// startsWith keeps the records whose field begins with a text.
type startsWith struct {
	field fieldID
	text  string
}

func (c startsWith) Fields() []int { return []int{int(c.field)} }

func (c startsWith) Keep(v *View) bool {
	text, ok := v.Field(int(c.field))
	return ok && strings.HasPrefix(string(text), c.text)
}

// routed returns the output of a job for each line, and the outputs it is for.
func routed(t *testing.T, c Config, lines ...string) (out []string, to []uint64, st Stats) {
	t.Helper()
	if c.Normalizer == nil {
		c.Normalizer = newNormalizer(t, "equiv")
	}
	j, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	var head []byte
	if c.URLField != "" {
		head = []byte(lines[0] + "\n")
	}
	w := j.NewWorker()
	for i, line := range lines {
		b, dead := w.Append(nil, nil, []byte(line+"\n"), Position{Name: "f", Line: int64(i + 1), Head: head}, &st)
		switch {
		case len(b) > 0:
			out, to = append(out, strings.TrimSuffix(string(b), "\n")), append(to, w.To())
		case len(dead) > 0:
			out, to = append(out, "dead"), append(to, 0)
		default:
			out, to = append(out, "-"), append(to, 0)
		}
	}
	if !st.Balanced() {
		t.Errorf("%+v", st)
	}
	return out, to, st
}

const routedLog = `192.0.2.1 - - [02/Nov/2026:06:25:15 +0100] "GET %s HTTP/1.1" 200 5`

func request(target string) string { return strings.Replace(routedLog, "%s", target, 1) }

// TestRoute: the first branch that takes a record decides; a record that does
// not match the format meets only branches that read the field error; Where
// comes first.
func TestRoute(t *testing.T) {
	a, b := startsWith{fPath, "/a"}, startsWith{fPath, "/a/b"}
	lines := []string{request("/a/x"), request("/a/b"), request("/c"), "not a log line", "", request("/d/e")}
	f := func(name string, route []Branch, where Condition, want ...uint64) {
		t.Helper()
		out, to, st := routed(t, Config{Format: "clf", Route: route, Where: where}, lines...)
		left := int64(0)
		for i := range want {
			if to[i] != want[i] || (want[i] == 0) != (out[i] == "-") {
				t.Errorf("%s: %q goes to %b, want %b: %q", name, lines[i], to[i], want[i], out[i])
			}
			if want[i] == 0 {
				left++
			}
		}
		if st.Filtered != left || st.Emitted != int64(len(lines))-left {
			t.Errorf("%s: %+v", name, st)
		}
	}
	f("else", []Branch{{When: b, To: 1}, {When: a, To: 2}, {To: 4}}, nil, 2, 1, 4, 4, 4, 4)
	f("first wins", []Branch{{When: a, To: 2}, {When: b, To: 1}, {To: 4}}, nil, 2, 2, 4, 4, 4, 4)
	f("left out", []Branch{{When: a, To: 0}, {To: 3}}, nil, 0, 0, 3, 3, 3, 3)
	f("nothing for the rest", []Branch{{When: a, To: 1}, {To: 0}}, nil, 1, 1, 0, 0, 0, 0)
	f("error", []Branch{{When: startsWith{fError, ""}, To: 1}, {To: 2}}, nil, 2, 2, 2, 1, 2, 2)
	f("where first", []Branch{{When: b, To: 1}, {To: 2}}, a, 2, 1, 0, 2, 2, 0)
	f("where with error", []Branch{{To: 2}}, startsWith{fError, ""}, 0, 0, 0, 2, 2, 0)
}

// TestRouteEverywhere: a header and directives go to all outputs, and dead
// letters to none.
func TestRouteEverywhere(t *testing.T) {
	route := []Branch{{When: startsWith{fPath, "/a"}, To: 1}, {To: 2}}
	out, to, _ := routed(t, Config{Format: "csv", URLField: "u", Route: route, OnRejected: DispositionDead},
		"n,u", "1,http://h/a", "2,http://h/b", `3,"http://h/c`)
	if to[0] != everywhere || to[1] != 1 || to[2] != 2 || out[3] != "dead" {
		t.Errorf("%q %b", out, to)
	}
}

// TestRouteToHost: ToHost gets the host that the record names, or else the host of its URL.
func TestRouteToHost(t *testing.T) {
	var hosts []string
	route := []Branch{{To: 8, ToHost: func(host []byte) uint64 {
		hosts = append(hosts, string(host))
		return uint64(len(hosts))
	}}}
	const rest = ` - - - [10/Oct/2025:13:55:36 +0000] "GET %s HTTP/1.1" 200 1`
	_, to, _ := routed(t, Config{Format: "vhost_common", Route: route},
		"H.org:80"+fmt.Sprintf(rest, "/a"), "a.org"+fmt.Sprintf(rest, "http://b.org/"), "-"+fmt.Sprintf(rest, "http://b.org/"), "_"+fmt.Sprintf(rest, "/"), "", "x")
	if want := []string{"H.org", "a.org", "b.org", "", ""}; !slices.Equal(hosts, want) || !slices.Equal(to, []uint64{1, 2, 3, 4, 8, 5}) {
		t.Errorf("hosts %q, outputs %d", hosts, to)
	}
}

// TestRoutePieces: all pieces of a record that is too long go to the same
// outputs.
func TestRoutePieces(t *testing.T) {
	j, err := New(Config{Format: "clf", Normalizer: newNormalizer(t, "equiv"), MaxRecord: 100, Route: []Branch{{When: startsWith{fPath, "/a"}, To: 1}, {When: startsWith{fError, "record-too-long"}, To: 2}, {To: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	w, st := j.NewWorker(), Stats{}
	for _, p := range []Piece{PieceFirst, PieceMiddle, PieceLast} {
		out, _ := w.Piece(nil, nil, []byte("GET /a"), p, Position{}, &st)
		if len(out) == 0 || w.To() != 2 {
			t.Errorf("piece %d: %q to %b", p, out, w.To())
		}
	}
}

// TestRouteShared: records that share a line cannot be distributed.
func TestRouteShared(t *testing.T) {
	_, err := New(Config{Format: "azure-front-door", Normalizer: newNormalizer(t, "equiv"), Route: []Branch{{To: 1}}})
	if err == nil || !strings.Contains(err.Error(), "share a line") {
		t.Error(err)
	}
}

// TestRouteAllocs: a route allocates nothing per record.
func TestRouteAllocs(t *testing.T) {
	j, err := New(Config{Format: "clf", Normalizer: newNormalizer(t, "equiv"), Route: []Branch{{When: startsWith{fPath, "/x"}, To: 1}, {When: startsWith{fError, ""}, To: 2}, {To: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	w, st, out := j.NewWorker(), Stats{}, make([]byte, 0, 1<<10)
	rec, bad := []byte(request("/a/x")+"\n"), []byte("no log line\n")
	if n := testing.AllocsPerRun(100, func() {
		out, _ = w.Append(out[:0], nil, rec, Position{}, &st)
		out, _ = w.Append(out[:0], nil, bad, Position{}, &st)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
