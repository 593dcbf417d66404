package engine

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
)

// linesCodec returns a codec of package record for lines that diverts rejects.
func linesCodec(t testing.TB) *recordCodec {
	t.Helper()
	return NewRecordCodec(linesJob(t, false))().(*recordCodec)
}

func linesJob(t testing.TB, facts bool) *record.Job {
	t.Helper()
	return linesJobOf(t, record.Config{OnRejected: record.DispositionDead, Facts: facts})
}

// linesJobOf returns a job for lines.
func linesJobOf(t testing.TB, c record.Config) *record.Job {
	t.Helper()
	c.Format = "lines"
	return jobOf(t, c)
}

// jobOf returns a job with the profile rfc3986-scheme.
func jobOf(t testing.TB, c record.Config) *record.Job {
	t.Helper()
	profile, err := codec.Lookup("rfc3986-scheme")
	if err != nil {
		t.Fatal("no such profile")
	}
	n, err := codec.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	c.Normalizer = n
	job, err := record.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// TestRecordCodecReject: after a panic at any record of a batch, with
// incomplete counts, the bytes, counts and positions of the other records are
// the same as without the panic.
func TestRecordCodecReject(t *testing.T) {
	const n = 150
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("http://Example.com/%d?a=%%7e\n", i))
	}
	in := []byte(strings.Join(lines, ""))
	want := &Batch{Lane: newLane("l", 1), In: in, Line: 1}
	linesCodec(t).Process(want)
	if len(want.Out.Recs) != n || want.Stats.Emitted != n || want.Next != len(in) {
		t.Fatalf("%d records out of %d, %d bytes left: %+v", len(want.Out.Recs), n, len(in)-want.Next, want.Stats.Emitted)
	}
	for _, k := range []int{0, 1, 63, 64, 65, n - 1} {
		c, off := linesCodec(t), len(strings.Join(lines[:k], ""))
		b := &Batch{Lane: newLane("l", 1), In: in[:off], Line: 1}
		if c.Process(b); k == 0 {
			c.line = 1
		}
		b.In = in
		b.Stats.URLs += 7 // left behind by an incomplete record
		b.Stats.Records++
		c.Reject(b)
		c.Process(b)
		if b.Next != len(in) || !b.Stats.Balanced() || b.Stats.Records != n || b.Stats.Panics != 1 || b.Stats.URLs != want.Stats.URLs-1 {
			t.Errorf("record %d: next %d of %d, %d records, %d panics, %d URLs", k, b.Next, len(in), b.Stats.Records, b.Stats.Panics, b.Stats.URLs)
		}
		r := want.Out.Recs[k]
		rest := append(bytes.Clone(want.Out.Bytes[:r.Off]), want.Out.Bytes[r.Off+r.Len:]...)
		if !bytes.Equal(b.Out.Bytes, rest) || len(b.Out.Recs) != n-1 {
			t.Errorf("record %d: other records have changed", k)
		}
		if len(b.Dead.Recs) != 1 || int(b.Dead.Recs[0].Src) != off || !bytes.Contains(b.Dead.Bytes, []byte(`"panic"`)) {
			t.Errorf("record %d: dead letters: %q", k, b.Dead.Bytes)
		}
	}
}

// TestRecordCodecNested checks that the elements of an array in a line form one
// output record, whether the line is in a file or is a message.
func TestRecordCodecNested(t *testing.T) {
	profile, _ := codec.Lookup("rfc3986-scheme")
	n, err := codec.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	job, err := record.New(record.Config{Format: "azure-front-door", Normalizer: n, Facts: true})
	if err != nil {
		t.Fatal(err)
	}
	const (
		line = `{"records":[{"properties":{"requestUri":"HTTP://h/1"}},{"properties":{"requestUri":"http://h/%7e"}}]}`
		want = `{"records":[{"properties":{"requestUri":"http://h/1"}},{"properties":{"requestUri":"http://h/~"}}]}` + "\n"
	)
	f := func(name string, b *Batch) {
		t.Helper()
		b.Lane = newLane("l", 1)
		NewRecordCodec(job)().Process(b)
		if string(b.Out.Bytes) != want+want || len(b.Out.Recs) != 2 || len(b.Out.Facts) != 2 || b.Stats.Emitted != 4 {
			t.Fatalf("%s: %d records, %d facts, %d emitted: %q", name, len(b.Out.Recs), len(b.Out.Facts), b.Stats.Emitted, b.Out.Bytes)
		}
		for i, r := range b.Out.Recs {
			if r.Off != uint32(i*len(want)) || r.Len != uint32(len(want)) {
				t.Errorf("%s: record %d is %+v", name, i, r)
			}
		}
	}
	f("file", &Batch{In: []byte(line + "\n" + line + "\n"), Line: 1})
	f("messages", &Batch{In: []byte(line + line), Msgs: []Message{{Value: Span{0, uint32(len(line))}}, {Value: Span{uint32(len(line)), uint32(len(line))}, Pos: 1}}})
}

// TestRecordCodecIdentity: records that are copied have the identity of those that
// are read.
func TestRecordCodecIdentity(t *testing.T) {
	const line = `h - - [17/May/2015:10:05:03 +0000] "GET %s HTTP/1.1" 200 1 "-" "a"` + "\n"
	var in strings.Builder
	for _, target := range []string{"/a?b", "/%61?b", "/c", "*", "/./c"} {
		fmt.Fprintf(&in, line, target)
	}
	job := jobOf(t, record.Config{Format: "combined", Level: codec.LevelEquivalent, Identity: record.Identity{By: "equivalent"}})
	b := &Batch{Lane: newLane("l", 1), In: []byte(in.String()), Line: 1}
	NewRecordCodec(job)().Process(b)
	if len(b.Out.Recs) != 5 || len(b.Out.IDs) != 5 || len(b.Out.Facts) > 0 {
		t.Fatalf("%d records, %d identities, %d facts", len(b.Out.Recs), len(b.Out.IDs), len(b.Out.Facts))
	}
	ids := b.Out.IDs
	if a, c := ids[0], ids[2]; a.IsZero() || c.IsZero() || a == c || ids[1] != a || !ids[3].IsZero() || ids[4] != c {
		t.Errorf("identities %s", ids)
	}
}

// panics is a condition that panics if the status of a record is 599.
type panics struct{ status int }

func (p panics) Fields() []int { return []int{p.status} }

func (p panics) Keep(v *record.View) bool {
	status, _ := v.Field(p.status)
	if string(status) == "599" {
		panic("status 599")
	}
	return string(status) != "404"
}

// TestRecordCodecRun: if the codec panics on a record of a run, the other records of
// the run are written and counted as without that record.
func TestRecordCodecRun(t *testing.T) {
	var in, without strings.Builder
	bad := map[int]bool{0: true, 9: true, 63: true, 64: true, 65: true, 100: true, 149: true}
	for i := range 150 {
		status := 200
		switch {
		case bad[i]:
			status = 599
		case i%5 == 1:
			status = 404
		}
		target := [...]string{"/a", "/%61", "*"}[i%3]
		line := fmt.Sprintf(`h - - [17/May/2015:10:05:03 +0000] "GET %s?%d HTTP/1.1" %d 1 "-" "a"`+"\n", target, i, status)
		if in.WriteString(line); !bad[i] {
			without.WriteString(line)
		}
	}
	condition := panics{slices.Index(record.FieldNames(), "status")}
	process := func(in string) (b *Batch, rejected []int) {
		b = &Batch{Lane: newLane("l", 1), In: []byte(in), Line: 1}
		w := worker{codec: NewRecordCodec(jobOf(t, record.Config{Format: "combined", OnRejected: record.DispositionDead, Where: condition}))()}
		for w.try(b) != nil {
			rejected = append(rejected, strings.Count(in[:b.Next], "\n"))
			w.codec.Reject(b)
		}
		return b, rejected
	}
	b, rejected := process(in.String())
	want, _ := process(without.String())
	if !slices.Equal(rejected, slices.Sorted(maps.Keys(bad))) {
		t.Errorf("rejected %d", rejected)
	}
	n := int64(len(bad))
	if st := b.Stats; st.Panics != n || st.Dead != n || st.Records != 150 || st.Filtered != want.Stats.Filtered || st.URLs != want.Stats.URLs || st.Changed != want.Stats.Changed {
		t.Errorf("%+v\nwant %+v and the panics", st, want.Stats)
	}
	if !bytes.Equal(b.Out.Bytes, want.Out.Bytes) || len(b.Out.Recs) != len(want.Out.Recs) {
		t.Errorf("the output of the other records has changed")
	}
	for i, r := range b.Out.Recs {
		text, src := string(b.Out.Bytes[r.Off:r.Off+r.Len]), in.String()[r.Src:]
		_, number, _ := strings.Cut(text, "?")
		if _, of, _ := strings.Cut(src, "?"); strings.Count(text, "\n") != 1 || text[0] != src[0] || !strings.HasPrefix(of, number) {
			t.Errorf("record %d: %+v is %q", i, r, text)
		}
	}
}
