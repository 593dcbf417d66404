package record

import (
	"fmt"
	"strings"
	"testing"
)

// TestShard: each record is in the output of exactly one shard, and counts only
// there. A header is in all outputs and counts in shard 0.
func TestShard(t *testing.T) {
	lines := []string{"id\turl"}
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("%d\thttps://h/%d?b&a#c", i, i%100), fmt.Sprintf("%d\thttp://[/%d", i, i), fmt.Sprintf("%d\t", i), "no cell", "")
	}
	lines = append(lines, "9\thttp://h/"+strings.Repeat("x", 200))
	const of = 3
	for _, by := range IdentityNames() {
		for _, render := range []Render{RenderRewrite, RenderExtend, RenderJSONL} {
			c := Config{Format: "tsv", URLField: "url", Render: render, MaxRecord: 100, Where: startsWith{fPath, "/"}}
			if render == RenderExtend {
				c.Extend = []Extension{{Name: "n", Field: "norm"}}
			}
			if render == RenderJSONL {
				c.Fields = []string{"url", "fetch"} // whose rules count, also if a shard shares them
			}
			_, _, want := routed(t, c, lines...)
			var sum Stats
			in := make([]int, len(lines))
			for i := range of {
				c.Shard = Shard{i, of, by}
				out, _, st := routed(t, c, lines...)
				sum.Add(&st)
				for k, text := range out {
					if text != "-" {
						in[k]++
					}
				}
			}
			if sum != want {
				t.Errorf("%s, %v: the counts of the shards are\n%+v\nwant\n%+v", by, render, sum, want)
			}
			if keeps := render.KeepsRecords(); keeps != (in[0] == of) {
				t.Errorf("%s, %v: the header is in %d outputs", by, render, in[0])
			}
			for k, n := range in[1:] {
				if n > 1 {
					t.Errorf("%s, %v: line %d is in %d shards", by, render, k+2, n)
				}
			}
		}
	}
}

// TestShardOversize: all pieces of a record belong to one shard, which also
// owns a record of that line that arrives in one piece.
func TestShardOversize(t *testing.T) {
	const of = 3
	for line := range int64(20) {
		var pieces, whole []int
		for i := range of {
			j, err := New(Config{Format: "lines", MaxRecord: 4, Normalizer: newNormalizer(t, "equiv"), Shard: Shard{i, of, "key"}})
			if err != nil {
				t.Fatal(err)
			}
			w, st := j.NewWorker(), Stats{}
			for k, p := range []Piece{PieceFirst, PieceMiddle, PieceLast} {
				other := j.NewWorker() // another worker may get the next piece
				if out, _ := other.Piece(nil, nil, []byte("12345\n"), p, Position{Line: line, Off: int64(k)}, &st); len(out) > 0 {
					pieces = append(pieces, i)
				}
			}
			if out, _ := w.Append(nil, nil, []byte("1234567\n"), Position{Line: line}, &st); len(out) > 0 {
				whole = append(whole, i)
			}
			if st.Records != int64(2*len(pieces)/3) && st.Records != 0 {
				t.Errorf("line %d, shard %d: %d records", line, i, st.Records)
			}
		}
		if len(whole) != 1 || fmt.Sprint(pieces) != fmt.Sprint([]int{whole[0], whole[0], whole[0]}) {
			t.Errorf("line %d: the pieces are in the shards %v, the record in %v", line, pieces, whole)
		}
	}
}

// TestShardErrors: shards that do not exist are refused.
func TestShardErrors(t *testing.T) {
	for want, c := range map[string]Config{
		"invalid shard 3 of 3":         {Format: "lines", Shard: Shard{3, 3, "key"}},
		"invalid shard -1 of 3":        {Format: "lines", Shard: Shard{-1, 3, "key"}},
		"invalid shard 1 of 0":         {Format: "lines", Shard: Shard{1, 0, "key"}},
		`unknown field "host"`:         {Format: "lines", Shard: Shard{0, 3, "host"}},
		"records of this format share": {Format: "azure-front-door", Shard: Shard{0, 3, "key"}},
		"cannot be combined with":      {Format: "lines", Shard: Shard{0, 3, "key"}, Route: []Branch{{To: 1}}},
	} {
		c.Normalizer = newNormalizer(t, "equiv")
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestShardAllocs: a shard allocates nothing per record.
func TestShardAllocs(t *testing.T) {
	for _, by := range IdentityNames() {
		j, err := New(Config{Format: "clf", Normalizer: newNormalizer(t, "equiv"), Shard: Shard{0, 2, by}})
		if err != nil {
			t.Fatal(err)
		}
		w, st, out := j.NewWorker(), Stats{}, make([]byte, 0, 1<<10)
		recs := [][]byte{[]byte(request("/a/x") + "\n"), []byte(request("http://h/%7e") + "\n"), []byte("no log line\n"), []byte("\n")}
		if n := testing.AllocsPerRun(100, func() {
			for _, rec := range recs {
				out, _ = w.Append(out[:0], nil, rec, Position{}, &st)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", by, n)
		}
	}
}
