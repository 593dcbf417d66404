package recordconf

import (
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/ground/errlist"
	"github.com/urlfold/urlfold/internal/record"
)

// TestCheckConditions: a condition must not read a field that no record of the
// format has, unless it tests it. Formats whose records name their own fields
// are not checked.
func TestCheckConditions(t *testing.T) {
	for _, test := range []struct{ format, where, lacks string }{
		{"lines", `host == "a" && line > 1`, ""},
		{"lines", `status == 200`, "status"},
		{"lines", `has(status) && status == 200`, ""},
		{"lines", `vhost == "a" || agent == "b"`, "vhost agent"},
		{"lines", `method == "GET"`, "method"},
		{"lines", `!(status != 200)`, "status"},
		{"html", `method in ["GET"]`, "method"},
		{"clf", `method == "GET"`, ""},
		{`"%r" %>s`, `method == "GET"`, ""},
		{`%U %>s`, `method == "GET"`, "method"},
		{"aws-s3", `method == "GET"`, ""},
		{"text", `time > "2026-01-01"`, "time"},
		{"clf", `status == 200 && bytes > 1 && client == "a" && time > "2026-01-01"`, ""},
		{"clf", `agent == "a" && referer == "b"`, ""}, // a line can have more fields than the format
		{"clf", `request_id == "a"`, "request_id"},
		{"combined", `agent == "a" && referer == "b"`, ""},
		{"combined", `duration > 1`, "duration"},
		{"jsonl", `status == 200`, ""},
		{"csv", `status == 200`, "status"}, // without names of columns
		{"syslog+combined", `status == 200 && duration > 1`, "duration"},
		{"docker+combined", `status == 200 && duration > 1`, "duration"},
		{"syslog+jsonl", `duration > 1`, ""},
		{"cdx", `status == 200 && time > "2026-01-01"`, ""},
		{"cdx", `bytes > 1`, "bytes"},
		{"warc", `status == 200`, "status"},
		{"w3c", `request_id == "a"`, ""},
		{"caddy", `request_id == "a"`, ""},
		{"azure-front-door", `request_id == "a"`, ""},
		{"aws-alb", `status == 200 && duration > 1 && request_id == "a"`, ""},
		{"aws-alb", `referer == "a"`, "referer"},
		{`$remote_addr "$request" $status`, `status == 200 && client == "a"`, ""},
		{`$remote_addr "$request" $status`, `bytes > 1`, "bytes"},
	} {
		f, s := config.Format{From: test.format}, config.Codec{Render: config.Render{Form: "jsonl"}}
		if strings.HasSuffix(test.format, "jsonl") || test.format == "csv" {
			f.URLField = "1"
		}
		c := record.Config{Normalizer: Probe()}
		err := Fill(&c, &f, &s, test.where, nil)
		if err != nil {
			t.Fatal(err)
		}
		job, err := record.New(c)
		if err != nil {
			t.Fatalf("%s: %v", test.format, err)
		}
		err = CheckConditions([]*record.Job{job}, []string{test.format}, &c, nil, "map %s")
		var lacks []string
		for _, e := range errlist.Flatten(err) {
			_, field, _ := strings.Cut(e.Error(), "never have the field ")
			field, _, _ = strings.Cut(field, ", so")
			lacks = append(lacks, field)
		}
		slices.Sort(lacks)
		if want := strings.Fields(test.lacks); !slices.Equal(slices.Sorted(slices.Values(want)), lacks) {
			t.Errorf("%s, %s: lacks %v, want %v: %v", test.format, test.where, lacks, want, err)
		}
	}
}
