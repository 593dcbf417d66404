package record

import (
	"errors"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

func TestParseDisposition(t *testing.T) {
	if f, err := ParseDisposition("dead-letter"); f != DispositionDead || err != nil || f.String() != "dead-letter" {
		t.Error(f, err)
	}
	if _, err := ParseDisposition("dorp"); err == nil || !strings.Contains(err.Error(), "did you mean \"drop\"?") {
		t.Error(err)
	}
}

func TestDispositionErrors(t *testing.T) {
	f := func(c Config, want string) {
		t.Helper()
		c.Normalizer = newNormalizer(t, "equiv")
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q in it", c, err, want)
		}
	}
	f(Config{Format: "lines", OnUnparsed: DispositionStop}, "or be dropped")
	f(Config{Format: "lines", OnUnparsed: 99, OnOversize: 99}, "or be dropped")
	f(Config{Format: "lines", OnOversize: 99}, "or stop the job")
	f(Config{Format: "lines", OnRejected: DispositionStop}, "rejected records can")
	f(Config{Format: "csv", URLField: "1", OnOversize: DispositionTruncate}, "open quote")
}

// TestOnUnparsed checks that OnUnparsed does not depend on OnRejected, which
// concerns URLs that cannot be parsed.
func TestOnUnparsed(t *testing.T) {
	const a, b = `h - - [t] "`, `" 200 1` + "\n"
	const good, bad, not = a + "GET http://H/" + b, a + "GET http://[/" + b, "what is this\n"
	f := func(disposition, rejected Disposition, render Render, wantOut string, wantDead int64, wantDropped int64) {
		t.Helper()
		out, dead, st := runJob(t, newJob(t, Config{Format: "clf", OnUnparsed: disposition, OnRejected: rejected, Render: render, Fields: []string{"norm"}}), []byte(good+bad+not))
		if string(out) != wantOut || st.Dead != wantDead || st.Dropped != wantDropped || st.Rejected != 2 || st.Rejects[Unparsed] != 1 || strings.Count(string(dead), "\n") != int(wantDead) {
			t.Errorf("%v %v: out %q, dead %s, %+v", disposition, rejected, out, dead, st)
		}
	}
	norm := strings.Replace(good, "H", "h", 1)
	f(DispositionDefault, DispositionPass, RenderRewrite, norm+bad+not, 0, 0)
	f(DispositionDefault, DispositionDead, RenderRewrite, norm, 2, 0)
	f(DispositionPass, DispositionDead, RenderRewrite, norm+not, 1, 0)
	f(DispositionDead, DispositionPass, RenderRewrite, norm+bad, 1, 0)
	f(DispositionDrop, DispositionPass, RenderRewrite, norm+bad, 0, 1)
	f(DispositionDrop, DispositionDead, RenderRewrite, norm, 1, 1)
	f(DispositionPass, DispositionDead, RenderJSONL, `{"norm":"http://h/"}`+"\n"+`{"error":"unparsed","at":0,"record":"what is this","file":"f","line":3}`+"\n", 1, 0)
	f(DispositionDrop, DispositionDead, RenderURLs, "http://h/\n", 1, 1)
	for _, render := range []Render{RenderURLs, RenderJSONL, RenderRewrite} {
		want := map[Render]string{RenderURLs: "http://h/\n", RenderJSONL: `{"norm":"http://h/"}` + "\n", RenderRewrite: norm}[render]
		f(DispositionDefault, DispositionDrop, render, want, 0, 2)
	}
}

func TestOnOversize(t *testing.T) {
	const long = "http://u:password@h/\r\n"
	f := func(c Config, wantOut, wantDead string) {
		t.Helper()
		c.Format, c.MaxRecord = "lines", 12
		out, dead, st := runJob(t, newJob(t, c), []byte("HTTP://H\n"+long))
		if string(out) != "http://h/\n"+wantOut || string(dead) != wantDead || st.Oversize != 1 || st.Rejects[TooLong] != 1 || st.URLs != 1 {
			t.Errorf("%+v: out %q, dead %q, %+v", c, out, dead, st)
		}
	}
	f(Config{OnOversize: DispositionPass, OnRejected: DispositionDead}, long, "")
	f(Config{OnOversize: DispositionDead}, "", `{"reason":"record-too-long","at":0,"file":"f","line":2,"offset":9,"record":"http://u:password@h/\r\n"}`+"\n")
	f(Config{OnOversize: DispositionDrop}, "", "")
	f(Config{OnRejected: DispositionDrop, Render: RenderURLs}, "", "")
	f(Config{OnOversize: DispositionTruncate}, "http://u:pas\r\n", "")
	// The start of a truncated password is hidden too.
	f(Config{OnOversize: DispositionTruncate, Redact: []string{"passwords"}}, "http://u:***\r\n", "")
	c := Config{Format: "lines", MaxRecord: 12, OnOversize: DispositionTruncate, Render: RenderJSONL, Fields: []string{"norm"}}
	check(t, c, long, `{"error":"record-too-long","record":"http://u:pas","file":"f","line":1}`+"\n")
	c.Redact = []string{"passwords"}
	check(t, c, long, `{"error":"record-too-long","record":"http://u:***","file":"f","line":1}`+"\n")
	// With its line end the result is still too long, so the next reader
	// recognizes it.
	check(t, Config{Format: "lines", MaxRecord: 12, OnOversize: DispositionTruncate}, "HTTP://H/abcdef\n", "HTTP://H/abc\n")
	check(t, Config{Format: "lines", MaxRecord: 12, OnOversize: DispositionTruncate}, "HTTP://H/abc\n", "HTTP://H/abc\n")
}

func TestTruncatedPieces(t *testing.T) {
	f := func(c Config, want string, pieces ...string) {
		t.Helper()
		c.Format, c.MaxRecord, c.OnOversize = "lines", 10, DispositionTruncate
		w := newJob(t, c).NewWorker()
		var st Stats
		var out, dead []byte
		for i, piece := range pieces {
			p := PieceMiddle
			switch i {
			case 0:
				p = PieceFirst
			case len(pieces) - 1:
				p = PieceLast
				w = newJob(t, c).NewWorker() // pieces go to any free worker
			}
			out, dead = w.Piece(out, dead, []byte(piece), p, Position{Line: 1}, &st)
		}
		if string(out) != want || len(dead) > 0 || st.Records != 1 || st.Emitted != 1 || st.Oversize != 1 || !st.Balanced() {
			t.Errorf("%q: out %q, dead %q, %+v", pieces, out, dead, st)
		}
	}
	f(Config{}, "HTTP://H/a\r\n", "HTTP://H/ab", "cde", "f\r\n")
	f(Config{}, "HTTP://H/a", "HTTP://H/ab", "cde")
	f(Config{Redact: []string{"passwords"}}, "HTTP://u:***\n", "HTTP://u:pass", "word@h\n")
	f(Config{Render: RenderJSONL}, `{"error":"record-too-long","line":1}`+"\n", "HTTP://H/ab", "cde\n")
}

// TestOversizeStops checks that a job that stops neither writes nor counts the
// record at which it stops.
func TestOversizeStops(t *testing.T) {
	w := newJob(t, Config{Format: "lines", MaxRecord: 9, OnOversize: DispositionStop, OnRejected: DispositionDead}).NewWorker()
	var st Stats
	out, _ := w.Append(nil, nil, []byte("HTTP://H\n"), Position{}, &st)
	if w.Err() != nil || string(out) != "http://h/\n" {
		t.Fatalf("%q %v", out, w.Err())
	}
	before := st
	for p := PieceWhole; p <= PieceLast; p++ {
		out, dead := w.Append(nil, nil, []byte("HTTP://HH\n"), Position{}, &st)
		if len(out)+len(dead) > 0 || st != before || !errors.Is(w.Err(), ErrOversize) {
			t.Errorf("Append: %q %q %v %+v", out, dead, w.Err(), st)
		}
		w.Append(nil, nil, []byte("\n"), Position{}, &Stats{})
		if w.Err() != nil {
			t.Error("the error persists after a valid record")
		}
		out, dead = w.Piece(nil, nil, []byte("HTTP://HH\n"), p, Position{}, &st)
		if len(out)+len(dead) > 0 || st != before || !errors.Is(w.Err(), ErrOversize) {
			t.Errorf("Piece: %q %q %v %+v", out, dead, w.Err(), st)
		}
	}
}

func TestRejectFlags(t *testing.T) {
	set := func(flags ...codec.Flag) (s codec.Flags) {
		for _, f := range flags {
			s = s.With(f)
		}
		return s
	}
	f := func(c Config, in, wantOut, wantDead string) {
		t.Helper()
		c.Format = "lines"
		out, _, st := runJob(t, newJob(t, c), []byte(in))
		if string(out) != wantOut || st.Rejected != 1 || st.URLs != 2 || st.Changed != 1 || st.Flagged != 0 || st.Rejects[Flagged]+st.Rejects[NotHTTP] != 1 {
			t.Errorf("%+v: out %q, %+v", c, out, st)
		}
		c.OnRejected = DispositionDead
		_, dead, st := runJob(t, newJob(t, c), []byte(in))
		if string(dead) != wantDead || st.Dead != 1 {
			t.Errorf("%+v: dead %s, want %s; %+v", c, dead, wantDead, st)
		}
	}
	const bad, good = " HTTP://u@H/%7e\n", "HTTP://H\n"
	// If several flags are rejected, the first one is reported, with its offset
	// in the record.
	f(Config{RejectFlags: set(codec.FlagCredentials, codec.FlagNeedlessEscape)}, bad+good, bad+"http://h/\n",
		`{"reason":"flagged","flag":"needless-escape","at":12,"file":"f","line":1,"offset":0,"record":" HTTP://u@H/%7e\n"}`+"\n")
	f(Config{RejectFlags: set(codec.FlagCredentials), Render: RenderJSONL, Fields: []string{"norm", "key", "flags"}}, bad+"HTTP://H\n", `{"flags":["lower-hex","needless-escape","credentials"],"error":"flagged","at":7,"flag":"credentials"}`+"\n"+`{"norm":"http://h/","key":"`+keyHex(t, codec.LevelEquivalent, "http://h/")+`","flags":[]}`+"\n",
		`{"reason":"flagged","flag":"credentials","at":8,"file":"f","line":1,"offset":0,"record":" HTTP://u@H/%7e\n"}`+"\n")
	f(Config{RejectFlags: set(codec.FlagCredentials), Render: RenderTSV, Fields: []string{"norm", "error"}}, bad+good, "\tflagged\nhttp://h/\t\n",
		`{"reason":"flagged","flag":"credentials","at":8,"file":"f","line":1,"offset":0,"record":" HTTP://u@H/%7e\n"}`+"\n")
	f(Config{RejectFlags: set(codec.FlagRelative), Render: RenderURLs}, "/a\n"+good, "http://h/\n",
		`{"reason":"flagged","flag":"relative","at":0,"file":"f","line":1,"offset":0,"record":"/a\n"}`+"\n")
	// Signatures are detected at any level.
	f(Config{RejectFlags: set(codec.FlagSignedURL)}, "http://h/?X-Amz-Signature=1\n"+good, "http://h/?X-Amz-Signature=1\nhttp://h/\n",
		`{"reason":"flagged","flag":"signed-url","at":0,"file":"f","line":1,"offset":0,"record":"http://h/?X-Amz-Signature=1\n"}`+"\n")
	f(Config{RejectNotHTTP: true, Render: RenderURLs}, "  mailto:a\n"+good, "http://h/\n",
		`{"reason":"scheme-not-http","at":2,"file":"f","line":1,"offset":0,"record":"  mailto:a\n"}`+"\n")
	f(Config{RejectNotHTTP: true}, "FTP://H/\n"+good, "FTP://H/\nhttp://h/\n",
		`{"reason":"scheme-not-http","at":0,"file":"f","line":1,"offset":0,"record":"FTP://H/\n"}`+"\n")
}

// TestNotHTTPLetsPass checks that URLs without a scheme pass. A request target
// belongs to http or https.
func TestNotHTTPLetsPass(t *testing.T) {
	check(t, Config{Format: "lines", RejectNotHTTP: true, Render: RenderURLs}, "/a\n//h\nHTTPS://h\n", "/a\n//h\nhttps://h/\n")
	check(t, Config{Format: `"$request" "$http_referer"`, Target: TargetAll, RejectNotHTTP: true, Render: RenderURLs}, `"GET /a" "android-app://x/"`+"\n", "/a\n")
}

// TestRejectFlagsFact checks that a fact covers only accepted URLs.
func TestRejectFlagsFact(t *testing.T) {
	w := newJob(t, Config{Format: "lines", RejectNotHTTP: true, Facts: true}).NewWorker()
	var st Stats
	for _, in := range []string{"http://h/", "ftp://h/"} {
		w.Append(nil, nil, []byte(in), Position{}, &st)
		if got := fact(w) != (Fact{}); got != (in == "http://h/") {
			t.Errorf("%s: %+v", in, fact(w))
		}
	}
	w.Append(nil, nil, []byte("http://h/"), Position{}, &st)
	if w.Reject(nil, nil, []byte("x"), Panic, Position{}, &st); fact(w) != (Fact{}) {
		t.Error("a rejected record has the fact of the previous record")
	}
}

func TestDeadLetterKey(t *testing.T) {
	f := func(c Config, key []byte, want string) {
		t.Helper()
		c.Format, c.OnRejected, c.MaxRecord = "lines", DispositionDead, 20
		w := newJob(t, c).NewWorker()
		var st Stats
		_, dead := w.Append(nil, nil, []byte("http://["), Position{Name: "t/0", Line: 1, Off: 5, Key: key}, &st)
		if want := `{"reason":"host-invalid","at":7,"file":"t/0","line":1,` + want + `"offset":5,"record":"http://["}` + "\n"; string(dead) != want {
			t.Errorf("got %s want %s", dead, want)
		}
		_, dead = w.Piece(nil, nil, []byte("x"), PieceWhole, Position{Line: 1, Off: 5, Key: key}, &st)
		if want := `{"reason":"record-too-long","line":1,` + want + `"offset":5,"length":1,"end":6}` + "\n"; string(dead) != want {
			t.Errorf("got %s want %s", dead, want)
		}
	}
	f(Config{}, nil, "")
	f(Config{}, []byte{}, `"key":"",`)
	f(Config{}, []byte("a\"\n"), `"key":"a\"\n",`)
	f(Config{}, []byte{0, 255}, `"key_b64":"AP8=",`)
	f(Config{}, []byte("http://u:p@h"), `"key":"http://u:p@h",`)
	f(Config{Redact: []string{"passwords"}}, []byte("http://u:p@h"), `"key":"http://u:***@h",`)
}
