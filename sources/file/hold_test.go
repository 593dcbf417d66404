package file

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// TestHold compares the text of streams with and without a hold that is filled
// at any time, and what is verified after each piece.
func TestHold(t *testing.T) {
	var members strings.Builder
	for _, n := range []int{3, 400, 0, 4000, 1} {
		members.WriteString(gz(t, strings.Repeat(logText(1), n)))
	}
	packed := members.String()
	text := logText(6000)
	damaged := []byte(packed)
	damaged[len(damaged)/2] ^= 4
	for name, file := range map[string]string{"intact": packed, "damaged": string(damaged), "cut": packed[:len(packed)*2/3], "plain": text, "empty": ""} {
		opt := compress.Options{RestartEvery: membersOnly}
		known := map[int64]marks{} // by the offset in the text
		zr := compress.NewReader(strings.NewReader(file), opt)
		for one := make([]byte, 1); ; {
			if _, err := zr.Read(one); err != nil {
				break
			}
			known[zr.Bytes()] = marksOf(zr)
		}
		for seed := range uint64(4) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			st := &stream{zr: compress.NewReader(strings.NewReader(file), opt), left: 1 << 40}
			st.hold = &hold{zr: st.zr, room: 20, free: make(chan []byte, 3)}
			var off int64
			for more, buf := true, make([]byte, 300<<10); ; {
				if more && rnd.IntN(2) == 0 {
					more = st.hold.fill()
				}
				n, err := st.read(context.Background(), buf[:1+rnd.IntN(len(buf))], nil)
				if err == io.EOF {
					break
				}
				off += int64(n)
				if want, got := known[off].sums, st.verified(); got != want && len(st.hold.pieces) > 0 {
					t.Fatalf("%s: verified up to %d at offset %d, want %d", name, got, off, want)
				}
				if want, got := known[off].point, st.marks().point; got != want && len(st.hold.pieces) > 0 && got.Offset() > want.Offset() {
					t.Fatalf("%s: restart point at %d, want %d", name, got.Offset(), want.Offset())
				}
			}
			if off != zr.Bytes() || st.zr.Verdict() != zr.Verdict() || !reflect.DeepEqual(st.zr.Unverified(), zr.Unverified()) {
				t.Errorf("%s: %d bytes, %v, without a hold %d bytes, %v", name, off, st.zr.Verdict(), zr.Bytes(), zr.Verdict())
			}
		}
	}
}

// TestHoldOrder runs many archives through a pipeline, with and without lanes
// that wait for others: order, reports and the verified parts are equal.
func TestHoldOrder(t *testing.T) {
	files := map[string]string{}
	for i := range 12 {
		text := fmt.Sprintf("file %d\n", i) + logText(1+i%5*800)
		packed := gz(t, text) + gz(t, logText(i))
		if i%4 == 3 {
			packed = packed[:len(packed)-20]
		}
		files[fmt.Sprintf("%02d.gz", i)] = packed
	}
	dir := write(t, files)
	reports := func(parallel int) ([]string, []Report) {
		s, err := New(Config{Paths: []string{filepath.Join(dir, "*.gz")}, Framing: lines{}, Parallel: parallel})
		if err != nil {
			t.Fatal(err)
		}
		sink := &shelf{}
		p, err := engine.New(engine.Options{
			Sources: []engine.Source{s}, Sinks: []engine.Sink{sink}, Ordering: engine.OrderInput, Workers: 4,
			NewCodec: func() engine.Codec { return echo{} },
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		all := s.Reports()
		for i := range all {
			all[i].Lane = nil
		}
		return sink.lines, all
	}
	wantLines, want := reports(1)
	for _, parallel := range []int{2, 5} {
		gotLines, got := reports(parallel)
		if !bytes.Equal([]byte(strings.Join(gotLines, "")), []byte(strings.Join(wantLines, ""))) {
			t.Errorf("%d lanes: other lines or another order", parallel)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d lanes: reports\n%+v\none lane\n%+v", parallel, got, want)
		}
	}
}
