package insight

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/template"
	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/tally"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// The evidence that a proposal needs.
const (
	LeastPairs  = 50 // pairs of URLs that differ only in the parameter
	LeastValues = 20 // distinct values of the parameter
	LeastSame   = 99 // percent of the pairs whose responses are the same
	// LeastOutcomes is the number of different responses among the pages compared.
	// If all pages look the same, equal responses say nothing.
	LeastOutcomes = 10
)

// A Learner looks for parameters, and segments of paths, that do not change the
// page. It compares URLs that are equal at level fetch except for one parameter
// or segment:
//
//	host /item?id=7&[t=1]  200, 5120 bytes ┐
//	host /item?id=7&[t=2]  200, 5120 bytes ┴ a pair with the same response
//
// Only a few values of each page are compared, chosen by their hashes, so that no
// page outweighs the others and the order of the records does not matter.
type Learner struct {
	o         Options
	norm      *codec.Normalizer
	templates *template.Templates
	content   []string // path of the member that identifies the response; nil: status and size

	mu      sync.Mutex
	workers []*learning
}

// NewLearner returns a Learner for URLs that n has normalized. content is the
// path of a member of JSON records that identifies the page, such as a hash of
// its content or its canonical URL; without it, status and size identify the
// response. Close releases it.
func NewLearner(n *codec.Normalizer, content string, o Options) *Learner {
	l := &Learner{o: o, norm: n}
	if n != nil { // n is nil if only Fields is wanted
		l.templates = n.Policy().Templates
	}
	if content != "" {
		l.content = strings.Split(content, ".")
	}
	return l
}

// Fields returns the fields that the codecs must write, in tsv.
func (l *Learner) Fields() []string {
	if l.content != nil {
		return []string{"norm", "record"}
	}
	return []string{"norm", "status", "bytes"}
}

// A learning is the part of a Learner that one worker fills.
type learning struct {
	l     *Learner
	seen  *tally.Tally // distinct URLs with their responses
	room  int64
	found evidence

	res   codec.Result
	url   []byte
	text  []byte
	key   []byte
	shape []byte
	name  []byte
	pairs []params.Pair
}

// NewCodecs returns a function that creates the codec of a worker. inner creates
// codecs that write [Learner.Fields] in tsv.
func (l *Learner) NewCodecs(inner func() engine.Codec) func() engine.Codec {
	return func() engine.Codec {
		w := &learning{l: l, seen: tally.New(tally.Options{}), room: l.o.share() / 2, found: newEvidence()}
		l.mu.Lock()
		l.workers = append(l.workers, w)
		l.mu.Unlock()
		return newRowCodec(inner(), len(l.Fields()), w.count)
	}
}

// count remembers a URL with its response.
func (w *learning) count(row [][]byte) error {
	if w.key = w.appendResponse(append(append(w.key[:0], row[0]...), '\t'), row); w.key == nil {
		return nil
	}
	if err := w.seen.Add(w.key, nil, 1); err != nil {
		return err
	}
	if w.room > 0 && w.seen.Memory() > w.room {
		return w.seen.Drain(w.compare)
	}
	return nil
}

// appendResponse appends what identifies the response. It returns nil if
// nothing does: the status is 206, 304, 429 or 5xx, or there is no body, or the
// record lacks the member that identifies the page.
func (w *learning) appendResponse(dst []byte, row [][]byte) []byte {
	if w.l.content != nil {
		return w.appendContent(dst, row[1])
	}
	status, size := row[1], row[2]
	if len(size) == 0 || string(size) == "0" || len(status) != 3 || status[0] == '5' || string(status) == "206" || string(status) == "304" || string(status) == "429" {
		return nil
	}
	return append(append(append(dst, status...), ' '), size...)
}

// appendContent appends the member of a JSON record.
func (w *learning) appendContent(dst, rec []byte) []byte {
	var v any
	if json.Unmarshal(tsv.AppendUnescaped(nil, rec), &v) != nil {
		return nil
	}
	for _, name := range w.l.content {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[name]
	}
	if v == nil || v == "" {
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return tsv.AppendEscaped(dst, text)
}

// compare adds a URL with its response to the evidence.
func (w *learning) compare(g *tally.Group) error {
	norm, response, _ := bytes.Cut(g.Key, []byte{'\t'})
	w.url = w.url[:0]
	bare := len(norm) > 0 && norm[0] == '/'
	if bare {
		w.url = append(w.url, bareHost...)
	}
	w.url = tsv.AppendUnescaped(w.url, norm)
	var err error
	if w.text, err = w.l.norm.Append(w.text[:0], w.url, &w.res); err != nil || !w.res.HasKey(codec.LevelFetch) {
		return nil
	}
	w.key = w.res.AppendKey(w.key[:0], codec.LevelFetch)
	front, query, _ := bytes.Cut(w.key, []byte{'?'})
	_, rest, ok := bytes.Cut(front, []byte("//"))
	slash := bytes.IndexByte(rest, '/')
	if !ok || slash < 0 {
		return nil
	}
	host := string(rest[:slash])
	if bare {
		host = ""
	}
	outcome := xxh3.Hash(response)
	w.compareParams(host, front, query, outcome, norm)
	w.compareSegments(host, rest[slash:], query, outcome, norm)
	return nil
}

// compareParams adds each parameter of a URL to the evidence. The page of a
// parameter is everything else: the text before the query and the other
// parameters, in any order.
func (w *learning) compareParams(host string, front, query []byte, outcome uint64, norm []byte) {
	w.pairs = params.AppendPairs(w.pairs[:0], query)
	sum := uint64(0)
	for _, p := range w.pairs {
		sum += pairHash(p, query)
	}
	base := xxh3.Hash(front)
	for i, p := range w.pairs {
		w.name = params.AppendName(w.name[:0], p.Name(query))
		if len(w.name) == 0 || slices.ContainsFunc(w.pairs[:i], func(q params.Pair) bool { return bytes.Equal(q.Name(query), p.Name(query)) }) {
			continue
		}
		page, value := sum, uint64(0)
		for _, q := range w.pairs {
			if bytes.Equal(q.Name(query), p.Name(query)) {
				page -= pairHash(q, query)
				value = value*31 + xxh3.Hash(q.Value(query))
			}
		}
		c := candidate{Kind: "param", Host: host, Name: string(w.name)}
		w.found.add(c, base^page*0x9e3779b97f4a7c15, value, outcome, norm)
	}
}

func pairHash(p params.Pair, query []byte) uint64 {
	return xxh3.HashSeed(p.Value(query), xxh3.Hash(p.Name(query)))
}

// compareSegments adds each segment of the path whose shape shows that it
// varies, such as {int} or {uuid}, to the evidence. The name of a segment is
// the shape of the path with the segment in brackets.
func (w *learning) compareSegments(host string, path, query []byte, outcome uint64, norm []byte) {
	w.shape = w.l.templates.Append(w.shape[:0], path)
	if bytes.IndexByte(w.shape, '{') < 0 {
		return
	}
	shapes, segments := bytes.Split(w.shape, []byte{'/'}), bytes.Split(path, []byte{'/'})
	if len(shapes) != len(segments) {
		return
	}
	for i, shape := range shapes {
		if len(shape) == 0 || shape[0] != '{' || bytes.Equal(shape, segments[i]) {
			continue
		}
		value := xxh3.Hash(segments[i])
		kept := segments[i]
		segments[i], shapes[i] = []byte("*"), append(append([]byte{'['}, shape...), ']')
		page := xxh3.HashSeed(bytes.Join(segments, []byte{'/'}), xxh3.HashSeed(query, xxh3.HashString(host)))
		c := candidate{Kind: "segment", Host: host, Name: string(bytes.Join(shapes, []byte{'/'}))}
		segments[i], shapes[i] = kept, shape
		w.found.add(c, page, value, outcome, norm)
	}
}

// Close releases memory.
func (l *Learner) Close() error {
	var errs []error
	for _, w := range l.workers {
		errs = append(errs, w.seen.Close())
	}
	return errors.Join(errs...)
}

// A Proposal is a parameter or segment that does not change the page.
type Proposal struct {
	Kind     string // what the proposal names: "param" or "segment"
	Host     string // "" if it is unknown
	Name     string
	Pairs    int64 // pairs of URLs that differ only in the parameter or segment
	Same     int64 // pairs with the same response
	Values   int64 // distinct values among these URLs; up to maxValues
	Outcomes int64 // distinct responses of the pages; up to maxValues
	Example  string
}

// Proposals returns the proposals for which there is enough evidence, ordered
// by host, kind and name, and the number of the other candidates. Nothing can
// be counted afterwards.
func (l *Learner) Proposals() (list []Proposal, others int, err error) {
	all := newEvidence()
	for _, w := range l.workers {
		if err := w.seen.Drain(w.compare); err != nil {
			return nil, 0, err
		}
		all.merge(&w.found)
	}
	for _, p := range all.judge() {
		if p.Pairs >= LeastPairs && p.Values >= LeastValues && p.Outcomes >= LeastOutcomes && p.Same*100 >= p.Pairs*LeastSame {
			list = append(list, p)
		} else {
			others++
		}
	}
	slices.SortFunc(list, func(a, b Proposal) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return list, others, nil
}

// A candidate is a parameter or a segment.
type candidate struct{ Kind, Host, Name string }

// A pageID identifies the URLs that differ only in a candidate.
type pageID struct {
	of   candidate
	page uint64
}

// pageValues is the number of values of a page that are compared.
const pageValues = 8

// A tried is the response for a value.
type tried struct {
	rank           uint64 // order of the values of a page, which differs from page to page
	value, outcome uint64
	varies         bool // the response differs from one request to the next
}

// A compared page has the values with the least ranks, in ascending order.
type compared struct {
	values  []tried
	example []byte
}

// evidence holds the results for all candidates. If there are more than
// maxPages pages, it holds a sample of them, as type levels does.
type evidence struct {
	bits  uint
	pages map[pageID]*compared
}

// maxPages limits the pages in memory: some 300 MB.
const maxPages = 1 << 20

func newEvidence() evidence { return evidence{pages: map[pageID]*compared{}} }

// add adds a response. It does not retain norm.
func (e *evidence) add(c candidate, page, value, outcome uint64, norm []byte) {
	if page&(1<<e.bits-1) != 0 {
		return
	}
	id := pageID{c, page}
	p := e.pages[id]
	if p == nil {
		p = &compared{}
		e.pages[id] = p
	}
	p.try(tried{rank: (value ^ page) * 0x9e3779b97f4a7c15, value: value, outcome: outcome})
	if len(norm) <= tally.MaxExample && (p.example == nil || tally.Better(norm, p.example)) {
		p.example = append(p.example[:0], norm...)
	}
	for len(e.pages) > maxPages {
		e.keep(e.bits + 1)
	}
}

// try adds the response for a value.
func (p *compared) try(t tried) {
	i, known := slices.BinarySearchFunc(p.values, t, func(a, b tried) int { return cmp.Compare(a.rank, b.rank) })
	switch {
	case known:
		p.values[i].varies = p.values[i].varies || t.varies || p.values[i].outcome != t.outcome
		p.values[i].outcome = min(p.values[i].outcome, t.outcome)
	case i < pageValues:
		p.values = slices.Insert(p.values, i, t)
		p.values = p.values[:min(len(p.values), pageValues)]
	}
}

// keep removes the pages that a sample of the given bits does not contain.
func (e *evidence) keep(bits uint) {
	e.bits = bits
	for id := range e.pages {
		if id.page&(1<<bits-1) != 0 {
			delete(e.pages, id)
		}
	}
}

// merge adds the evidence of o, which must not be used afterwards.
func (e *evidence) merge(o *evidence) {
	bits := max(e.bits, o.bits)
	e.keep(bits)
	o.keep(bits)
	for id, p := range o.pages {
		to := e.pages[id]
		if to == nil {
			e.pages[id] = p
			continue
		}
		for _, t := range p.values {
			to.try(t)
		}
		if p.example != nil && (to.example == nil || tally.Better(p.example, to.example)) {
			to.example = p.example
		}
	}
	for len(e.pages) > maxPages {
		e.keep(e.bits + 1)
	}
}

// maxValues is the number of distinct values and responses that are counted.
const maxValues = 1000

// A judged candidate is a proposal that is not checked yet.
type judged struct {
	Proposal
	values, outcomes map[uint64]bool
	example          []byte
}

// judge compares the response for each value of a page with the response for
// its first value.
func (e *evidence) judge() (list []Proposal) {
	all := map[candidate]*judged{}
	for id, p := range e.pages {
		j := all[id.of]
		if j == nil {
			j = &judged{Proposal: Proposal{Kind: id.of.Kind, Host: id.of.Host, Name: id.of.Name}, values: map[uint64]bool{}, outcomes: map[uint64]bool{}}
			all[id.of] = j
		}
		if len(p.values) > 1 {
			j.page(p)
		}
	}
	for _, j := range all {
		j.Values, j.Outcomes, j.Example = int64(len(j.values)), int64(len(j.outcomes)), string(j.example)
		list = append(list, j.Proposal)
	}
	return list
}

// page adds the pairs of a page.
func (j *judged) page(p *compared) {
	first := p.values[0]
	for _, t := range p.values[1:] {
		j.Pairs++
		if t.outcome == first.outcome && !t.varies && !first.varies {
			j.Same++
		}
	}
	for _, t := range p.values {
		if len(j.values) < maxValues {
			j.values[t.value] = true
		}
		if len(j.outcomes) < maxValues {
			j.outcomes[t.outcome] = true
		}
	}
	if p.example != nil && (j.example == nil || tally.Better(p.example, j.example)) {
		j.example = p.example
	}
}

// ProposalColumns returns the columns of proposals.
func ProposalColumns() []Column {
	return []Column{{Name: "kind"}, {Name: "host"}, {Name: "name"}, {Name: "pairs", Number: record.ColumnInt}, {Name: "same", Number: record.ColumnInt}, {Name: "values", Number: record.ColumnInt}, {Name: "responses", Number: record.ColumnInt}, {Name: "example"}}
}

// PrintProposals writes proposals.
func PrintProposals(p Printer, list []Proposal) error {
	escaped := func(s string) []byte { return present(tsv.AppendEscaped(nil, []byte(s))) }
	for _, x := range list {
		err := p.Row([][]byte{[]byte(x.Kind), escaped(x.Host), escaped(x.Name), appendInt(x.Pairs), appendInt(x.Same), appendInt(x.Values), appendInt(x.Outcomes), present([]byte(x.Example))})
		if err != nil {
			return err
		}
	}
	return p.Close()
}
