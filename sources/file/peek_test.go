package file

import (
	"context"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// TestInspectLongLines checks that Inspect shows more of an input that begins with
// long lines, but not more than it may.
func TestInspectLongLines(t *testing.T) {
	const least, most = 10, 200 // it looks at 10, 40, 160 and 200 bytes
	long, rest := strings.Repeat("x", 50), strings.Repeat("x", 500)
	for in, want := range map[string]int{
		"a\nb\n" + rest:            least,
		"a\n" + long + "\n" + rest: 160,
		long + "\nb\n" + rest:      160,
		"a\n" + long:               len("a\n" + long),
		rest:                       most,
		"a\n" + rest:               most,
	} {
		dir := write(t, map[string]string{"1": in})
		for _, cfg := range []Config{{Paths: []string{dir}}, {Stdin: strings.NewReader(in)}} {
			cfg.Framing = lines{}
			s, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			err = s.Inspect(context.Background(), least, most, func(_ string, head []byte, _ compress.Verdict) { got = string(head) })
			if err != nil || !strings.HasPrefix(in, got) || len(got) != min(want, len(in)) {
				t.Errorf("%q: got %d bytes, %v, want %d", in, len(got), err, want)
			}
			if err := s.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	}
}
