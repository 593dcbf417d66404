package insight

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/template"
	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/storage/tally"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A Survey collects what a report shows, in one pass. Each worker counts distinct
// URLs first. Pages, sites, parameters and campaigns are derived from them only
// when a worker runs out of memory, or from the URLs of all workers at the end: once for
// each URL instead of once for each record.
//
//	row ─▶ bin: status, flags
//	    └▶ URL ─▶ seen ─▶ (each once) sites, parameters, campaigns, levels
//	                             └▶ pages ─▶ (each once) templates
type Survey struct {
	o    Options
	norm *codec.Normalizer

	mu      sync.Mutex
	workers []*surveyor
}

// NewSurvey returns a Survey of URLs that n has normalized. Close releases it.
func NewSurvey(n *codec.Normalizer, o Options) *Survey { return &Survey{o: o, norm: n} }

// The columns of the rows that a Survey reads.
const (
	surveyURL = iota
	surveyNorm
	surveyTime
	surveyStatus
	surveyFlags
	numSurvey
)

// Fields returns the fields that the codecs must write, in tsv.
func (s *Survey) Fields() []string { return []string{"url", "norm", "time", "status", "flags"} }

// The lists of a report.
const (
	listPages = iota
	listTemplates
	listSites
	listParams
	listCampaigns
	numLists
)

// A surveyor is the part of a Survey that one worker fills.
type surveyor struct {
	s        *Survey
	seen     *tally.Tally // distinct URLs
	room     int64
	lists    [numLists]*tally.Tally
	levels   levels
	calendar calendar
	bins     map[string]*Bin
	bin      *Bin   // the current bin
	period   []byte // name of the current bin
	status   [1000]int64
	flagSets map[string][]codec.Flag

	res       codec.Result
	key       []byte
	url       []byte
	text      []byte
	shape     []byte
	escaped   []byte
	site      []byte
	selector  selector
	campaigns [campaignFields][]byte
}

// A Bin counts the URLs of one minute or hour.
type Bin struct {
	URLs   int64
	Status [6]int64 // by class of the status; 0 for none
	Flags  map[codec.Flag]int64
}

// MaxMinutes is the number of minutes of a log above which a Survey counts by the
// hour.
const MaxMinutes = 36 * 60

// maxHours limits the memory for hours: two years. URLs of other hours count as
// without a time.
const maxHours = 2 * 366 * 24

// maxFlagSets is the number of combinations of flags that a surveyor remembers.
const maxFlagSets = 1 << 10

// NewCodecs returns a function that creates the codec of a worker. inner creates
// codecs that write [Survey.Fields] in tsv.
func (s *Survey) NewCodecs(inner func() engine.Codec) func() engine.Codec {
	return func() engine.Codec {
		share := s.o.share()
		w := &surveyor{
			s: s, seen: tally.New(tally.Options{}), room: share / 2,
			calendar: calendar{per: perMinute, zone: s.o.Zone}, bins: map[string]*Bin{}, flagSets: map[string][]codec.Flag{},
		}
		for i := range w.lists {
			w.lists[i] = tally.New(tally.Options{MaxMemory: max(1, share/10), Dir: s.o.Dir})
		}
		w.turn(nil)
		s.mu.Lock()
		s.workers = append(s.workers, w)
		s.mu.Unlock()
		return newRowCodec(inner(), numSurvey, w.count)
	}
}

// turn sets the current bin.
func (w *surveyor) turn(period []byte) {
	w.period = append(w.period[:0], period...)
	name := string(period)
	w.bin = w.bins[name]
	if w.bin == nil && len(w.bins) > MaxMinutes && w.calendar.per == perMinute {
		w.calendar = calendar{per: PerHour, zone: w.calendar.zone}
		w.bins, name = hourly(w.bins), hourOf(name)
		w.bin = w.bins[name]
	}
	if w.bin == nil && len(w.bins) > maxHours {
		w.bin = w.bins[""]
	}
	if w.bin == nil {
		w.bin = &Bin{Flags: map[codec.Flag]int64{}}
		w.bins[name] = w.bin
	}
}

// hourly returns a bin for each hour, with the sums of its minutes. minutes
// must not be used afterwards.
func hourly(minutes map[string]*Bin) map[string]*Bin {
	hours := map[string]*Bin{}
	for name, b := range minutes {
		merge(hours, hourOf(name), b)
	}
	return hours
}

// hourOf returns the beginning of the hour of a bin.
func hourOf(name string) string {
	if len(name) > minuteEnd {
		return name[:minuteEnd-2] + "00" + name[minuteEnd:]
	}
	return name
}

// merge adds b, which must not be used afterwards, to the bin with a name.
func merge(bins map[string]*Bin, name string, b *Bin) {
	to := bins[name]
	if to == nil {
		bins[name] = b
		return
	}
	to.URLs += b.URLs
	for i, n := range b.Status {
		to.Status[i] += n
	}
	for flag, n := range b.Flags {
		to.Flags[flag] += n
	}
}

// count counts a row.
func (w *surveyor) count(row [][]byte) error {
	if period := w.calendar.period(row[surveyTime]); !bytes.Equal(period, w.period) {
		w.turn(period)
	}
	w.bin.URLs++
	code := 0
	if s := row[surveyStatus]; len(s) == 3 {
		code = int(s[0]-'0')*100 + int(s[1]-'0')*10 + int(s[2]-'0')
	}
	w.status[code]++
	if class := code / 100; class < len(w.bin.Status) {
		w.bin.Status[class]++
	} else {
		w.bin.Status[0]++
	}
	if len(row[surveyFlags]) > 0 {
		for _, f := range w.flagsOf(row[surveyFlags]) {
			w.bin.Flags[f]++
		}
	}
	key := row[surveyNorm]
	if !bytes.HasSuffix(key, row[surveyURL]) { // otherwise the URL is in normal form
		w.key = append(append(append(w.key[:0], row[surveyURL]...), '\t'), key...)
		key = w.key
	}
	if err := w.seen.Add(key, nil, 1); err != nil {
		return err
	}
	if w.room > 0 && w.seen.Memory() > w.room {
		return w.seen.Drain(w.deriveURL)
	}
	return nil
}

// flagsOf returns the flags of a list of names, without relative, which nearly
// every request target of a log has.
func (w *surveyor) flagsOf(names []byte) []codec.Flag {
	if list, known := w.flagSets[string(names)]; known {
		return list
	}
	list := []codec.Flag{}
	for name := range bytes.SplitSeq(names, []byte{','}) {
		if f, err := codec.ParseFlag(string(name)); err == nil && f != codec.FlagRelative {
			list = append(list, f)
		}
	}
	if len(w.flagSets) < maxFlagSets {
		w.flagSets[string(names)] = list
	}
	return list
}

// deriveURL derives everything from a URL that was written g.Count times.
func (w *surveyor) deriveURL(g *tally.Group) error {
	norm := g.Key[bytes.IndexByte(g.Key, '\t')+1:]
	bare := len(norm) > 0 && norm[0] == '/'
	w.url = w.url[:0]
	if bare {
		w.url = append(w.url, bareHost...)
	}
	w.url = tsv.AppendUnescaped(w.url, norm)
	var err error
	if w.text, err = w.s.norm.Append(w.text[:0], w.url, &w.res); err != nil || !w.res.HasKey(codec.LevelPage) {
		return nil
	}
	w.key = w.res.AppendKey(w.key[:0], codec.LevelPage)
	page := w.key
	s := spelling{NumLevels - 2: xxh3.Hash(norm), NumLevels - 1: xxh3.Hash(g.Key)}
	_, s[0] = w.res.HashKey(codec.LevelPage, page).Uint64s()
	for i, lv := range []codec.Level{codec.LevelFetch, codec.LevelEquivalent, codec.LevelSyntax} {
		_, s[1+i] = w.res.Key(lv).Uint64s()
	}
	w.levels.add(&s)
	if bare {
		page = bytes.TrimPrefix(page, []byte("h"))
	}
	if err := w.add(listPages, page, norm, g.Count); err != nil {
		return err
	}
	if host := w.res.Out.Bytes(w.text, codec.Host); !bare && len(host) > 0 {
		site, ok := codec.AppendSite(w.site[:0], host, true)
		if !ok {
			site = append(site, host...)
		}
		w.site = site
		if err := w.add(listSites, site, norm, g.Count); err != nil {
			return err
		}
	}
	if w.res.Out.Has(codec.Query) {
		return w.deriveQuery(g, norm, w.res.Out.Bytes(w.text, codec.Query))
	}
	return nil
}

// add counts n for key in a list, with norm as an example.
func (w *surveyor) add(list int, key, norm []byte, n int64) error {
	w.escaped = tsv.AppendEscaped(w.escaped[:0], key)
	return w.lists[list].Add(w.escaped, norm, n)
}

// derivePage counts the template of a page, without a query, if a segment of the path is
// variable.
func (w *surveyor) derivePage(g *tally.Group) error {
	w.url = tsv.AppendUnescaped(w.url[:0], g.Key)
	page, _, _ := bytes.Cut(w.url, []byte{'?'})
	path := max(0, bytes.IndexByte(page, '/'))
	w.shape = template.Append(append(w.shape[:0], page[:path]...), page[path:])
	if bytes.IndexByte(w.shape, '{') < 0 {
		return nil
	}
	return w.add(listTemplates, w.shape, g.Example, g.Count)
}

// bareHost replaces the unknown host of a URL.
const bareHost = "http://h"

// deriveQuery counts parameters and the campaign.
func (w *surveyor) deriveQuery(g *tally.Group, norm, query []byte) error {
	found := false
	var ranks [params.NumFields]int // rank of the parameter that sets the field, plus 1; 0: no parameter sets it
	err := w.selector.eachParam(query, func(name []byte, p params.Pair) error {
		if f, rank, ok := params.CampaignField(name); ok && (ranks[f] == 0 || rank < ranks[f]-1) {
			found, ranks[f] = true, rank+1
			if f < campaignFields {
				w.campaigns[f] = params.AppendName(w.campaigns[f][:0], p.Value(query))
			}
		}
		return w.lists[listParams].Add(name, norm, g.Count)
	})
	if err != nil || !found {
		return err
	}
	w.escaped = w.escaped[:0]
	for f, v := range w.campaigns {
		if f > 0 {
			w.escaped = append(w.escaped, '\t')
		}
		if ranks[f] > 0 {
			w.escaped = tsv.AppendEscaped(w.escaped, v)
		}
	}
	return w.lists[listCampaigns].Add(w.escaped, norm, g.Count)
}

// campaignFields are source, medium and name, the first fields of a campaign.
const campaignFields = 3

// Close releases memory and files.
func (s *Survey) Close() error {
	var errs []error
	for _, w := range s.workers {
		errs = append(errs, w.seen.Close())
		for _, t := range w.lists {
			errs = append(errs, t.Close())
		}
	}
	return errors.Join(errs...)
}

// A List is a ranking of a report.
type List struct {
	Distinct int64   // number of values
	Top      []Group // the most frequent values
}

// Findings are the results of a Survey.
type Findings struct {
	URLs      int64
	Bins      map[string]*Bin  // bins by their beginning; "" for URLs without a time
	Step      time.Duration    // length of a bin: a minute or, in long logs, an hour
	Status    map[int]int64    // URLs by status; 0 for URLs without a status
	Levels    [NumLevels]int64 // distinct URLs; see LevelNames
	Exact     bool             // Levels are not estimates
	Pages     List             // pages, by the key of level page
	Templates List             // templates of pages, if a segment of the path is variable
	Sites     List             // registrable domains, or hosts that have none
	Params    List             // names of parameters
	Campaigns List             // source, medium and name, separated by tabs
}

// Findings evaluates the survey, with up to n groups in each list. Nothing can be
// counted afterwards.
func (s *Survey) Findings(n int) (*Findings, error) {
	f := &Findings{Bins: map[string]*Bin{}, Step: time.Minute, Status: map[int]int64{}}
	var seen []*tally.Tally
	var derive []func(*tally.Group) error
	for _, w := range s.workers {
		seen, derive = append(seen, w.seen), append(derive, w.deriveURL)
	}
	if err := tally.Join(seen).Drain(derive...); err != nil {
		return nil, err
	}
	var all levels
	var err error
	for _, w := range s.workers {
		all.merge(&w.levels)
		for code, n := range w.status {
			if n > 0 {
				f.Status[code] += n
				f.URLs += n
			}
		}
		if w.calendar.per == PerHour {
			f.Step = time.Hour
		}
		for name, b := range w.bins {
			if b.URLs > 0 {
				merge(f.Bins, name, b)
			}
		}
	}
	if f.Step == time.Hour || len(f.Bins) > MaxMinutes {
		f.Step, f.Bins = time.Hour, hourly(f.Bins)
	}
	f.Levels, f.Exact = all.distinct()
	for i, list := range []*List{&f.Pages, &f.Templates, &f.Sites, &f.Params, &f.Campaigns} {
		if *list, err = s.list(i, n); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// list returns the ranking of a list.
func (s *Survey) list(i, n int) (List, error) {
	var all []*tally.Tally
	for _, w := range s.workers {
		all = append(all, w.lists[i])
	}
	r := &ranking{limit: n}
	err := tally.Merge(all, func(g *tally.Group) error {
		r.offer(g.Key, g)
		if i == listPages {
			return s.workers[0].derivePage(g)
		}
		return nil
	})
	p := r.period("")
	return List{Distinct: p.Groups, Top: p.Top}, err
}

// Span returns the beginning of the first bin and the end of the last bin, and
// whether there is any.
func (f *Findings) Span() (from, to time.Time, ok bool) {
	for name := range f.Bins {
		at, err := time.Parse(time.RFC3339, name)
		if err != nil {
			continue
		}
		if !ok || at.Before(from) {
			from = at
		}
		if !ok || !at.Before(to) {
			to = at.Add(f.Step)
		}
		ok = true
	}
	return from, to, ok
}

// Flags returns the flags of all URLs, the most frequent first.
func (f *Findings) Flags() []codec.Flag {
	sum := map[codec.Flag]int64{}
	for _, b := range f.Bins {
		for flag, n := range b.Flags {
			sum[flag] += n
		}
	}
	return slices.SortedFunc(maps.Keys(sum), func(a, b codec.Flag) int { return cmp.Or(cmp.Compare(sum[b], sum[a]), cmp.Compare(a, b)) })
}
