package record

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// TestNoAllocs checks that nothing allocates in the steady state, for every
// setup and rendering and with all fields.
func TestNoAllocs(t *testing.T) {
	rec := []byte(`h:80 1.2.3.4 - - [t] "GET /a b\x22%zz HTTP/1.1" 200 1 "http://u:p@H/é" "agent"` + "\n")
	inputs := [][]byte{
		rec, []byte("HTTP://u:p@H/%7e\xe9\n"), []byte("\n"), []byte("http://[x\n"), []byte("x,\"a\"\"b\",c\n"), []byte("x\ty\n"), []byte(`v:80 h GET /a?b HTTP/1.1 "http://r/"` + "\n"),
		[]byte(`{"url":"HTTP:\/\/H\/\u00e9","base":"http:\/\/b","request":{"uri":"\/a"}}` + "\n"), []byte(`{"u":"https://h/%7e","r":"x"}` + "\n"), []byte(`"http://r/" h/a HTTP/1.1` + "\n"),
	}
	at := Position{Name: "file", Head: []byte("id,url\n"), Line: 1, Off: 7, Key: []byte("http://u:p@h")}
	each(func(c Config) {
		for _, c.Redact = range [][]string{nil, {"passwords"}, {"jwt", "/zq{3}/"}} {
			w := newJob(t, allFields(c)).NewWorker()
			var st Stats
			var out, dead []byte
			all := func() {
				for _, in := range inputs {
					out, dead = w.Append(out[:0], dead[:0], in, at, &st)
				}
				out, dead = w.Append(out[:0], dead[:0], at.Head, Position{Head: at.Head}, &st)
				out, dead = w.Reject(out[:0], dead[:0], rec, Panic, at, &st)
				out, dead = w.Piece(out[:0], dead[:0], rec, PieceLast, at, &st)
			}
			all()
			if n := testing.AllocsPerRun(3, all); n != 0 {
				t.Errorf("%+v: got %v allocations, want 0", c, n)
			}
		}
	})
}

// TestAppendOnly checks that Append only appends to its arguments, and that its
// output for a record does not depend on earlier records.
func TestAppendOnly(t *testing.T) {
	t.Parallel()
	lines := bytes.SplitAfter([]byte(strings.Join(seeds(), "\n")), []byte("\n"))
	each(func(c Config) {
		j := newJob(t, allFields(c))
		used := j.NewWorker()
		for i, line := range lines {
			at := Position{Line: int64(i), Off: 1}
			var st Stats
			out, dead := used.Append([]byte("out"), []byte("dead"), line, at, &st)
			out2, dead2 := j.NewWorker().Append(nil, nil, line, at, &st)
			if string(out) != "out"+string(out2) || string(dead) != "dead"+string(dead2) {
				t.Fatalf("%+v: %q: used %q %q, new %q %q", c, line, out, dead, out2, dead2)
			}
		}
	})
}

func TestReject(t *testing.T) {
	f := func(c Config, why Reason, wantOut, wantDead string) {
		t.Helper()
		c.Format = "lines"
		var st Stats
		out, dead := newJob(t, c).NewWorker().Reject(nil, nil, []byte("http://u:p@h\n"), why, Position{Line: 3, Off: 7}, &st)
		if string(out) != wantOut || string(dead) != wantDead || !st.Balanced() || st.Rejected != 1 || st.Rejects[why] != 1 || (st.Panics == 1) != (why == Panic) {
			t.Errorf("%+v: %q %q %+v", c, out, dead, st)
		}
	}
	f(Config{}, Panic, "http://u:p@h\n", "")
	f(Config{Redact: []string{"passwords"}}, Panic, "http://u:***@h\n", "")
	f(Config{OnRejected: DispositionDead}, Panic, "", `{"reason":"panic","at":0,"line":3,"offset":7,"record":"http://u:p@h\n"}`+"\n")
	f(Config{OnRejected: DispositionDead, Redact: []string{"passwords"}}, Refused, "", `{"reason":"refused","at":0,"line":3,"offset":7,"record":"http://u:***@h\n"}`+"\n")
	f(Config{Render: RenderJSONL}, Panic, `{"error":"panic","record":"http://u:p@h","line":3}`+"\n", "")
	f(Config{Render: RenderTSV, Fields: []string{"offset", "error", "profile", "norm"}}, TooLong, "7\trecord-too-long\trfc3986-scheme\t\n", "")
	f(Config{Render: RenderTSV, Fields: []string{"norm"}}, TooLong, "", "")
	f(Config{Render: RenderURLs}, TooLong, "", "")
}

func TestMaxRecord(t *testing.T) {
	j := newJob(t, Config{Format: "lines", MaxRecord: 9})
	out, _, st := runJob(t, j, []byte("HTTP://H\nHTTP://HH\n"))
	if string(out) != "http://h/\nHTTP://HH\n" || st.Oversize != 1 || st.Rejects[TooLong] != 1 {
		t.Errorf("%q %+v", out, st)
	}
}

func TestPieces(t *testing.T) {
	f := func(c Config, wantOut, wantDead string, emitted int64) {
		t.Helper()
		c.Format = "lines"
		w := newJob(t, c).NewWorker()
		var st Stats
		var out, dead []byte
		off := int64(100)
		for i, piece := range []string{"HTTP://", "H", "/\n"} {
			out, dead = w.Piece(out, dead, []byte(piece), PieceFirst+Piece(i), Position{Name: "f", Line: 9, Off: off, Start: 100}, &st)
			off += int64(len(piece))
			if !st.Balanced() {
				t.Fatalf("unexpected counts %+v after piece %d", st, i)
			}
		}
		if string(out) != wantOut || string(dead) != wantDead || st.Records != 1 || st.Oversize != 1 || st.Rejects[TooLong] != 1 || st.Emitted != emitted {
			t.Errorf("%+v: %q %q %+v", c, out, dead, st)
		}
	}
	f(Config{}, "HTTP://H/\n", "", 1)
	f(Config{Render: RenderJSONL}, `{"error":"record-too-long","file":"f","line":9}`+"\n", "", 1)
	f(Config{Render: RenderKeys}, "", "", 0)
	f(Config{OnRejected: DispositionDead}, "", `{"reason":"record-too-long","file":"f","line":9,"offset":100,"length":10,"end":110}`+"\n", 0)

	// Where the record starts may be unknown, as after a restart within it.
	w := newJob(t, Config{Format: "lines", OnRejected: DispositionDead}).NewWorker()
	var st Stats
	_, dead := w.Piece(nil, nil, []byte("/\n"), PieceLast, Position{Line: 9, Off: 108, Start: -1}, &st)
	if want := `{"reason":"record-too-long","line":9,"end":110}` + "\n"; string(dead) != want {
		t.Errorf("got %s, want %s", dead, want)
	}
}

func TestCounts(t *testing.T) {
	const a, b = `h - - [t] "`, `" 200 1 "-" "-"` + "\n"
	in := a + "GET /%7e HTTP/1.1" + b + a + "GET http://h/ HTTP/1.1" + b + a + "-" + b + a + "CONNECT h:1 HTTP/1.1" + b + a + "OPTIONS * HTTP/1.1" + b + a + `\x16` + b + a + b + "\n" + "x\n"
	_, _, st := runJob(t, newJob(t, Config{Format: "combined"}), []byte(in))
	want := Stats{Records: 9, Emitted: 9, URLs: 2, Changed: 1, Flagged: 1, NoURL: 5, Blank: 1, Rejected: 1}
	want.Rejects[Unparsed] = 1
	want.Flags[codec.FlagNeedlessEscape], want.Flags[codec.FlagLowerHex] = 1, 1
	if got := ruleCounts(&st); got != "esc-upper 1,esc-unres 1" {
		t.Errorf("got rules %s", got)
	}
	want.Rules = st.Rules
	if st != want {
		t.Errorf("got %+v\nwant %+v", st, want)
	}
	var sum Stats
	sum.Add(&st)
	sum.Add(&Stats{})
	if sum != want {
		t.Errorf("got the sum %+v", sum)
	}
}

func TestConfigErrors(t *testing.T) {
	f := func(c Config, want ...string) {
		t.Helper()
		_, err := New(c)
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%+v: got error %v, want %q in it", c, err, w)
			}
		}
	}
	// All errors are reported at once, with suggestions.
	f(Config{Format: "combnied", Dialect: "ngnix", Base: "/x", Fields: []string{"ulr", "norm", "zzzzzz"}, Render: 9, Target: 9, MaxRecord: -1},
		`did you mean "combined"?`, `did you mean "nginx"?`, "invalid base URL: must have a scheme", `did you mean "url"?`, `unknown field "zzzzzz" (must be one of: url, norm`, "normalizer", "output format", "target", "limit")
	f(Config{}, "missing format")
	f(Config{Format: "lines", KeyForm: codec.KeyRaw, Repairs: allRepairs + 1}, "hex or base32", "unknown repair")
	f(Config{Format: "jsonl"}, "url or request.uri")
	f(Config{Format: "jsonl", URLField: "a..b", BaseField: "[x]"}, "a..b", "[x]")
	f(Config{Format: "csv"}, "missing: csv needs the name or number")
	f(Config{Format: "tsv", URLField: "0"}, "counted from 1")
	f(Config{Format: "clf", Target: TargetReferer}, "clf has no referer")
	f(Config{Format: "lines", URLField: "a", Dialect: "nginx"}, "the format lines has no named fields", "apply only to access logs")
	f(Config{Format: "lines", Base: "http://[x"}, "host is invalid")
	f(Config{Format: "lines", Render: RenderJSONL, Fields: []string{"url", "norm", " url"}}, "duplicate field url")

	if _, err := ParseRender("json"); err == nil || !strings.Contains(err.Error(), "did you mean \"jsonl\"?") {
		t.Error(err)
	}
	if r, err := ParseRender("keys"); r != RenderKeys || err != nil || r.String() != "keys" {
		t.Error(r, err)
	}
	if r, err := ParseRepair("html-entity"); r != RepairEntity || err != nil {
		t.Error(r, err)
	}
	if _, err := ParseRepair("percnt-u"); err == nil || !strings.Contains(err.Error(), "did you mean \"percent-u\"?") {
		t.Error(err)
	}
	if x, err := ParseTarget("all"); x != TargetAll || err != nil || x.String() != "all" {
		t.Error(x, err)
	}
}

// TestUnknownFormat checks that an invalid format causes no errors that depend
// on the format.
func TestUnknownFormat(t *testing.T) {
	f := func(c Config, want int) {
		t.Helper()
		c.Normalizer, c.Render, c.Extend = newNormalizer(t, "equiv"), RenderExtend, []Extension{{Name: "x", Field: "norm"}}
		_, err := New(c)
		if err == nil || strings.Count(err.Error(), "\n")+1 != want {
			t.Errorf("%+v: got %v, want %d errors", c, err, want)
		}
	}
	c := Config{URLField: "a", BaseField: "b", Dialect: "nginx", Base: "https://{site}/", OnOversize: DispositionTruncate}
	for _, c.Format = range []string{"", "jsonn"} {
		f(c, 1)
	}
	c.Format = "lines"
	f(c, 5) // both fields, the dialect, the base, the extensions
	f(Config{Format: "$host %v", Base: "https://{host}/"}, 2)
}

func TestDetect(t *testing.T) {
	f := func(head, want string) {
		t.Helper()
		if got, ok := Detect([]byte(head)); got.Format != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", head, got.Format, ok, want)
		}
	}
	const clf = `1.2.3.4 - - [t] "GET /a HTTP/1.1" 200 1`
	f(clf+"\n"+clf+"\n1.2.3.4 - ", "clf")
	f(clf+` "-" "agent"`+"\nwhat is this\n", "combined")
	f("v.example:80 "+clf+` "-" "agent"`, "vhost_combined")
	f("::1 "+clf[8:]+` "-" "agent"`, "combined")
	f("192.0.2.1:51234"+clf[7:]+` "-" "agent"`, "combined") // a client with a port is no virtual host
	f("[2001:db8::1]:51234"+clf[7:]+` "-" "agent"`, "combined")
	f(`1.2.3.4 - - [t] "GET /a HTTP/1.1" "h.example" 200 1 "-" "agent"`, "log")
	f("\n {\"a\":1}\n{\"b\":2}\n{", "jsonl")
	f("http://a/\nhttp://b/\n/c\n", "lines")
	f("id,url\n1,http://a/\n2,\"http://a/,\"\n", "csv")
	f("http://a/\t1\nhttp://b/,\t2\n", "tsv")
	f("url,id\nhttp://a/,1\n", "csv")                                                                                                             // a header has no URL
	f("url\tid\nhttp://a/\t1\n/b\t2\n", "tsv")                                                                                                    // nor is it a record of lines
	f("http://a/?q=1,2\nhttp://b/?q=3,4\n/c,d\n", "lines")                                                                                        // without a header, URLs can contain commas
	f("url,date\nhttp://a.example,2024\n,2025\nhttp://b/x,2026\n", "csv")                                                                         // a cell can be empty
	f("id,note,url\n1,\"a\nb\n\nc\",http://a/\n2,\"d\ne\",http://b/\n", "csv")                                                                    // a cell can have several lines
	f("url,date\nhttp://a/,2024\nurl,date\nhttp://b/,2024\n", "csv")                                                                              // a header can be repeated
	f("http://a.example;2024\nhttp://b.example;2026\n", "csv-semicolon")                                                                          // no host contains a semicolon
	f("url,date\nhttp://a/,2024\nhttp://b/,2025,x\nhttp://c/,2026\n", "")                                                                         // nor are these lines
	f(`{"method":"GET","x-envoy-origin-path":"/a","response_code":404,"downstream_remote_address":"192.0.2.1:5",":authority":"h"}`, "envoy-json") // a job's choice of fields
	f("192.0.2.4:50033 [28/Feb/2025:02:43:10.123] fe/bind: SSL handshake failure\n", "haproxy")
	f("filedesc://a.arc 127.0.0.1 20140301000000 text/plain -1\n1 0 Bad\n", "arc")
	g, _ := Detect([]byte(clf + "\n\nwhat\n" + clf + "\n"))
	if want := (Guess{Format: "clf", Records: 3, Fit: 2}); g != want {
		t.Errorf("%+v, want %+v", g, want)
	}
	for _, s := range []string{"", "\n\n", "hello, world\nhello, you\n", "a\tb\n", "\x1f\x8b\x08", "{\n"} {
		f(s, "")
	}
}

// fact returns the Fact about the last record of w.
func fact(w *Worker) Fact { return w.AppendFact(nil)[0] }
