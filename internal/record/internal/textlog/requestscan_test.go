package textlog

import "testing"

// FuzzUsualRequest: what usualRequest and hostAfter find, anyRequest and labeled find as
// well.
func FuzzUsualRequest(f *testing.F) {
	for _, line := range []string{
		`x, request: "GET /a HTTP/1.1", host: "h", referrer: "-"`, `"POST /a?q="x" HTTP/1.0" 200`, `"HEAD / HTTP/1.1", host: "h`,
		`192.0.2.7 "GET /a\" HTTP/1.1", host: h`, `"GET / HTTP/1.1"`, `"GET  HTTP/1.1"`, `x"GET /\ HTTP/1.1"GET /a HTTP/1.1"`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for end, c := range line {
			if c != ' ' {
				continue
			}
			got, ok := usualRequest(line, end)
			if want, _ := anyRequest(line, end); ok && got != want {
				t.Errorf("request of %q before %d: %+v, want %+v", line, end, got, want)
			}
			if got, want := hostAfter(line, end), labeled(line, end, "host"); got != want {
				t.Errorf("host of %q after %d: %v, want %v", line, end, got, want)
			}
		}
	})
}
