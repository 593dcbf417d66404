package jsonlines

import "testing"

// TestWrapped checks where lines with several records are split.
func TestWrapped(t *testing.T) {
	w := wrapper{Member: []byte("records")}
	f := func(in string, want ...string) {
		t.Helper()
		for rest := in; len(rest) > 0; {
			n := w.Next([]byte(rest))
			if len(want) == 0 || rest[:n] != want[0] {
				t.Errorf("%q: got %q, want %q", in, rest[:n], want)
				return
			}
			rest, want = rest[n:], want[1:]
		}
		if len(want) > 0 {
			t.Errorf("%q: missing %q", in, want)
		}
	}
	f(`{"records":[{"a":1},{"b":[{}]} , {}],"x":[1]}`+"\n{}", `{"records":[{"a":1}`, `,{"b":[{}]} `, `, {}],"x":[1]}`+"\n", "{}")
	f(`{"records":[]}`, `{"records":[]}`)
	f(`{"records":[1,2]}`, `{"records":[1,2]}`)
	f(`{"record":[{},{}]}`, `{"record":[{},{}]}`)
	f(`{"x":1,"records":[{},{}]}`, `{"x":1,"records":[{},{}]}`)
	f(`{"records":[{},{"a`+"\n{}", `{"records":[{}`, `,{"a`+"\n", "{}")
	f(`{"records":[{}]x`+"\n", `{"records":[{}]x`+"\n")
	f("\n", "\n")
}
