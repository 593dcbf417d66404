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

// An Oracle compares the outputs with the expected records and counts the
// differences. It takes two bits per record, so it can handle tens of millions.
// It must not be used by several goroutines at a time.
type Oracle struct {
	spec    Spec
	foreign []byte
	lanes   map[uint64]*lane
	res     Result
	scratch []byte
	marks   []span
}

// A lane is the state of the Oracle for one lane.
type lane struct {
	n    uint64 // number of expected records
	wild bool   // arbitrary output may follow them
	out  bitmap
	dead bitmap
}

// A span is a range of records of a lane that may be missing.
type span struct{ lane, from, to uint64 }

type bitmap []uint64

// set sets bit n and reports whether it was already set.
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

// A Result is the result of an Oracle. All counts are numbers of records.
type Result struct {
	Expected  int64 `json:"expected"`
	Records   int64 `json:"records"` // in the outputs
	Letters   int64 `json:"letters"` // in the dead letters
	Lost      int64 `json:"lost"`
	Excused   int64 `json:"excused"` // missing, but allowed to be: see Oracle.Excuse
	Doubled   int64 `json:"doubled"` // counted once for each repetition
	Distance  int64 `json:"distance"`
	Reordered int64 `json:"reordered"` // first seen after a later record of its lane and stream
	Corrupted int64 `json:"corrupted"` // not a record, or not byte for byte
	Invented  int64 `json:"invented"`  // a record that was never written
	Foreign   int64 `json:"foreign"`   // contains the text of Oracle.Foreign
	Wild      int64 `json:"wild"`      // output of a damaged part: see Oracle.Wild
	Misrouted int64 `json:"misrouted"` // poison in an output, or another record in the dead letters
	// Records in the outputs, by form.
	Forms [NumForms]int64 `json:"forms"`
	// Doubled, by lane.
	DoubledIn map[uint64]int64 `json:"doubled_in,omitempty"`
	// Dead letters without a record, by reason.
	Reasons map[string]int64 `json:"reasons,omitempty"`
	// Examples describes some of the differences.
	Examples []string `json:"examples,omitempty"`
}

// maxExamples is the maximum length of Result.Examples.
const maxExamples = 10

// Right reports whether each record is where it must be, and nothing else is
// there. Records may be repeated or in another order.
func (r *Result) Right() bool {
	return r.Lost == 0 && r.Corrupted == 0 && r.Invented == 0 && r.Misrouted == 0
}

// Exact reports whether each record was output exactly once, and in order.
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

// Expect declares that the lane has the records 0 to n-1.
func (o *Oracle) Expect(id, n uint64) {
	l := o.lanes[id]
	if l == nil {
		l = &lane{}
		o.lanes[id] = l
	}
	l.n = max(l.n, n)
}

// Excuse declares that records of a lane may be missing, because they were
// written between copy and truncate or were truncated.
func (o *Oracle) Excuse(lane, from, to uint64) { o.marks = append(o.marks, span{lane, from, to}) }

// Wild declares that a lane is damaged after its expected records. Output after
// the last of them is counted, but only checked for being text of this Spec.
func (o *Oracle) Wild(id uint64) { o.lanes[id].wild = true }

// Foreign declares that lines and dead letters that contain mark are not
// records of the Spec: they are counted, but not checked.
func (o *Oracle) Foreign(mark string) { o.foreign = []byte(mark) }

// A Stream is a sequence of outputs in which the order of records is checked:
// one output, or all outputs in sequence.
type Stream struct {
	o    *Oracle
	last map[uint64]uint64 // number of the latest record of each lane, plus one
}

// NewStream returns an empty Stream.
func (o *Oracle) NewStream() *Stream { return &Stream{o, map[uint64]uint64{}} }

// Read reads all lines of r.
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
				s.o.wrong(&s.o.res.Corrupted, "last line of %d bytes has no line feed", len(buf))
			}
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}

// Line processes one record, without its line feed.
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
		o.wrong(&o.res.Misrouted, "record %d of lane %d cannot be parsed, but is in an output", id.n, id.lane)
	}
	l := o.lanes[id.lane]
	last := s.last[id.lane]
	switch twice := l.out.set(id.n); {
	case twice:
		o.res.Doubled++
		o.res.DoubledIn[id.lane]++
		o.res.Distance = max(o.res.Distance, int64(last)-int64(id.n))
	case id.n < last:
		o.wrong(&o.res.Reordered, "record %d of lane %d comes after record %d", id.n, id.lane, last-1)
	}
	s.last[id.lane] = max(last, id.n+1)
}

// known identifies the record in line. ok is false if it is not an expected
// record.
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
		o.wrong(&o.res.Corrupted, "line of %d bytes, %.60q: %v", len(line), line, err)
	}
	return id, scratch, err == nil
}

// letter processes a dead letter.
func (s *Stream) letter(line []byte) {
	o := s.o
	o.res.Letters++
	var v struct {
		Reason string  `json:"reason"`
		Record *string `json:"record"`
	}
	if err := json.Unmarshal(line, &v); err != nil {
		o.wrong(&o.res.Corrupted, "dead letter of %d bytes: %v", len(line), err)
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
		o.wrong(&o.res.Misrouted, "record %d of lane %d is a dead letter, but should not be: %s", id.n, id.lane, v.Reason)
	}
	if o.lanes[id.lane].dead.set(id.n) {
		o.res.Doubled++
		o.res.DoubledIn[id.lane]++
	}
}

// wrong increments a count and records an example.
func (o *Oracle) wrong(count *int64, format string, args ...any) {
	*count++
	if *count <= 2 && len(o.res.Examples) < maxExamples {
		o.res.Examples = append(o.res.Examples, fmt.Sprintf(format, args...))
	}
}

// Result returns the counts. Records not seen until now count as lost.
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

// missing returns the number of records of a lane that were not seen, except
// for the excused ones.
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
				r.Examples = append(r.Examples, fmt.Sprintf("record %d of lane %d is missing", i, id))
			}
		}
	}
	return n
}

// Seen returns the number of distinct records that were seen, including dead
// letters.
func (o *Oracle) Seen() (n int64) {
	for _, l := range o.lanes {
		n += l.out.count() + l.dead.count()
	}
	return n
}
