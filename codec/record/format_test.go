package record_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/record"
)

// bar returns a format of lines with a bar before the URL.
func bar(name string) record.Format {
	return record.Format{
		Name: name, Certainty: 99,
		Detect: func(s *record.Sample) (n int) {
			for _, rec := range s.Records {
				n += bytes.Count(rec, []byte("|"))
			}
			return n
		},
		Open: func(*record.Config) (*record.Framing, func() record.Locator, error) {
			return nil, func() record.Locator { return afterBar }, nil
		},
	}
}

// locate is a Locator in the form of a function.
type locate func(f *record.Found, rec []byte) (record.Reason, int)

func (l locate) Locate(f *record.Found, rec []byte) (record.Reason, int) { return l(f, rec) }

var afterBar = locate(func(f *record.Found, rec []byte) (record.Reason, int) {
	at := bytes.IndexByte(rec, '|')
	if at < 0 {
		return record.Unparsed, len(rec)
	}
	f.AddURL(at+1, len(rec), nil)
	return "", 0
})

// withLocator returns the format bar with another Locator.
func withLocator(l locate) record.Format {
	f := bar("bar")
	f.Open = func(*record.Config) (*record.Framing, func() record.Locator, error) {
		return nil, func() record.Locator { return l }, nil
	}
	return f
}

func TestCustomFormat(t *testing.T) {
	r := record.NewReader(strings.NewReader("a|HTTP://H/%7e\nno\n"), &record.Job{Formats: []record.Format{bar("bar")}})
	got, err := dump(t, r)
	check(t, got, err, "1@0 <http://h/~>", "2@15 unparsed")
	if r.Guess() != (record.Guess{Format: "bar", Records: 2, Fit: 1}) {
		t.Errorf("guess %+v", r.Guess())
	}
}

// TestFormatFields states the fields of a record, and the header of the stream.
func TestFormatFields(t *testing.T) {
	f := withLocator(nil)
	f.Open = func(*record.Config) (*record.Framing, func() record.Locator, error) {
		// Records end with ';', and the header with '!'.
		framing := &record.Framing{
			Next: func(block []byte) int { return bytes.IndexAny(block, ";!") + 1 },
			Head: func(block []byte) int { return bytes.IndexByte(block, '!') + 1 },
		}
		return framing, func() record.Locator {
			return locate(func(f *record.Found, rec []byte) (record.Reason, int) {
				if rec[len(rec)-1] == '!' {
					f.PassThrough()
					return "", 0
				}
				at := 0
				for i, name := range strings.Split(strings.Trim(string(f.Head()), "!"), ",") {
					end := at + len(strings.Split(strings.Trim(string(rec), ";\n"), ",")[i])
					if rec[at] == '\n' {
						at, end = at+1, end+1
					}
					if name == "target" {
						f.AddTarget(at, end, nil)
					} else if field, err := record.ParseField(name); err == nil {
						f.Set(field, at, end, nil)
					}
					at = end + 1
				}
				return "", 0
			})
		}, nil
	}
	const text = "host,status,time,target!a.example,200,2000-10-10T13:55:36Z,/%7e;\nb.example,404,-,/x;"
	got, err := dump(t, record.NewReader(strings.NewReader(text), &record.Job{Format: "bar", Formats: []record.Format{f}}), record.FieldStatus, record.FieldTime)
	check(t, got, err, "1@0 blank", "1@24 status=200 time=2000-10-10T13:55:36Z <http://a.example/~>", "1@64 status=404 <http://b.example/x>")
}

// TestFormatDefinition refuses formats that cannot work, when the program begins.
func TestFormatDefinition(t *testing.T) {
	for want, change := range map[string]func(f *record.Format){
		`format "jsonl": duplicate name`:                func(f *record.Format) { f.Name = "jsonl" },
		`format "bar": invalid Certainty 250`:           func(f *record.Format) { f.Certainty = 250 },
		`format "bar": invalid Certainty 0`:             func(f *record.Format) { f.Certainty = 0 },
		`format "bar": missing function Open`:           func(f *record.Format) { f.Open = nil },
		`format "a+b": invalid name: must be ASCII let`: func(f *record.Format) { f.Name = "a+b" },
	} {
		f := bar("bar")
		change(&f)
		if _, err := record.Detect([]byte("a|http://h/\n"), f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	if g, err := record.Detect([]byte("a|http://h/|\n"), bar("bar")); err != nil || g.Fit != 1 {
		t.Errorf("%+v, %v: more records fit than there are", g, err)
	}
}

// TestFormatOptions refuses what a format does not use, whatever it is.
func TestFormatOptions(t *testing.T) {
	jobs := map[string]record.Job{
		"URLField": {URLField: "x"}, "BaseField": {BaseField: "x"}, "Dialect": {Dialect: record.DialectNginx}, "Target": {Target: record.TargetReferer},
		"Base": {Base: "http://{x}/"}, "Quote": {Quote: '\''}, "NoHeader": {NoHeader: true},
	}
	for name, job := range jobs {
		job.Format, job.Formats = "bar", []record.Format{bar("bar")}
		_, err := dump(t, record.NewReader(strings.NewReader("a|http://h/\n"), &job))
		if err == nil || !strings.Contains(err.Error(), "record.Job."+name+": ") || !strings.Contains(err.Error(), "bar") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for name, f := range map[string]record.Format{
		"URLField": {UsesURLField: true}, "BaseField": {UsesBaseField: true}, "Dialect": {UsesDialect: true}, "Target": {UsesTarget: true},
	} {
		job := jobs[name]
		f.Name = "bar"
		f.Open = func(c *record.Config) (*record.Framing, func() record.Locator, error) {
			if c.Name != "bar" || c.URLField != job.URLField || c.BaseField != job.BaseField || c.Dialect != job.Dialect || c.Target != job.Target {
				t.Errorf("%s: got %+v", name, c)
			}
			return nil, func() record.Locator { return afterBar }, nil
		}
		job.Format, job.Formats = "bar", []record.Format{f}
		if _, err := dump(t, record.NewReader(strings.NewReader("a|http://h/\n"), &job)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFoundTargets ignores what the job does not want.
func TestFoundTargets(t *testing.T) {
	both := withLocator(func(f *record.Found, rec []byte) (record.Reason, int) {
		space := bytes.IndexByte(rec, ' ')
		f.AddTarget(0, space, nil)
		f.AddReferer(space+1, len(rec), nil)
		return "", 0
	})
	both.UsesTarget = true
	for target, want := range map[record.Target]string{
		record.TargetRequest: "1@0 </a>", record.TargetReferer: "1@0 <http://r/>", record.TargetAll: "1@0 </a> <http://r/>",
	} {
		got, err := dump(t, record.NewReader(strings.NewReader("/a http://r/"), &record.Job{Format: "bar", Formats: []record.Format{both}, Target: target}))
		check(t, got, err, want)
	}
}

// TestFoundBugs ends the run with an error that names the format and the call, and does not
// panic, whatever a Locator adds.
func TestFoundBugs(t *testing.T) {
	for want, l := range map[string]locate{
		"AddURL(5, 90): not a range of the record, which has 12 bytes": func(f *record.Found, _ []byte) (record.Reason, int) {
			f.AddURL(5, 90, nil)
			return "", 0
		},
		"AddURL(9, 4): not a range": func(f *record.Found, _ []byte) (record.Reason, int) { f.AddURL(9, 4, nil); return "", 0 },
		"AddURL(-1, 4): not a range": func(f *record.Found, _ []byte) (record.Reason, int) {
			f.AddURL(-1, 4, nil)
			return "", 0
		},
		"AddURL(3, 8): overlaps or precedes a URL that ends at 5": func(f *record.Found, _ []byte) (record.Reason, int) {
			f.AddURL(0, 5, nil)
			f.AddURL(3, 8, nil)
			return "", 0
		},
		"AddReferer(0, 2): overlaps or precedes": func(f *record.Found, _ []byte) (record.Reason, int) {
			f.AddTarget(4, 8, nil)
			f.AddReferer(0, 2, nil)
			return "", 0
		},
		"SetBase(0, 13): not a range": func(f *record.Found, _ []byte) (record.Reason, int) {
			f.SetBase(0, 13, nil)
			return "", 0
		},
		"Set(norm): records cannot state this field": func(f *record.Found, _ []byte) (record.Reason, int) {
			f.Set(record.FieldNorm, 0, 2, nil)
			return "", 0
		},
		"Locate returned the offset 40":  func(*record.Found, []byte) (record.Reason, int) { return record.Unparsed, 40 },
		`Locate returned the reason "x"`: func(*record.Found, []byte) (record.Reason, int) { return "x", 0 },
	} {
		r := record.NewReader(strings.NewReader("a|http://h/b\n"), &record.Job{Format: "bar", Formats: []record.Format{withLocator(l)}})
		_, err := dump(t, r)
		if err == nil || !strings.Contains(err.Error(), "BUG: format bar: "+want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

// TestFramingRange treats a record end outside of the block as none.
func TestFramingRange(t *testing.T) {
	for _, n := range []int{-1, 1000} {
		f := bar("bar")
		f.Open = func(*record.Config) (*record.Framing, func() record.Locator, error) {
			return &record.Framing{Next: func([]byte) int { return n }, Head: func([]byte) int { return n }}, func() record.Locator { return afterBar }, nil
		}
		got, err := dump(t, record.NewReader(strings.NewReader("a|http://h/\n"), &record.Job{Format: "bar", Formats: []record.Format{f}}))
		check(t, got, err, "1@0 <http://h/>")
	}
}

// bars are the escapes of a URL in which "#7C" is a bar.
var bars = record.NewEscaping('#',
	func(dst, s []byte) ([]byte, int) {
		if bytes.HasPrefix(s, []byte("#7C")) {
			return append(dst, '|'), 3
		}
		return append(dst, '#'), 1
	},
	func(dst, text []byte, _ byte) []byte {
		return append(dst, bytes.ReplaceAll(text, []byte("|"), []byte("#7C"))...)
	})

// A format of your own has a name, a function that recognizes it, and a Locator that finds
// the URL of a record: here of lines such as time|status|URL.
func ExampleFormat() {
	bar := record.Format{
		Name: "bar",
		Detect: func(s *record.Sample) (n int) {
			for _, rec := range s.Records {
				if bytes.Count(rec, []byte("|")) == 2 {
					n++
				}
			}
			return n
		},
		Certainty: 95,
		Open: func(*record.Config) (*record.Framing, func() record.Locator, error) {
			return nil, func() record.Locator { return barLocator{} }, nil
		},
	}
	const log = "# time|status|url\n12:00|200|HTTP://Example.com/%7ea#7Cb\nno bar\n"
	r := record.NewReader(strings.NewReader(log), &record.Job{Formats: []record.Format{bar}})
	var out []byte
	for rec, err := range r.Records() {
		if err == nil {
			out, err = rec.AppendRewrite(out)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Print(string(out))
	fmt.Println(r.Guess().Format, r.Guess().Fit)
	// Output:
	// # time|status|url
	// 12:00|200|http://example.com/~a#7Cb
	// no bar
	// bar 2
}

// barLocator has no state.
type barLocator struct{}

func (barLocator) Locate(f *record.Found, rec []byte) (record.Reason, int) {
	if rec[0] == '#' {
		f.PassThrough()
		return "", 0
	}
	first, last := bytes.IndexByte(rec, '|'), bytes.LastIndexByte(rec, '|')
	if first == last {
		return record.Unparsed, len(rec)
	}
	f.Set(record.FieldStatus, first+1, last, nil)
	f.AddURL(last+1, len(rec), bars)
	return "", 0
}
