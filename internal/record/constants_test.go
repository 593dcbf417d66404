package record

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// TestConstants checks the fields that name the editions of the data, in each
// rendering, also for records without a URL and records that are rejected.
func TestConstants(t *testing.T) {
	fields := []string{"profile", "key_id", "params_edition", "psl_edition", "unicode", "spec_date"}
	n := newNormalizer(t, "analytics")
	lists := n.PolicyVersions(codec.LevelFetch)
	if lists == "" || codec.SiteListVersion() == "" {
		t.Fatal("no editions")
	}
	want := strings.Join([]string{"analytics", n.KeyFunction(codec.LevelFetch), lists, codec.SiteListVersion(), codec.UnicodeVersion, codec.SpecDate}, "\t")
	in := "http://h/\n/\x00[\n"
	c := Config{Format: "lines", Normalizer: n, Level: codec.LevelFetch, Render: RenderTSV, Fields: append(fields, "error")}
	got, _, _ := runJob(t, newJob(t, c), []byte(in))
	for line := range strings.Lines(string(got)) {
		if !strings.HasPrefix(line, want+"\t") {
			t.Errorf("got %q, want %q", line, want)
		}
	}
	if strings.Count(string(got), "\n") != 2 {
		t.Errorf("got %q", got)
	}
	got, _, _ = runJob(t, newJob(t, Config{Format: "lines", Normalizer: n, Level: codec.LevelFetch, Render: RenderTSV, Fields: append(fields, "error"), MaxRecord: 5}), []byte(in))
	if !strings.HasPrefix(string(got), want+"\trecord-too-long\n") {
		t.Errorf("got %q, want %q", got, want)
	}
	check(t, Config{Format: "lines", Normalizer: n, Level: codec.LevelEquivalent, Render: RenderJSONL, Fields: fields[:3]}, "http://h/\n", `{"profile":"analytics","key_id":"`+n.KeyFunction(codec.LevelEquivalent)+`"}`+"\n")
	check(t, Config{Format: "jsonl", URLField: "u", Normalizer: n, Level: codec.LevelEquivalent, Render: RenderExtend, Extend: []Extension{{Name: "id", Field: "key_id"}}}, `{"v":1}`+"\n", `{"v":1}`+"\n")
	check(t, Config{Format: "jsonl", URLField: "u", Normalizer: n, Level: codec.LevelEquivalent, Render: RenderExtend, Extend: []Extension{{Name: "id", Field: "key_id"}}}, `{"u":null}`+"\n", `{"u":null,"id":"`+n.KeyFunction(codec.LevelEquivalent)+`"}`+"\n")
}
