package engine

import (
	"testing"
)

func TestRun(t *testing.T) {
	f := func(name string, ordering Ordering, lanes, readers int) {
		t.Helper()
		src := &fakeSource{readers: readers}
		for i := range lanes {
			src.lanes = append(src.lanes, numbered(i*37%211, "aDXbP"))
		}
		a, b, dead := &fakeSink{}, &fakeSink{async: true}, &fakeSink{}
		p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{a, b}, DeadLetter: dead, Ordering: ordering, Workers: 3})
		s := finished(t.Context(), t, p)
		var read int64
		for i, lines := range src.lanes {
			l := src.opened[i]
			read += int64(len(lines))
			for _, sink := range []*fakeSink{a, b} {
				sameLines(t, name, sink.lines[l.Name()], of(lines, "ab"), ordering != OrderNone)
			}
			sameLines(t, name+", dead letter", dead.lines[l.Name()], of(lines, "XP"), ordering != OrderNone)
			if st := l.Stats(); st.Records != int64(len(lines)) || st.Panics != int64(len(of(lines, "P"))) {
				t.Errorf("%s: %s counts %d records, %d panics", name, l.Name(), st.Records, st.Panics)
			}
			if wm, ok := l.Watermark(); wm.A != int64(len(lines)) || ok != (len(lines) > 0) {
				t.Errorf("%s: watermark of %s is %v, %v, want %d", name, l.Name(), wm, ok, len(lines))
			}
		}
		if s.Ledger.Read != read || s.Opened != lanes {
			t.Errorf("%s: %d records in %d lanes, want %d in %d", name, s.Ledger.Read, s.Opened, read, lanes)
		}
	}
	f("none", OrderNone, 9, 3)
	f("per lane", OrderPerLane, 9, 3)
	f("input", OrderInput, 9, 3)
	f("no lanes", OrderNone, 0, 1)
	f("no lanes, ordered", OrderInput, 0, 1)
}
