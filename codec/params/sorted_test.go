package params

import "testing"

func TestAppendSorted(t *testing.T) {
	var s Scratch
	f := func(query, want, once string) {
		t.Helper()
		for i, want := range []string{want, once} {
			got, why := AppendSorted([]byte("x"), []byte(query), i > 0, &s)
			if string(got) != "x"+want {
				t.Errorf("%q: %q, want %q", query, got[1:], want)
			}
			if (why&^WhySigned == 0) != (query == want) {
				t.Errorf("%q: got %q with rules %v", query, want, why)
			}
			if again, why := AppendSorted(nil, []byte(want), i > 0, &s); string(again) != want || why&^WhySigned != 0 {
				t.Errorf("%q: second run gave %q with rules %v", want, again, why)
			}
		}
	}
	f("", "", "")
	f("a=1&a=1", "a=1&a=1", "a=1")
	f("b=2&a=1&b=1&a=1&b=2", "a=1&a=1&b=2&b=1&b=2", "a=1&b=2&b=1")
	f("%C3%A9&f", "f&%C3%A9", "f&%C3%A9")
	f("a&a=", "a&a=", "a&a=") // only exact repetitions; q-eq is another rule
	f("b&b&X-Amz-Signature=0&a", "b&b&X-Amz-Signature=0&a", "b&b&X-Amz-Signature=0&a")
}
