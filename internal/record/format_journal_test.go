package record

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/wire"
)

const (
	journalLog  = "testdata/named/journal-export+combined.log"
	journalLine = `192.0.2.1 - - [22/Nov/2026:10:00:00 +0000] "GET /%7ea HTTP/1.1" 200 5`
)

// TestJournalField checks in which field the URL is looked for.
func TestJournalField(t *testing.T) {
	f := func(c Config, in, want string) {
		t.Helper()
		c.Format = "journal-export"
		check(t, c, in, want)
	}
	f(Config{URLField: "URL"}, "URL=HTTP://H/%7e\nURL=HTTP://I/%7e\n\n", "URL=http://h/~\nURL=HTTP://I/%7e\n\n")
	f(Config{URLField: "URL", Base: "http://h/a/"}, "__REALTIME_TIMESTAMP=1\n"+journalValue("URL", "%7e\n")+"X=1\n\n", "__REALTIME_TIMESTAMP=1\n"+journalValue("URL", "http://h/a/~\n")+"X=1\n\n")
	f(Config{URLField: "URL", Render: RenderTSV, Fields: []string{"norm", "time", "error"}}, "__REALTIME_TIMESTAMP=1793600700000000\nURL=http://h/\n\nMESSAGE=http://h/\n\n",
		"http://h/\t2026-11-02T06:25:00.000000Z\t\n\t\tfield-missing\n")
	f(Config{URLField: "URL"}, journalValue("URL", "http://h/a\nb/%7e"), journalValue("URL", "http://h/a\nb/%7e")) // cut
	f(Config{URLField: "URL", Render: RenderURLs}, "URL=http://h/1\n\n\n\nURL=http://h/2\n\n", "http://h/1\nhttp://h/2\n")
}

// TestJournalTime checks that the time of the journal is used if the line does
// not have all of its own.
func TestJournalTime(t *testing.T) {
	for line, want := range map[string]string{
		journalLine: "2026-11-22T10:00:00Z",
		`192.0.2.1 - - [-] "GET /a HTTP/1.1" 200 5`:                    "2026-11-02T06:25:00.000000Z",
		`192.0.2.1 - - [22/Nov/2026:10:00:00] "GET /a HTTP/1.1" 200 5`: "2026-11-02T06:25:00.000000Z",
	} {
		c := Config{Format: "journal-export+clf", Render: RenderTSV, Fields: []string{"time"}}
		in := "MESSAGE=" + line + "\n__REALTIME_TIMESTAMP=1793600700000000\n\n"
		check(t, c, in, want+"\n")
		c.Zone = func(int, int, int, int, int) int { return 60 }
		if !strings.Contains(line, "[22/Nov/2026:10:00:00]") {
			continue
		}
		check(t, c, in, "2026-11-22T10:00:00+01:00\n")
	}
}

// TestJournalDetect checks that the format of the lines is detected with that of
// the entries, and that neither is confused with other text.
func TestJournalDetect(t *testing.T) {
	const cursor = "__CURSOR=a\n__REALTIME_TIMESTAMP=1793600700000000\n"
	for in, want := range map[string]string{
		cursor + "MESSAGE=" + journalLine + "\n\n":                                           "journal-export+clf",
		"\n\nMESSAGE=" + journalLine + "\nPRIORITY=6\n\n":                                    "journal-export+clf",
		cursor + journalValue("MESSAGE", journalLine+"\n") + "\n":                            "journal-export+clf",
		cursor + "MESSAGE=started\n\n" + cursor + "MESSAGE=" + journalLine + "\n\n" + cursor: "journal-export+clf",
		cursor + "MESSAGE=a\n\nMESSAGE=b\n\nMESSAGE=" + journalLine + "\n\n":                 "journal-export",
		cursor + "MESSAGE=" + caddyLine + "\n\n":                                             "journal-export+caddy",
		cursor + "MESSAGE=method=GET path=/a status=200 host=h.example\n\n":                  "journal-export+logfmt",
		cursor + "URL=http://h/\n\n":                                                         "journal-export",
		cursor + journalValue("MESSAGE", journalLine)[:50]:                                   "journal-export",
		"PATH=/bin\nHOME=/root\n\n":                                                          "",
		"MESSAGE=a":                                                                          "",
		"message=a\n\n":                                                                      "",
	} {
		if g, ok := Detect([]byte(in)); g.Format != want || ok != (want != "") {
			t.Errorf("%q: got %+v, want %q", in, g, want)
		}
	}
}

// TestJournalConfig checks which settings are refused.
func TestJournalConfig(t *testing.T) {
	for _, c := range []Config{
		{}, {URLField: "url"}, {URLField: "A=B"}, {URLField: "URL", Render: RenderExtend, Extend: []Extension{{Name: "a", Field: "norm"}}},
		{URLField: "URL", Dialect: "nginx"}, {URLField: "URL", BaseField: "BASE"}, {URLField: "URL", Redact: []string{"passwords"}}, {URLField: "URL", OnOversize: DispositionTruncate},
		{Format: "journal-export+csv", URLField: "1"}, {Format: "journal-export+azure-front-door"}, {Format: "journal-export+combined", Redact: []string{"passwords"}},
	} {
		if c.Format == "" {
			c.Format = "journal-export"
		}
		c.Normalizer = normalizers["equiv"]
		if _, err := New(c); err == nil {
			t.Errorf("no error for %+v", c)
		}
	}
}

// TestJournalDamage checks where a damaged entry ends and where the damage is
// reported.
func TestJournalDamage(t *testing.T) {
	const sound = "A=b\nMESSAGE=" + journalLine + "\n\n"
	rewritten := strings.Replace(sound, "%7e", "~", 1)
	c := Config{Format: "journal-export+clf"}
	f := func(at int64, units ...string) {
		t.Helper()
		in := strings.Join(units, "")
		for _, size := range []int{1, 5, 1 << 20} {
			if got := archiveUnits(t, newJob(t, c).reader.(lengthReader), []byte(in), size); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", units) {
				t.Fatalf("batches of %d bytes: got %.300q\nwant %.300q", size, got, units)
			}
			divert := c
			divert.OnRejected = DispositionDead
			_, dead, st := rewriteArchive(t, divert, []byte(in), size)
			if st.Rejects[Unparsed] != 1 || st.Dead != 1 || !strings.HasPrefix(dead, fmt.Sprintf(`{"reason":"unparsed","at":%d,`, at)) {
				t.Errorf("%.100q: got dead letter %.100s, %+v", in, dead, st)
			}
			if passed, _, _ := rewriteArchive(t, c, []byte(in), size); passed != strings.ReplaceAll(in, sound, rewritten) {
				t.Errorf("%.100q passed through as %.100q", in, passed)
			}
		}
	}
	// Entries that are cut: in a name, in a line, after it, and in each part of a
	// binary value.
	f(3, sound, "MES")
	f(11, sound, "MESSAGE=abc")
	f(7, sound, "A=b\nC=d\n")
	value := journalValue("MESSAGE", "hello")
	for _, n := range []int{len("MESSAGE\n") + 3, len(value) - 3, len(value) - 1} {
		f(int64(n), sound, value[:n])
	}
	f(int64(len("MESSAGE")), sound, "MESSAGE\n") // a line end is not part of the record
	f(int64(len(value)-1), sound, value)
	// Lengths that are wrong, up to the limit and beyond.
	long := bytes.Replace([]byte(value), []byte{5, 0}, []byte{4, 0}, 1)
	f(20, sound, string(long)+"X=1\n\n", sound)
	f(int64(len(value)+len("X=1\n")), sound, string(bytes.Replace([]byte(value), []byte{5, 0, 0}, []byte{5, 1, 0}, 1))+"X=1\n\n")
	f(8, sound, "MESSAGE\n\xff\xff\xff\xff\xff\xff\xff\xffhello\n\n", sound)
	// Names, and text between entries.
	f(0, sound, "message=a\nB=c\n\n", sound)
	f(4, sound, "A=b\n1A=c\n\n", sound)
	f(4, sound, "A=b\n=c\n\n", sound)
	f(4, sound, "A=b\n"+strings.Repeat("N", wire.MaxJournalName+1)+"=c\n\n", sound)
	f(5, sound, "A=b\r\n\r\ngarbage\n\n\n", sound)
}

// TestJournalMutated damages entries at random. The environment variable
// URLFOLD_MUTATIONS sets the number of mutations.
func TestJournalMutated(t *testing.T) {
	count := 1000
	if n, err := strconv.Atoi(os.Getenv("URLFOLD_MUTATIONS")); err == nil {
		count = n
	}
	entries := bytes.SplitAfter(readFile(t, journalLog), wire.JournalEnd)
	rnd := rand.New(rand.NewPCG(5, 6))
	for i := range count {
		from := rnd.IntN(len(entries) - 1)
		in := bytes.Join(entries[from:min(len(entries), from+3)], nil)
		if rnd.IntN(3) == 0 {
			in = in[:rnd.IntN(len(in))+1]
		} else {
			in = mutate(rnd, in)
		}
		c := Config{Format: "journal-export+combined", Target: TargetAll}
		if i%7 == 0 {
			c = allFields(Config{Format: c.Format, Render: RenderJSONL})
		}
		if verifyAll(t, c, in) {
			t.Fatalf("mutation %d: %q", i, in)
		}
	}
}

// TestJournalAllocs checks that reading and rewriting entries allocates nothing.
func TestJournalAllocs(t *testing.T) {
	in := readFile(t, journalLog)
	for _, c := range []Config{{URLField: "MESSAGE"}, {URLField: "MESSAGE", Render: RenderJSONL, Fields: namedFields}} {
		c.Format = "journal-export"
		j := newJob(t, c)
		w, f := j.NewWorker(), j.Framing()
		var out []byte
		var st Stats
		all := func() {
			for pos := 0; pos < f.Cut(in); {
				n := w.Next(in[pos:])
				out, _ = w.Append(out[:0], nil, in[pos:pos+n], Position{Off: int64(pos)}, &st)
				pos += n
			}
		}
		all()
		if n := testing.AllocsPerRun(3, all); n != 0 {
			t.Errorf("%+v: got %v allocations, want 0", c, n)
		}
	}
}

// FuzzJournal checks that the entries of a stream do not depend on how many
// bytes are read at a time, that no byte is lost, and that rewriting is
// idempotent.
func FuzzJournal(f *testing.F) {
	for i, entry := range bytes.SplitAfter(readFile(f, journalLog), wire.JournalEnd) {
		f.Add(entry, uint16(i*50))
	}
	f.Add([]byte("A\n\x02\x00\x00\x00\x00\x00\x00\x00\n\n\n\nB=c\n\n\n\nC\n\x09\n\nD=\n"), uint16(1))
	c := Config{Format: "journal-export+combined", Target: TargetAll}
	r := newJob(f, c).reader.(lengthReader)
	f.Fuzz(func(t *testing.T, in []byte, size uint16) {
		in = in[:min(len(in), 4<<10)]
		size = max(size, uint16(len(in)/64))
		all, parts := archiveUnits(t, r, in, 1<<20), archiveUnits(t, r, in, 1+int(size))
		if fmt.Sprintf("%q", all) != fmt.Sprintf("%q", parts) {
			t.Fatalf("reading %d bytes at a time: %q\nall at once: %q", 1+int(size), parts, all)
		}
		if strings.Join(all, "") != string(in) {
			t.Fatalf("output %q lacks bytes of %q", all, in)
		}
		verify(t, c, in)
		verify(t, Config{Format: c.Format, Normalizer: normalizers["equiv"], Level: codec.LevelEquivalent, Render: RenderJSONL, Fields: FieldNames()}, in)
	})
}

// journalValue returns a field with its length.
func journalValue(name, value string) string {
	return name + "\n" + string(binary.LittleEndian.AppendUint64(nil, uint64(len(value)))) + value + "\n"
}

// TestJournalSizes checks the stated length of entries, by which oversize ones
// are skipped.
func TestJournalSizes(t *testing.T) {
	r := &wire.JournalReader{}
	value := journalValue("DATA", strings.Repeat("\n\nA=b\n", 50))
	in := "A=b\n" + value + "\n"
	for n := range len(in) {
		want := int64(n + len(wire.JournalEnd))
		switch {
		case n == len("A=b\n") || n == len(in)-1 || n == 0:
			want = int64(n + 1) // another field may follow
		case n >= len("A=b\nDATA\n")+wire.JournalSize:
			want = int64(len(in))
		}
		if got := r.Length([]byte(in[:n])); got != want {
			t.Errorf("%d bytes: got %d, want %d", n, got, want)
		}
	}
	if got := r.Length([]byte(in + "A")); got != int64(len(in)) {
		t.Errorf("got %d, want %d", got, len(in))
	}
	if got := r.Length([]byte("a=b\n")); got != 0 {
		t.Errorf("damaged: got %d", got)
	}
	if r.Ends([]byte("a\nb")) || !r.Ends([]byte("a\n\n")) || r.Ends([]byte("\n")) {
		t.Error("wrong end of an entry")
	}
}
