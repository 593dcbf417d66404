package file

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// visits returns at least n bytes of different log lines.
func visits(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	var b []byte
	for len(b) < n {
		b = fmt.Appendf(b, "192.0.2.%d - - [29/Nov/2026:07:%02d:%02d +0000] \"GET /page/%d?id=%x HTTP/1.1\" 200 %d\n",
			rnd.IntN(256), rnd.IntN(60), rnd.IntN(60), rnd.IntN(5000), rnd.Uint64(), rnd.IntN(100000))
	}
	return b
}

// pour submits p to out in batches of l that end with a line.
func pour(t *testing.T, out engine.Sink, l *engine.Lane, segment uint64, p []byte) {
	t.Helper()
	for len(p) > 0 {
		n := bytes.LastIndexByte(p[:min(len(p), 128<<10)], '\n') + 1
		b := &engine.Batch{Lane: l, Segment: segment}
		b.Out.Bytes, p = bytes.Clone(p[:n]), p[n:]
		must(t, out.Submit(ctx, b, engine.NewTicket(&b.Out, func(r engine.Result) { must(t, r.Err) })))
		clear(b.Out.Bytes) // the next user of the arena
	}
}

// members returns the number of members in the file at path, and their text.
func members(t *testing.T, path string) (n int64, text string) {
	t.Helper()
	packed := content(t, path)
	r := compress.Verify(strings.NewReader(packed), compress.Options{})
	if r.Verdict.Kind != compress.OK {
		t.Errorf("%s: %v", path, r.Verdict)
	}
	in := compress.NewReader(strings.NewReader(packed), compress.Options{})
	defer in.Close()
	var b bytes.Buffer
	_, err := b.ReadFrom(in)
	must(t, err)
	return r.Members, b.String()
}

// TestGathered: a compressed output of many batches is hardly larger than one
// that is compressed at once, and its members are in order.
func TestGathered(t *testing.T) {
	log := visits(9 << 20)
	for ext, most := range map[string]int64{"gz": 10, "zst": 3} {
		format := compress.ByName("." + ext)
		pack, err := compress.NewPack(format, 0)
		must(t, err)
		once := len(pack(nil, log))
		path := filepath.Join(t.TempDir(), "out."+ext)
		out := open(t, Config{Path: path})
		pour(t, out, new(engine.Lane), 0, log)
		must(t, out.Close(ctx))
		must(t, out.Publish())
		n, got := members(t, path)
		if got != string(log) || n > most || len(content(t, path))*100 > once*102 {
			t.Errorf("%s: %d members, %d bytes of text; %d bytes, at once %d", ext, n, len(got), len(content(t, path)), once)
		}
	}
}

// TestUnbuffered: a batch was written when Submit returns.
func TestUnbuffered(t *testing.T) {
	var b bytes.Buffer
	out := open(t, Config{Writer: &b, Compress: "gzip", Unbuffered: true})
	for n := range 3 {
		submit(t, out, "a\n")
		if r := compress.Verify(bytes.NewReader(b.Bytes()), compress.Options{}); r.Members != int64(n+1) || r.Verdict.Kind != compress.OK {
			t.Errorf("after %d batches: %+v", n+1, r)
		}
	}
}

// TestApart: each record is a separate member, with the blank lines after
// it, and an oversize one a single gzip member although it needs several
// blocks.
func TestApart(t *testing.T) {
	long := visits(3 << 20)
	pieces := slices.Collect(slices.Chunk(long, 128<<10))
	for ext, want := range map[string]int64{"gz": 5, "zst": 5} {
		path := filepath.Join(t.TempDir(), "out."+ext)
		out := open(t, Config{Path: path})
		l := new(engine.Lane)
		put := func(piece engine.Piece, records ...string) {
			b := &engine.Batch{Lane: l, Piece: piece}
			b.Out.Apart = true
			for _, r := range records {
				b.Out.Recs = append(b.Out.Recs, engine.OutRec{Span: engine.Span{Off: uint32(len(b.Out.Bytes)), Len: uint32(len(r))}})
				b.Out.Bytes = append(b.Out.Bytes, r...)
			}
			must(t, out.Submit(ctx, b, engine.NewTicket(&b.Out, func(r engine.Result) { must(t, r.Err) })))
		}
		put(engine.Whole, "one\n", "\r\n", "two\n")
		for i, p := range pieces {
			put([]engine.Piece{engine.First, engine.Middle, engine.Last}[min(i, 1)+i/(len(pieces)-1)], string(p))
		}
		put(engine.Whole, "three\n")
		put(engine.First, "four ") // the input ends inside this record
		must(t, out.Close(ctx))
		must(t, out.Publish())
		if n, got := members(t, path); n != want || got != "one\n\r\ntwo\n"+string(long)+"three\nfour " {
			t.Errorf("%s: %d members, %d bytes", ext, n, len(got))
		}
	}
}

// TestGatheredWithdraw: withdrawn records are cut off a compressed output,
// whatever was gathered with them.
func TestGatheredWithdraw(t *testing.T) {
	log := visits(3 << 20)
	for _, ext := range []string{"gz", "zst"} {
		path := filepath.Join(t.TempDir(), "out."+ext)
		out := open(t, Config{Path: path, DeadLetter: true})
		l := new(engine.Lane)
		l.Hold()
		second := bytes.LastIndexByte(log[:2<<20], '\n') + 1
		pour(t, out, l, 0, log[:second])
		pour(t, out, l, 1, log[second:])
		must(t, out.Close(ctx))
		l.Withdraw(&engine.Unverified{})
		must(t, out.Withdraw(l))
		must(t, out.Publish())
		if _, got := members(t, path); got != string(log[:second]) {
			t.Errorf("%s: %d bytes of %d", ext, len(got), second)
		}
	}
}

// TestTreeBlocks: many outputs share a few blocks.
func TestTreeBlocks(t *testing.T) {
	r := newTreeRun(t)
	var urls bytes.Buffer
	for i := range 20000 {
		fmt.Fprintf(&urls, "http://example.com/%d\n", i*i)
	}
	for i := range 40 {
		r.input(t, fmt.Sprintf("%02d.log", i), urls.String())
	}
	for in := range r.outputs {
		r.outputs[in] += []string{".gz", ".zst", ""}[in[len(in)-5]%3]
	}
	tree, err := NewTree(TreeConfig{Outputs: r.outputs})
	must(t, err)
	must(t, r.run(t, tree))
	for _, path := range r.outputs {
		if _, got := members(t, path); got != urls.String() {
			t.Errorf("%s: %d bytes", path, len(got))
		}
	}
	if free := len(tree.(*treeSink).blocks); free != cap(tree.(*treeSink).blocks) {
		t.Errorf("%d blocks are lost", cap(tree.(*treeSink).blocks)-free)
	}
}
