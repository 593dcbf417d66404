package record_test

import (
	"fmt"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
)

func ExampleWorker_Append() {
	profile, _ := codec.Lookup("rfc3986-scheme")
	normalizer, err := codec.New(profile)
	if err != nil {
		fmt.Println(err)
		return
	}
	job, err := record.New(record.Config{Format: "combined", Target: record.TargetAll, Normalizer: normalizer})
	if err != nil {
		fmt.Println(err)
		return
	}
	line := `1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a/../b\x22%7e HTTP/1.1" 200 1 "HTTP://Example.COM:80" "x"`
	var stats record.Stats
	out, _ := job.NewWorker().Append(nil, nil, []byte(line), record.Position{Line: 1}, &stats)
	fmt.Printf("%s\n%d URLs, %d changed\n", out, stats.URLs, stats.Changed)
	// Output:
	// 1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /b%22~ HTTP/1.1" 200 1 "http://example.com/" "x"
	// 2 URLs, 2 changed
}
