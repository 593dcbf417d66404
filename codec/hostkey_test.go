package codec

import "testing"

func TestAppendHostKey(t *testing.T) {
	f := func(key, want string) {
		t.Helper()
		var u URL
		split([]byte(key), &u)
		if got := AppendHostKey([]byte("x "), []byte(key), &u); string(got) != "x "+want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
	f("http://u:p@example.com:8080/a", "example.com:8080")
	f("http://example.com/a:1", "example.com")
	f("http://[::1]/", "[::1]")
	f("http://:81/", ":81")
	f("mailto:a@b", "")
	f("", "")
}

func TestHostKeyNoAllocs(t *testing.T) {
	key := []byte("http://u@www.example.com.:81/a?b#c")
	var u URL
	split(key, &u)
	dst := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() { AppendHostKey(dst, key, &u) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
