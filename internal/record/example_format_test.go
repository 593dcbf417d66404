package record_test

import (
	"bytes"
	"fmt"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
)

// barFormat is a custom format: time|status|URL, with "#7C" for a bar in the
// URL.
type barFormat struct{ record.LineFraming }

func (barFormat) Name() string { return "bar" }

func (b barFormat) Detect(s *record.Sample) record.Fit {
	fit := record.Fit{Certainty: 95}
	for _, rec := range s.Records {
		if bytes.Count(rec, []byte("|")) == 2 {
			fit.Records++
		}
	}
	return fit
}

func (b barFormat) Open(*record.Config) (record.Reader, error) { return b, nil }

func (b barFormat) Locator() record.Locator { return b }

func (barFormat) Locate(f *record.Found, rec []byte, _ *record.Position) (record.Reason, int) {
	if rec[0] == '#' {
		f.PassThrough()
		return 0, 0
	}
	start := bytes.LastIndexByte(rec, '|') + 1
	if start == 0 {
		return record.Unparsed, len(rec)
	}
	f.AddURL(start, len(rec), bars)
	return 0, 0
}

var bars = &record.Dialect{
	Mark: '#',
	Decode: func(dst, s []byte) ([]byte, int) {
		if bytes.HasPrefix(s, []byte("#7C")) {
			return append(dst, '|'), 3
		}
		return append(dst, '#'), 1
	},
	Encode: func(dst, text []byte, _ byte) []byte {
		return append(dst, bytes.ReplaceAll(text, []byte("|"), []byte("#7C"))...)
	},
}

// A format of another package is passed in Config.Formats and to Detect.
func ExampleFormat() {
	profile, _ := codec.Lookup("equiv")
	normalizer, err := codec.New(profile)
	if err != nil {
		fmt.Println(err)
		return
	}
	const log = "# time|status|url\n12:00|200|HTTP://Example.com/%7ea#7Cb\nno bar\n"
	guess, _ := record.Detect([]byte(log), barFormat{})
	job, err := record.New(record.Config{Format: guess.Format, Formats: []record.Format{barFormat{}}, Normalizer: normalizer})
	if err != nil {
		fmt.Println(err)
		return
	}
	var stats record.Stats
	var out []byte
	w := job.NewWorker()
	for in := []byte(log); len(in) > 0; {
		n := w.Next(in)
		out, _ = w.Append(out, nil, in[:n], record.Position{}, &stats)
		in = in[n:]
	}
	fmt.Print(string(out))
	fmt.Println(guess.Format, guess.Fit, stats.URLs, stats.Rejects[record.Unparsed])
	// Output:
	// # time|status|url
	// 12:00|200|http://example.com/~a#7Cb
	// no bar
	// bar 2 1 1
}
