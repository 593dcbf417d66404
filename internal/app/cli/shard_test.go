package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// shards is the number of processes in the tests of --shard.
const shards = 7

// shardInput writes files below a new folder: a table with a header and, in the
// folder in, a log of each kind of dirt, a log with directives, lines that repeat
// or have no URL, an empty file and a damaged archive.
func shardInput(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines := uniqueLines(3000)
	for i, chunk := range slices.Collect(slices.Chunk(lines, 200)) {
		write(fmt.Sprintf("in/lists/%02d.txt", i), strings.Join(chunk, "\n")+"\n")
	}
	log, err := os.ReadFile("../../../testdata/sample/access.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	write("in/logs/a.log.gz", string(log))
	write("in/logs/cut.log.gz", string(log[:len(log)*3/4]))
	var table strings.Builder
	table.WriteString("id,url\n")
	for i, line := range lines[:500] {
		fmt.Fprintf(&table, "%d,%s\n", i, line)
	}
	write("table.csv", table.String())
	write("in/w3c.log", "#Version: 1.0\n#Fields: date cs-uri-stem cs-uri-query\n2026-01-01 /a/%7e b=1\n2026-01-01 /b -\n#Fields: cs-uri-stem\n/c\n/%63\n")
	write("in/empty", "")
	return dir
}

// A shardRun is the output and the report of a process.
type shardRun struct{ out, report string }

// runShards runs one process for each shard, and one without --shard. An exit
// code of 4 is allowed, because an input is damaged.
func runShards(t *testing.T, by string, args ...string) (whole shardRun, parts []shardRun) {
	t.Helper()
	dir := t.TempDir()
	run := func(name string, more ...string) shardRun {
		report := filepath.Join(dir, name+".json")
		cmd := exec.Command("urlfold", slices.Concat([]string{"--quiet", "--summary", report}, more, args)...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() != command.ExitFailOn {
			t.Fatalf("urlfold %s: %v\n%s", strings.Join(cmd.Args[1:], " "), err, &stderr)
		}
		return shardRun{string(out), report}
	}
	for i := range shards {
		flags := []string{"--shard", fmt.Sprintf("%d/%d", i, shards)}
		if by != "" {
			flags = append(flags, "--shard-by", by)
		}
		parts = append(parts, run(fmt.Sprint(i), flags...))
	}
	return run("whole"), parts
}

var secondsMember = regexp.MustCompile(`"seconds": [^\n]*`)

// checkMerged checks that report --merge makes the summary of the whole run from
// the summaries of the shards, in any order.
func checkMerged(t *testing.T, whole shardRun, parts []shardRun) {
	t.Helper()
	var names []string
	for _, p := range parts {
		names = append(names, p.report)
	}
	slices.Reverse(names)
	want, err := os.ReadFile(whole.report)
	if err != nil {
		t.Fatal(err)
	}
	got := urlfoldOutput(t, append([]string{"report", "--merge"}, names...)...)
	a, b := secondsMember.ReplaceAllString(got, ""), secondsMember.ReplaceAllString(string(want), "")
	if a != b {
		t.Errorf("the merged report is\n%s\nwant\n%s", got, want)
	}
	into := filepath.Join(t.TempDir(), "merged.json")
	urlfoldOutput(t, append([]string{"report", "--merge", "-o", into}, names...)...)
	if text, err := os.ReadFile(into); err != nil || string(text) != got {
		t.Errorf("--output: %v, %s", err, text)
	}
}

// TestShardByPath: seven processes share the files of a tree. Each file is in
// exactly one output, as a process without --shard writes it.
func TestShardByPath(t *testing.T) {
	for _, arg := range []string{"", "/**"} {
		input := shardInput(t)
		whole, parts := runShards(t, "", "--target", "all", "-r", "jsonl", "--fields", "file,line,url,norm,key,error", input+"/in"+arg)
		byFile := func(out string) map[string]string {
			files := map[string]string{}
			for line := range strings.Lines(out) {
				var u struct{ File string }
				if err := json.Unmarshal([]byte(line), &u); err != nil {
					t.Fatal(err)
				}
				files[u.File] += line
			}
			return files
		}
		want, used := byFile(whole.out), 0
		for i, p := range parts {
			if p.out != "" {
				used++
			}
			for file, text := range byFile(p.out) {
				if text != want[file] {
					t.Errorf("shard %d: %s differs, or is in another shard as well", i, file)
				}
				delete(want, file)
			}
		}
		if len(want) > 0 || used < shards/2 {
			t.Errorf("%d files are in no shard, and %d shards have files", len(want), used)
		}
		checkMerged(t, whole, parts)
	}
}

// TestShardByKey: seven processes share the records of files of one format. The
// union of the outputs is the output of one process, no key is in two outputs,
// and headers are in all.
func TestShardByKey(t *testing.T) {
	input := shardInput(t)
	for _, test := range []struct {
		name    string
		by      string
		args    []string
		headers int  // lines that every output has
		apart   bool // each key is in one output
	}{
		{"jsonl", "key", []string{"-r", "jsonl", input + "/in"}, 0, false},
		{"keys", "key", []string{"-r", "keys", input + "/in/lists"}, 0, true},
		{"rewrite", "fetch", []string{input + "/in/lists", input + "/in/logs"}, 0, false},
		{"site", "site", []string{"--target", "all", "-r", "tsv", "--fields", "norm,key,file,line", input + "/in/logs"}, 0, false},
		{"where", "key", []string{"--where", `host contains "b.example" || error == "no-match"`, input + "/in/lists"}, 0, false},
		{"unique", "", []string{"--dedupe", input + "/in/lists"}, 0, false},
		{"unique by site", "", []string{"--dedupe", "--by", "site", "-r", "keys", input + "/in/lists"}, 0, true},
		{"csv", "key", []string{"--url-field", "url", input + "/table.csv"}, 1, false},
		{"extend", "key", []string{"--url-field", "url", "--extend", "n=norm", input + "/table.csv"}, 1, false},
		{"w3c", "key", []string{input + "/in/w3c.log"}, 3, false},
		{"oversize", "key", []string{"--max-record", "12", input + "/table.csv", "-f", "lines"}, 0, false},
		{"oversize in pieces", "key", []string{"--max-record", "12", "-f", "lines", "-r", "jsonl", input + "/in/lists"}, 0, false},
		{"rejects", "key", []string{"--dead-letter", "/dev/stderr", input + "/in/lists"}, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			whole, parts := runShards(t, test.by, test.args...)
			var union []string
			keys := map[string]int{}
			for i, p := range parts {
				lines := strings.Split(strings.TrimSuffix(p.out, "\n"), "\n")
				if i > 0 && test.headers > 0 {
					lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "#") || strings.HasPrefix(line, "id,url") })
				}
				if p.out == "" {
					lines = nil
				}
				for _, line := range lines {
					key, _, _ := strings.Cut(line, "\t")
					if at, ok := keys[key]; ok && at != i && test.apart {
						t.Errorf("key %s is in the outputs %d and %d", key, at, i)
					}
					keys[key] = i
				}
				union = append(union, lines...)
			}
			want := strings.Split(strings.TrimSuffix(whole.out, "\n"), "\n")
			slices.Sort(union)
			slices.Sort(want)
			if !slices.Equal(union, want) {
				t.Errorf("the union has %d lines, the output of one process %d", len(union), len(want))
			}
			checkMerged(t, whole, parts)
		})
	}
}

// TestMergeReportsOfOthers: reports that do not belong together are refused,
// with the reason.
func TestMergeReportsOfOthers(t *testing.T) {
	input := shardInput(t)
	dir := t.TempDir()
	n := 0
	report := func(args ...string) string {
		n++
		name := filepath.Join(dir, fmt.Sprintf("%d.json", n))
		urlfoldOutput(t, append([]string{"--quiet", "-o", "/dev/null", "--force", "--summary", name, "--fail-on", "none"}, args...)...)
		return name
	}
	lists := input + "/in/lists"
	a, b := report("--shard", "0/2", lists), report("--shard", "1/2", lists)
	keyA := report("--shard", "0/2", "--shard-by", "key", lists)
	other := report("--shard", "1/2", "-k", "page", lists)
	third := report("--shard", "2/3", lists)
	all := report(lists)
	fewer := report("--shard", "1/2", "--shard-by", "key", lists+"/01.txt")
	longer := report("--shard", "1/2", "--shard-by", "key", lists+"/01.txt", lists+"/02.txt")
	first := report("--shard", "0/2", "--shard-by", "key", lists+"/01.txt", lists+"/03.txt")
	junk := filepath.Join(dir, "junk.json")
	if err := os.WriteFile(junk, []byte(`{"version": 3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	bare := filepath.Join(dir, "bare.json") // its members are absent
	if err := os.WriteFile(bare, []byte(`{"shard": {"index": 0, "of": 1, "by": "path"}, "files": [{}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		names []string
		want  string
	}{
		{[]string{a}, "missing summary of shard 1/2"},
		{[]string{a, b, b}, "2 summaries of shard 1/2"},
		{[]string{a, all}, "not the summary of a run with --shard"},
		{[]string{a, third}, "the summaries belong to different runs: shard 0/2 by path, and shard 2/3 by path"},
		{[]string{keyA, b}, "the summaries belong to different runs"},
		{[]string{a, other}, "shards 1 and 0 have different settings"},
		{[]string{a, junk}, "not a summary (--summary FILE) of this version of urlfold"},
		{[]string{a, dir + "/none.json"}, "no such file"},
		{[]string{keyA, fewer}, "shard 1 has read 1 inputs, but shard 0 has read 15"},
		{[]string{first, longer}, "has read " + lists + "/02.txt instead of " + lists + "/03.txt"},
		{[]string{bare}, "a file has no position"},
	} {
		cmd := exec.Command("urlfold", append([]string{"report", "--merge"}, test.names...)...)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != command.ExitUsage || !strings.Contains(string(out), test.want) {
			t.Errorf("%q: %v, %s", test.want, err, out)
		}
	}
	if out := urlfoldOutput(t, "report", "--merge", b, a); !strings.Contains(out, `"records": 3000`) {
		t.Error(out)
	}
}

// TestWorseExit: the exit code of all shards is that of a run without them.
func TestWorseExit(t *testing.T) {
	order := []int{command.ExitDone, command.ExitFailOn, command.ExitUsage, command.ExitFatal, command.ExitCut}
	for i, a := range order {
		for k, b := range order {
			if got := worseExit(a, b); got != order[max(i, k)] {
				t.Errorf("%d and %d: %d", a, b, got)
			}
		}
	}
}

// TestReportDamage: the verdicts that a report calls damage are those of the
// reader.
func TestReportDamage(t *testing.T) {
	for kind := range compress.Unreadable + 1 {
		v := reportVerdict{Kind: kind.String()}
		if want := (compress.Verdict{Kind: kind}); v.damage() != (want.Damage() && !want.Unknown()) || v.unknown() != want.Unknown() {
			t.Errorf("%v: damage %v, unknown %v", kind, v.damage(), v.unknown())
		}
	}
}

// TestShareSpread: paths spread over all shards, and each is in one.
func TestShareSpread(t *testing.T) {
	count := make([]int, shards)
	for i := range 7000 {
		n := 0
		for k := range shards {
			if (share{index: k, of: shards}).owns(fmt.Sprintf("2026/11/%04d.log.gz", i)) {
				count[k]++
				n++
			}
		}
		if n != 1 {
			t.Fatalf("path %d is in %d shards", i, n)
		}
	}
	if least, most := slices.MinFunc(count, cmp.Compare[int]), slices.MaxFunc(count, cmp.Compare[int]); least < 800 || most > 1200 {
		t.Errorf("paths by shard: %v", count)
	}
}
