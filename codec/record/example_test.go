package record_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/urlfold/urlfold/codec/record"
)

const accessLog = `1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a/../b\x22%7e HTTP/1.1" 200 1 "HTTP://Example.COM:80" "x"` + "\n"

// The URL, the status and the time of each record of a log, whatever its format.
func ExampleReader() {
	r := record.NewReader(strings.NewReader(accessLog), nil)
	for rec, err := range r.Records() {
		if err != nil {
			fmt.Println(err)
			return
		}
		url, ok := rec.Field(record.FieldNorm)
		if !ok {
			continue // blank, unparsed, or without a URL
		}
		fmt.Printf("%s ", url)
		status, _ := rec.Field(record.FieldStatus)
		at, _ := rec.Time()
		fmt.Printf("%s %s\n", status, at.Format(time.RFC3339))
	}
	// Output:
	// /b%22~ 200 2000-10-10T20:55:36Z
}

// All URLs of a record, and the record with their normal forms.
func ExampleRecord_AppendRewrite() {
	r := record.NewReader(strings.NewReader(accessLog), &record.Job{Format: "combined", Target: record.TargetAll})
	var out []byte
	for rec, err := range r.Records() {
		if err != nil {
			fmt.Println(err)
			return
		}
		for u := range rec.URLs() {
			fmt.Printf("%s -> %s\n", u.Source(), u.Norm())
		}
		if out, err = rec.AppendRewrite(out[:0]); err != nil {
			fmt.Println(err) // the format cannot be written back
			return
		}
		fmt.Printf("%s", out)
	}
	// Output:
	// /a/../b"%7e -> /b%22~
	// HTTP://Example.COM:80 -> http://example.com/
	// 1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /b%22~ HTTP/1.1" 200 1 "http://example.com/" "x"
}
