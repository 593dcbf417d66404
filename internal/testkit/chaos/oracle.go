package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
)

// An Oracle is told which records there are, reads what came out, and counts what
// is wrong. It keeps two bits for each record, so that tens of millions are no
// trouble. It is not for many goroutines at a time.
type Oracle struct {
	spec    Spec
	foreign []byte
	lanes   map[uint64]*lane
	res     Result
	scratch []byte
	marks   []span
}

// A lane is what the Oracle knows of one.
type lane struct {
	n    uint64 // records there are
	wild bool   // behind them anything may come
	out  bitmap
	dead bitmap
}

// A span is a run of records of a lane that may be missing.
type span struct{ lane, from, to uint64 }

type bitmap []uint64

// set sets bit n, and reports whether it was set before.
func (b *bitmap) set(n uint64) (before bool) {
	if need := int(n/64) + 1; need > len(*b) {
		*b = append(*b, make([]uint64, need-len(*b))...)
	}
	w, m := &(*b)[n/64], uint64(1)<<(n%64)
	before = *w&m != 0
	*w |= m
	return before
}

func (b bitmap) word(i uint64) uint64 {
	if i < uint64(len(b)) {
		return b[i]
	}
	return 0
}

func (b bitmap) count() (n int64) {
	for _, w := range b {
		n += int64(bits.OnesCount64(w))
	}
	return n
}

// A Result is what an Oracle has found out. All counts are of records.
type Result struct {
	Expected  int64 `json:"expected"`
	Records   int64 `json:"records"` // in the outputs
	Letters   int64 `json:"letters"` // in the dead letters
	Lost      int64 `json:"lost"`
	Excused   int64 `json:"excused"` // missing, and may be: see Oracle.Excuse
	Doubled   int64 `json:"doubled"` // once for each time too many
	Distance  int64 `json:"distance"`
	Reordered int64 `json:"reordered"` // came first behind a later one of its lane and stream
	Corrupted int64 `json:"corrupted"` // is no record, or not to the byte
	Invented  int64 `json:"invented"`  // a record that was never written
	Foreign   int64 `json:"foreign"`   // have the mark of Oracle.Foreign
	Wild      int64 `json:"wild"`      // came out of a damaged part: see Oracle.Wild
	Misrouted int64 `json:"misrouted"` // poison in an output, or what is none in the dead letters
	// Records in the outputs, by form.
	Forms [NumForms]int64 `json:"forms"`
	// Doubled, by lane.
	DoubledIn map[uint64]int64 `json:"doubled_in,omitempty"`
	// Letters without a record, by reason.
	Reasons map[string]int64 `json:"reasons,omitempty"`
	// Some of what is wrong.
	Examples []string `json:"examples,omitempty"`
}

// maxExamples bounds Result.Examples.
const maxExamples = 10

// Right reports whether each record is where it has to be, and nothing else is
// there. Records may have come twice, or in another order.
func (r *Result) Right() bool {
	return r.Lost == 0 && r.Corrupted == 0 && r.Invented == 0 && r.Misrouted == 0
}

// Exact reports whether each record came once, and in order.
func (r *Result) Exact() bool { return r.Right() && r.Doubled == 0 && r.Reordered == 0 }

// String returns the counts in one line.
func (r *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "expected %d, records %d, letters %d: lost %d, doubled %d (distance %d), reordered %d, corrupted %d, invented %d, misrouted %d",
		r.Expected, r.Records, r.Letters, r.Lost, r.Doubled, r.Distance, r.Reordered, r.Corrupted, r.Invented, r.Misrouted)
	if r.Excused > 0 {
		fmt.Fprintf(&b, ", excused %d", r.Excused)
	}
	for f, n := range r.Forms {
		if n > 0 && f > 0 {
			fmt.Fprintf(&b, ", %v %d", Form(f), n)
		}
	}
	return b.String()
}

// NewOracle returns an Oracle for records of spec.
func NewOracle(spec Spec) *Oracle {
	return &Oracle{spec: spec, lanes: map[uint64]*lane{}, res: Result{Reasons: map[string]int64{}, DoubledIn: map[uint64]int64{}}}
}

// Expect says that the lane has records 0 to n-1.
func (o *Oracle) Expect(id, n uint64) {
	l := o.lanes[id]
	if l == nil {
		l = &lane{}
		o.lanes[id] = l
	}
	l.n = max(l.n, n)
}

// Excuse says that records of a lane may be missing: they were written between copy
// and truncate, or were cut off.
func (o *Oracle) Excuse(lane, from, to uint64) { o.marks = append(o.marks, span{lane, from, to}) }

// Wild says that a lane is damaged behind the records that it is expected to have:
// what comes behind the last of them is not looked at, but for whether it is text of
// this Spec.
func (o *Oracle) Wild(id uint64) { o.lanes[id].wild = true }

// Foreign says that lines and letters with this text in them are no records of the
// Spec: they are counted, and not looked at.
func (o *Oracle) Foreign(mark string) { o.foreign = []byte(mark) }

// A Stream is the order in which records came out: an output, or all outputs that
// follow each other.
type Stream struct {
	o    *Oracle
	last map[uint64]uint64 // by lane: number of the latest record so far, plus one
}

// NewStream returns a Stream at its beginning.
func (o *Oracle) NewStream() *Stream { return &Stream{o, map[uint64]uint64{}} }

// Read reads r, lines, to its end.
func (s *Stream) Read(r io.Reader) error {
	buf := make([]byte, 0, 1<<20)
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, cap(buf))
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		at := 0
		for {
			i := bytes.IndexByte(buf[at:], '\n')
			if i < 0 {
				break
			}
			s.Line(buf[at : at+i])
			at += i + 1
		}
		buf = buf[:copy(buf, buf[at:])]
		if err != nil {
			if len(buf) > 0 {
				s.o.wrong(&s.o.res.Corrupted, "a last line without a line feed, of %d bytes", len(buf))
			}
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}

// Line takes one record, without its line feed.
func (s *Stream) Line(line []byte) {
	o := s.o
	if len(o.foreign) > 0 && bytes.Contains(line, o.foreign) {
		o.res.Foreign++
		return
	}
	if bytes.HasPrefix(line, []byte(`{"reason":`)) {
		s.letter(line)
		return
	}
	o.res.Records++
	id, ok := o.known(s, line)
	if !ok {
		return
	}
	o.res.Forms[id.form]++
	if o.spec.Poisoned(id.n) {
		o.wrong(&o.res.Misrouted, "record %d of lane %d has no reading, and is in an output", id.n, id.lane)
	}
	l := o.lanes[id.lane]
	last := s.last[id.lane]
	switch twice := l.out.set(id.n); {
	case twice:
		o.res.Doubled++
		o.res.DoubledIn[id.lane]++
		o.res.Distance = max(o.res.Distance, int64(last)-int64(id.n))
	case id.n < last:
		o.wrong(&o.res.Reordered, "record %d of lane %d comes behind %d", id.n, id.lane, last-1)
	}
	s.last[id.lane] = max(last, id.n+1)
}

// known returns which record line is, if it is one that there is.
func (o *Oracle) known(s *Stream, line []byte) (id identity, ok bool) {
	id, o.scratch, ok = o.identify(line)
	if !ok {
		return id, false
	}
	l := o.lanes[id.lane]
	if l != nil && l.wild && s.last[id.lane] >= l.n {
		o.res.Wild++
		return id, false
	}
	if l == nil || id.n >= l.n {
		o.wrong(&o.res.Invented, "record %d of lane %d was never written", id.n, id.lane)
		return id, false
	}
	return id, true
}

func (o *Oracle) identify(line []byte) (identity, []byte, bool) {
	id, scratch, err := o.spec.identify(line, o.scratch)
	if err != nil {
		o.wrong(&o.res.Corrupted, "a line of %d bytes, %.60q: %v", len(line), line, err)
	}
	return id, scratch, err == nil
}

// letter takes a dead letter.
func (s *Stream) letter(line []byte) {
	o := s.o
	o.res.Letters++
	var v struct {
		Reason string  `json:"reason"`
		Record *string `json:"record"`
	}
	if err := json.Unmarshal(line, &v); err != nil {
		o.wrong(&o.res.Corrupted, "a dead letter of %d bytes: %v", len(line), err)
		return
	}
	if v.Record == nil {
		o.res.Reasons[v.Reason]++
		return
	}
	id, ok := o.known(s, []byte(*v.Record))
	if !ok {
		return
	}
	if !o.spec.Poisoned(id.n) || id.form != Raw {
		o.wrong(&o.res.Misrouted, "record %d of lane %d is a dead letter: %s", id.n, id.lane, v.Reason)
	}
	if o.lanes[id.lane].dead.set(id.n) {
		o.res.Doubled++
		o.res.DoubledIn[id.lane]++
	}
}

// wrong counts something, and keeps an example of it.
func (o *Oracle) wrong(count *int64, format string, args ...any) {
	*count++
	if *count <= 2 && len(o.res.Examples) < maxExamples {
		o.res.Examples = append(o.res.Examples, fmt.Sprintf(format, args...))
	}
}

// Result returns what was found out, with what is missing so far.
func (o *Oracle) Result() Result {
	r := o.res
	r.Examples = slices.Clone(r.Examples)
	for id, l := range o.lanes {
		r.Expected += int64(l.n)
		missing := o.missing(&r, id, l)
		r.Lost += missing
	}
	return r
}

// missing returns how many records of a lane are nowhere, without those that are
// excused.
func (o *Oracle) missing(r *Result, id uint64, l *lane) (n int64) {
	for w := range (l.n + 63) / 64 {
		have := l.out.word(w) | l.dead.word(w)
		if rest := l.n - w*64; rest < 64 {
			have |= ^uint64(0) << rest
		}
		for gone := ^have; gone != 0; gone &= gone - 1 {
			i := w*64 + uint64(bits.TrailingZeros64(gone))
			if slices.ContainsFunc(o.marks, func(s span) bool { return s.lane == id && i >= s.from && i < s.to }) {
				r.Excused++
				continue
			}
			if n++; n <= 2 && len(r.Examples) < maxExamples {
				r.Examples = append(r.Examples, fmt.Sprintf("record %d of lane %d is nowhere", i, id))
			}
		}
	}
	return n
}

// Seen returns how many different records came out, dead letters among them.
func (o *Oracle) Seen() (n int64) {
	for _, l := range o.lanes {
		n += l.out.count() + l.dead.count()
	}
	return n
}
