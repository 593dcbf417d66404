package record

import "testing"

// TestBounds compares bounds with what each of them says.
func TestBounds(t *testing.T) {
	var have Integers
	have.known = 1<<attrStatus | 1<<attrBytes
	have.values = [16]uint64{attrStatus: 200, attrBytes: 0, attrDuration: 7}
	const last = ^uint64(0)
	bounds := []struct {
		Bound
		holds, known bool
	}{
		{Bound{uint8(attrStatus), 200, 0}, true, true},
		{Bound{uint8(attrStatus), 201, last - 1}, false, true}, // all others
		{Bound{uint8(attrBytes), 1, last - 1}, false, true},
		{Bound{uint8(attrBytes), last, 1}, true, true}, // the last one and the first
		{Bound{uint8(attrDuration), 7, 0}, true, false},
	}
	for _, a := range bounds {
		for _, b := range bounds {
			for _, any := range []bool{false, true} {
				all := Bounds{Any: any}
				all.Add(a.Bound)
				all.Add(b.Bound)
				want := a.holds && b.holds || any && (a.holds || b.holds)
				if hold, known := all.Hold(&have); known != (a.known && b.known) || known && hold != want {
					t.Errorf("%+v, any %v, %+v: %v, %v, want %v", a, any, b, hold, known, want)
				}
			}
		}
		if holds, known := a.Holds(&have); holds != a.holds || known != a.known {
			t.Errorf("%+v: %v, %v", a, holds, known)
		}
	}
}
