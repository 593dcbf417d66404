package record_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
)

const combined = `1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a/../b\x22%7e HTTP/1.1" 200 17 "HTTP://Example.COM:80" "x\"y"` + "\n" +
	`1.2.3.4 - - [10/Oct/2000:13:55:37 -0700] "OPTIONS * HTTP/1.1" 204 0 "-" "-"` + "\n" +
	"\n" +
	`not a log line` + "\n" +
	`1.2.3.4 - - [10/Oct/2000:13:55:38 -0700] "GET http://[x/ HTTP/1.1" 400 5 "-" "-"` + "\n"

// dump returns what a Reader finds, a line for each record.
func dump(t *testing.T, r *record.Reader, fields ...record.Field) (lines []string, err error) {
	t.Helper()
	for rec, err := range r.Records() {
		if err != nil {
			return lines, err
		}
		var line strings.Builder
		fmt.Fprintf(&line, "%d@%d", rec.Line(), rec.Offset())
		if rec.Blank() {
			line.WriteString(" blank")
		}
		if why := rec.Reason(); why != "" {
			line.WriteString(" " + string(why))
		}
		for _, f := range fields {
			if v, ok := rec.Field(f); ok {
				fmt.Fprintf(&line, " %v=%s", f, v)
			}
		}
		for u := range rec.URLs() {
			fmt.Fprintf(&line, " <%s>", cmp.Or(string(u.Norm()), string(u.Reason())))
		}
		lines = append(lines, line.String())
	}
	return lines, nil
}

func check(t *testing.T, got []string, err error, want ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestReader(t *testing.T) {
	want := []string{
		`1@0 status=200 agent=x"y </b%22~> <http://example.com/>`,
		`2@109 status=204`,
		`3@185 blank`,
		`4@186 unparsed`,
		`5@201 status=400 <host-invalid>`,
	}
	for name, src := range map[string]io.Reader{
		"whole": strings.NewReader(combined), "bytes": iotest.OneByteReader(strings.NewReader(combined)), "error with data": iotest.DataErrReader(strings.NewReader(combined)),
	} {
		t.Run(name, func(t *testing.T) {
			r := record.NewReader(src, &record.Job{Target: record.TargetAll})
			got, err := dump(t, r, record.FieldStatus, record.FieldAgent)
			check(t, got, err, want...)
			if g := r.Guess(); g != (record.Guess{Format: "combined", Records: 4, Fit: 3}) {
				t.Errorf("guess %+v", g)
			}
		})
	}
}

// TestURL uses the URLs of a record in another order than they come in.
func TestURL(t *testing.T) {
	r := record.NewReader(strings.NewReader(combined), &record.Job{Format: "combined", Target: record.TargetAll, Level: codec.LevelEquivalent})
	for rec, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		for u := range rec.URLs() {
			first, _ := rec.Field(record.FieldNorm)
			if string(first) != "/b%22~" {
				t.Errorf("the first URL is %q", first)
			}
			start, end := u.Range()
			source, target := string(u.Source()), ""
			if v, ok := u.Field(record.FieldTarget); ok {
				target = string(v)
			}
			key, ok := u.Key(codec.LevelEquivalent)
			text, _ := u.Field(record.FieldKey)
			if !ok || key.String() != string(text) {
				t.Errorf("%s: key %v, %v and field %s", target, key, ok, text)
			}
			res, norm := u.Result()
			switch target {
			case "request":
				if res != nil || source != `/a/../b"%7e` || string(rec.Bytes()[start:end]) != `/a/../b\x22%7e` {
					t.Errorf("%q, %v", source, res)
				}
			case "referer":
				if res == nil || string(norm) != "http://example.com/" || source != "HTTP://Example.COM:80" {
					t.Errorf("%q, %q", source, norm)
				}
			default:
				t.Errorf("target %q", target)
			}
		}
		at, ok := rec.Time()
		if want := time.Date(2000, 10, 10, 20, 55, 36, 0, time.UTC); !ok || !at.Equal(want) {
			t.Errorf("time %v, %v", at, ok)
		}
		break
	}
}

// TestAppend compares what a Reader writes with the records: each is written once.
func TestAppend(t *testing.T) {
	r := record.NewReader(strings.NewReader(combined), &record.Job{Target: record.TargetAll, Fields: []record.Field{record.FieldNorm, record.FieldError}})
	var text, objects []byte
	for rec, err := range r.Records() {
		if err == nil {
			if text, err = rec.AppendRewrite(text); err == nil {
				objects, err = rec.AppendJSON(objects)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Replace(strings.Replace(combined, `/a/../b\x22%7e`, `/b%22~`, 1), "HTTP://Example.COM:80", "http://example.com/", 1)
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	const wantObjects = `{"norm":"/b%22~"}
{"norm":"http://example.com/"}
{"error":"unparsed","at":0,"record":"not a log line","line":4}
{"error":"host-invalid","at":9}
`
	if string(objects) != wantObjects {
		t.Errorf("got\n%s\nwant\n%s", objects, wantObjects)
	}
}

// TestHeads reads formats whose records depend on earlier ones.
func TestHeads(t *testing.T) {
	t.Run("csv", func(t *testing.T) {
		const text = "id,url\n1,\"HTTP://A/\n\"\n2,b\n"
		got, err := dump(t, record.NewReader(strings.NewReader(text), &record.Job{Format: "csv", URLField: "url", Base: "http://h/"}), record.FieldLine)
		check(t, got, err, "1@0 blank line=1", "2@7 line=2 <http://a/>", "4@22 line=4 <http://h/b>")
	})
	t.Run("w3c", func(t *testing.T) {
		const text = "#Fields: date time cs-uri-stem sc-status\n2000-10-10 13:55:36 /%7ea 200\n#Fields: sc-status cs-uri-stem\n404 /b/../c\n"
		r := record.NewReader(strings.NewReader(text), nil)
		got, err := dump(t, r, record.FieldTime, record.FieldStatus)
		check(t, got, err, "1@0 blank", "2@41 time=2000-10-10T13:55:36Z status=200 </~a>", "3@71 blank", "4@102 status=404 </c>")
		// Only the last record is written. It has the directive that the
		// reader has read before.
		r = record.NewReader(strings.NewReader(text), nil)
		var out []byte
		for rec, err := range r.Records() {
			if err == nil && rec.Line() == 4 {
				out, err = rec.AppendRewrite(out)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if string(out) != "404 /c\n" {
			t.Errorf("wrote %q", out)
		}
	})
	for name, text := range map[string]string{"missing column": "id,link\n1,http://a/\n", "no rows": "id,link", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			got, err := dump(t, record.NewReader(strings.NewReader(text), &record.Job{Format: "csv", URLField: "url"}))
			if name == "empty" {
				check(t, got, err)
			} else if err == nil || len(got) > 0 || !strings.Contains(err.Error(), `record.Job.URLField: `) {
				t.Errorf("%q, error %v", got, err)
			}
		})
	}
}

func TestTooLong(t *testing.T) {
	long := "http://h/" + strings.Repeat("x", 200)
	for name, src := range map[string]string{
		"first": long + "\nhttp://a/\n", "last": "http://a/\n" + long, "between": "http://a/\n" + long + "\nhttp://b/\n",
	} {
		t.Run(name, func(t *testing.T) {
			for _, read := range []func(io.Reader) io.Reader{iotest.OneByteReader, func(r io.Reader) io.Reader { return r }} {
				r := record.NewReader(read(strings.NewReader(src)), &record.Job{Format: "lines", MaxRecord: 100})
				var got []string
				for rec, err := range r.Records() {
					if err != nil {
						t.Fatal(err)
					}
					text, err := rec.AppendRewrite(nil)
					if (rec.Reason() == record.TooLong) != (err != nil) || len(rec.Bytes()) > 100 {
						t.Errorf("%s, %v", text, err)
					}
					object, _ := rec.AppendJSON(nil)
					got = append(got, fmt.Sprintf("%d@%d %s %.26s", rec.Line(), rec.Offset(), rec.Reason(), object))
				}
				want := map[string][]string{
					"first":   {`1@0 record-too-long {"error":"record-too-long"`, `2@210  {"url":"http://a/","norm":`},
					"last":    {`1@0  {"url":"http://a/","norm":`, `2@10 record-too-long {"error":"record-too-long"`},
					"between": {`1@0  {"url":"http://a/","norm":`, `2@10 record-too-long {"error":"record-too-long"`, `3@220  {"url":"http://b/","norm":`},
				}[name]
				check(t, got, nil, want...)
			}
		})
	}
}

// TestReadError delivers the whole records before a failure, and not an incomplete one.
func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	for name, src := range map[string]io.Reader{
		"after":  io.MultiReader(strings.NewReader("http://a/\nhttp://b"), iotest.ErrReader(broken)),
		"beside": &failing{text: "http://a/\nhttp://b", err: broken},
	} {
		r := record.NewReader(src, nil)
		got, err := dump(t, r)
		if !errors.Is(err, broken) {
			t.Errorf("%s: error %v", name, err)
		}
		check(t, got, nil, "1@0 <http://a/>")
		if _, again := dump(t, r); !errors.Is(again, broken) {
			t.Errorf("%s: a second loop ends with %v", name, again)
		}
	}
}

// failing returns its text and the error at once.
type failing struct {
	text string
	err  error
}

func (f *failing) Read(p []byte) (int, error) { return copy(p, f.text), f.err }

// TestBreak goes on after a loop that has been left.
func TestBreak(t *testing.T) {
	r := record.NewReader(strings.NewReader("http://a/\nhttp://b/\n"), nil)
	for range r.Records() {
		break
	}
	got, err := dump(t, r)
	check(t, got, err, "2@10 <http://b/>")
}

func TestJobErrors(t *testing.T) {
	for name, job := range map[string]record.Job{
		`record.Job.Format: unknown format "combind"`: {Format: "combind"},
		`record.Job.Base: `:                           {Format: "lines", Base: "x"},
		`record.Job.URLField: `:                       {Format: "csv"},
		`the format avro is for single messages`:      {Format: "avro", URLField: "a"},
		`cannot detect the record format`:             {},
		`format "lines": duplicate name`:              {Formats: []record.Format{bar("lines")}},
		`format "a": duplicate name`:                  {Formats: []record.Format{bar("a"), bar("a")}},
		`format "x y": invalid name`:                  {Formats: []record.Format{bar("x y")}},
		`format "Formats[0]": invalid name`:           {Formats: []record.Format{bar("")}},
	} {
		_, err := dump(t, record.NewReader(strings.NewReader("\x01\x02\n"), &job))
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestValues: a value of Field stays as it is until the next record.
func TestValues(t *testing.T) {
	line := `192.0.2.7 - - [29/Nov/2026:05:55:00 +0000] "GET /a/../%7eb?c=d HTTP/1.1" 200 5 "http://h/r" "Agent \x22x\x22"` + "\n"
	r := record.NewReader(strings.NewReader(line), &record.Job{Format: "combined", Target: record.TargetAll, Base: "http://example.com/"})
	for rec, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		var values [][]byte
		var texts []string
		keep := func(f record.Field, v []byte, ok bool) {
			if ok {
				values, texts = append(values, v), append(texts, string(v))
			}
		}
		for range 3 {
			for f := range record.Field(255) {
				if _, err := record.ParseField(f.String()); err != nil {
					continue
				}
				v, ok := rec.Field(f)
				keep(f, v, ok)
				for u := range rec.URLs() {
					v, ok := u.Field(f)
					keep(f, v, ok)
				}
			}
		}
		if len(values) < 60 {
			t.Errorf("only %d values", len(values))
		}
		for i, v := range values {
			if string(v) != texts[i] {
				t.Errorf("a value was %q and is %q", texts[i], v)
			}
		}
	}
}

// TestNoAllocs reads records with escapes, all their URLs and several fields.
func TestNoAllocs(t *testing.T) {
	const runs = 200
	text := []byte(strings.Repeat(combined, 2*runs))
	r := record.NewReader(bytes.NewReader(text), &record.Job{Format: "combined", Target: record.TargetAll})
	var out []byte
	var sum int
	one := func() {
		n := 0
		for rec, err := range r.Records() {
			if err != nil {
				t.Fatal(err)
			}
			agent, _ := rec.Field(record.FieldAgent)
			sum += len(agent)
			at, _ := rec.Time()
			sum += at.Second()
			for u := range rec.URLs() {
				if _, ok := u.Key(codec.LevelFetch); ok {
					sum += len(u.Norm())
				}
			}
			out, err = rec.AppendRewrite(out[:0])
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == 5 {
				break
			}
		}
	}
	for range runs / 2 {
		one() // grows the buffers
	}
	if n := testing.AllocsPerRun(runs, one); n > 2 { // the two that Records makes for a loop of five records
		t.Errorf("%v allocations for five records", n)
	}
}

// warc returns a WARC record about a URL, with a block of n bytes.
func warc(url string, n int) string {
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", url, n, strings.Repeat("x\n", n/2))
}

// TestLengths reads records that state their length: intact, too long, damaged and cut off.
func TestLengths(t *testing.T) {
	first, long, last := warc("http://a/%7e", 20), warc("http://long/", 4000), warc("http://b/", 40)
	damaged := strings.Replace(warc("http://c/", 30), "Content-Length: 30", "Content-Length: 3x", 1)
	text := first + long + last + damaged + first
	want := []string{
		"1@0 <http://a/~>",
		fmt.Sprintf("%d@%d record-too-long", 1+strings.Count(first, "\n"), len(first)),
		fmt.Sprintf("%d@%d <http://b/>", 1+strings.Count(first+long, "\n"), len(first+long)),
		fmt.Sprintf("%d@%d unparsed", 1+strings.Count(first+long+last, "\n"), len(first+long+last)),
		fmt.Sprintf("%d@%d <http://a/~>", 1+strings.Count(first+long+last+damaged, "\n"), len(first+long+last+damaged)),
	}
	for name, src := range map[string]io.Reader{"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text))} {
		t.Run(name, func(t *testing.T) {
			got, err := dump(t, record.NewReader(src, &record.Job{Format: "warc", MaxRecord: 1000}))
			check(t, got, err, want...)
		})
	}
	t.Run("cut", func(t *testing.T) {
		got, err := dump(t, record.NewReader(strings.NewReader(first+last[:len(last)-10]), nil))
		check(t, got, err, want[0], fmt.Sprintf("%d@%d unparsed", 1+strings.Count(first, "\n"), len(first)))
	})
}

// TestDocuments reads the links of a page, each with its own position.
func TestDocuments(t *testing.T) {
	const page = "<!doctype html>\n<base href=http://h/>\n<p>\n<a href=%7ea>a</a> <a\nhref=b>b</a>\n"
	var got []string
	r := record.NewReader(strings.NewReader(page), nil)
	for rec, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		for u := range rec.URLs() {
			line, _ := u.Field(record.FieldLine)
			got = append(got, fmt.Sprintf("%s %s", line, u.Norm()))
			if _, err := rec.AppendRewrite(nil); err == nil {
				t.Error("a page was written back")
			}
		}
	}
	check(t, got, nil, "4 http://h/~a", "5 http://h/b")
}
