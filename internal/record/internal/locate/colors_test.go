package locate

import "testing"

// TestColors checks both ends of the escape sequences of colors.
func TestColors(t *testing.T) {
	for _, tc := range []struct {
		text       string
		end, start int // ColorsEnd at 0, and ColorsStart at the end
	}{
		{"\x1b[1;31mGET", 7, 10},
		{"GET\x1b[m", 0, 3},
		{"\x1b[0m\x1b[32m", 9, 0},
		{"\x1b[0", 0, 3},
		{"[0m", 0, 3},
		{"m", 0, 1},
		{"\x1b[2J", 0, 4},
		{"", 0, 0},
	} {
		if end, start := ColorsEnd([]byte(tc.text), 0), ColorsStart([]byte(tc.text), len(tc.text)); end != tc.end || start != tc.start {
			t.Errorf("%q: got %d and %d, want %d and %d", tc.text, end, start, tc.end, tc.start)
		}
	}
}
