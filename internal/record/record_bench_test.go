package record

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// benchLine is a typical record of 240 bytes.
const benchLine = `83.149.9.216 - - [17/May/2015:10:05:03 +0000] "GET /presentations/logstash-monitorama-2013/images/kibana-search.png?a=b HTTP/1.1" 200 203023 "http://semicomplete.com/presentations/" "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) WebKit"` + "\n"

// benchTarget is the request target of benchLine.
const benchTarget = "/presentations/logstash-monitorama-2013/images/kibana-search.png?a=b"

func BenchmarkAppend(b *testing.B) {
	f := func(name string, c Config, rec string) {
		b.Run(name, func(b *testing.B) {
			w := newJob(b, c).NewWorker()
			var st Stats
			in, out := []byte(rec), []byte(nil)
			b.SetBytes(int64(len(rec)))
			b.ReportAllocs()
			for b.Loop() {
				out, _ = w.Append(out[:0], nil, in, Position{Line: 1}, &st)
			}
		})
	}
	f("combined/rewrite", Config{Format: "combined"}, benchLine)
	f("combined/rewrite/equiv", Config{Format: "combined", Normalizer: newNormalizer(b, "equiv")}, benchLine)
	f("combined/rewrite/equiv/all", Config{Format: "combined", Target: TargetAll, Normalizer: newNormalizer(b, "equiv")}, benchLine)
	f("combined/rewrite/all", Config{Format: "combined", Target: TargetAll}, benchLine)
	f("combined/jsonl", Config{Format: "combined", Render: RenderJSONL}, benchLine)
	f("combined/keys", Config{Format: "combined", Render: RenderKeys, Base: "http://h/"}, benchLine)
	f("nginx/rewrite", Config{Format: `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`}, benchLine)
	for _, t := range textlog.FixedLogs {
		line := strings.NewReplacer(
			"/index.html", benchTarget, ".com/ HTTP", ".com"+benchTarget+" HTTP", ".com:443/ HTTP", ".com:443"+benchTarget+" HTTP", "/amzn-s3-demo-bucket1?versioning", benchTarget,
			"/api/v1/locations", benchTarget, "/status/418", benchTarget,
		).Replace(t.Sample)
		f(t.ID+"/rewrite", Config{Format: t.ID}, line+"\n")
		f(t.ID+"/jsonl/attributes", Config{Format: t.ID, Render: RenderJSONL, Fields: []string{"norm", "time", "status", "bytes", "duration", "client"}}, line+"\n")
	}
	f("combined/jsonl/attributes", Config{Format: "combined", Render: RenderJSONL, Fields: []string{"norm", "time", "status", "bytes", "duration", "client"}}, benchLine)
	f("lines/rewrite", Config{Format: "lines"}, "http://semicomplete.com/presentations/logstash-monitorama-2013/\n")
	f("jsonl/rewrite", Config{Format: "jsonl", URLField: "url"}, `{"id":1,"tags":["a","b"],"url":"http://semicomplete.com/presentations/logstash-monitorama-2013/","x":1}`+"\n")
	f("csv/rewrite", Config{Format: "csv", URLField: "2"}, `1,http://semicomplete.com/presentations/logstash-monitorama-2013/,"x"`+"\n")
}

// BenchmarkCodec measures the codec alone, for the URL of benchLine.
func BenchmarkCodec(b *testing.B) {
	n := newNormalizer(b, "rfc3986-scheme")
	src := []byte("http://h/presentations/logstash-monitorama-2013/images/kibana-search.png?a=b")
	var r codec.Result
	var out []byte
	for b.Loop() {
		out, _ = n.Append(out[:0], src, &r)
	}
}
