package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// TestTranscripts runs the jobs of testdata/transcripts/jobs.txt and compares all
// that a user can see with the transcripts: stdout, stderr, the exit code, and the
// files that each job writes, with their modes. Scripts test what a job must do;
// transcripts also show what changed by accident. Times are masked. To accept
// changes:
//
//	go test ./internal/app/cli -run TestTranscripts -update
func TestTranscripts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("transcripts contain error texts and file modes of Linux")
	}
	if testing.Short() {
		t.Skip("transcripts run the program 500 times")
	}
	fixtures := t.TempDir()
	writeFixtures(t, fixtures)
	for _, group := range readJobs(t) {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			for _, job := range group.jobs {
				got.WriteString(transcript(t, fixtures, job))
			}
			golden := filepath.Join("testdata", "transcripts", group.name+".golden")
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			compareTranscripts(t, golden, got.String(), string(want))
		})
	}
}

// jobMark begins the transcript of a job in a golden file.
const jobMark = "=== "

func compareTranscripts(t *testing.T, golden, got, want string) {
	split := func(text string) []string { return strings.SplitAfter(text, "\n"+jobMark) }
	gots, wants := split(got), split(want)
	if len(gots) != len(wants) {
		t.Errorf("%s: %d jobs, want %d", golden, len(gots), len(wants))
	}
	for i := range min(len(gots), len(wants)) {
		if gots[i] != wants[i] {
			t.Errorf("%s: got\n%s\nwant\n%s\nIf the lines are equal, the text differs in those that the file leaves out: run the command.", golden, gots[i], wants[i])
		}
	}
}

// A jobGroup has a golden file for its jobs.
type jobGroup struct {
	name string
	jobs []string
}

var forLine = regexp.MustCompile(`^for (\w+) in ([^:]+): (.*)$`)

// readJobs reads the list of jobs: a line "# NAME" begins a group, each other line
// is a command for a shell. A line "for x in A B: COMMAND" is a job for each value,
// which replaces $x.
func readJobs(t *testing.T) (groups []jobGroup) {
	t.Helper()
	text, err := os.ReadFile("testdata/transcripts/jobs.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "# "); ok {
			groups = append(groups, jobGroup{name: name})
		} else if line != "" {
			last := &groups[len(groups)-1]
			last.jobs = append(last.jobs, expandJob(line)...)
		}
	}
	return groups
}

func expandJob(line string) (jobs []string) {
	m := forLine.FindStringSubmatch(line)
	if m == nil {
		return []string{line}
	}
	for value := range strings.FieldsSeq(m[2]) {
		jobs = append(jobs, strings.ReplaceAll(m[3], "$"+m[1], value))
	}
	return jobs
}

// transcript runs a job in a copy of the fixtures and returns what it did.
func transcript(t *testing.T, fixtures, job string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(fixtures)); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "/bin/sh", "-c", job)
	c.Dir = dir
	c.Env = append(os.Environ(), "LANG=C.UTF-8", "TZ=UTC", "HOME="+dir, "XDG_STATE_HOME="+dir+"/state", "NO_COLOR=1")
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		t.Fatalf("%s: %v", job, err)
	}

	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\nexit code %d\n", jobMark, job, c.ProcessState.ExitCode())
	appendText(&b, "stdout", stdout.Bytes(), dir)
	appendText(&b, "stderr", stderr.Bytes(), dir)
	after := snapshot(t, dir)
	for _, name := range sortedNames(before, after) {
		old, now := before[name], after[name]
		switch {
		case now.mode == 0:
			fmt.Fprintf(&b, "--- removed %s\n", name)
		case now != old:
			appendText(&b, fmt.Sprintf("file %s %v", name, now.mode), decompressed(now.content), dir)
		}
	}
	return b.String()
}

// A written is what a snapshot keeps of a file or folder; the zero value means
// that there is none.
type written struct {
	mode    fs.FileMode
	content string
}

// snapshot returns the files below dir, except the state of the program, which has
// times and inodes.
func snapshot(t *testing.T, dir string) map[string]written {
	t.Helper()
	files := make(map[string]written)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if name == "state" || name == "data" {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		w := written{mode: info.Mode()}
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			w.content = string(text)
		}
		files[name] = w
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func sortedNames(maps ...map[string]written) (names []string) {
	for _, m := range maps {
		for name := range m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// decompressed returns the text of a compressed file, because a new version of a
// library may compress otherwise. Other content it returns unchanged.
func decompressed(content string) []byte {
	r := compress.NewReader(strings.NewReader(content), compress.Options{})
	var text bytes.Buffer
	if _, err := text.ReadFrom(r); err != nil || r.Verdict().Kind != compress.OK {
		return []byte(content)
	}
	return text.Bytes()
}

// longText is the size from which a transcript holds the hash of a text and its
// first lines.
const longText = 6 << 10

func appendText(b *strings.Builder, title string, text []byte, dir string) {
	if len(text) == 0 && !strings.HasPrefix(title, "file") {
		return
	}
	fmt.Fprintf(b, "--- %s\n", mask(title))
	switch {
	case !utf8.Valid(text) && bytes.IndexByte(text, 0) >= 0:
		fmt.Fprintf(b, "binary, begins with %q\n", text[:min(8, len(text))])
		return
	case !utf8.Valid(text):
		text = fmt.Appendf(nil, "%q", text)
	}
	masked := mask(strings.ReplaceAll(string(text), dir, "$WORK"))
	if len(masked) > longText {
		cut := strings.LastIndexByte(masked[:longText/3], '\n') + 1
		fmt.Fprintf(b, "%d lines, sha256 %x…, begin with\n", strings.Count(masked, "\n"), sha256.Sum256([]byte(masked)))
		masked = masked[:cut]
	}
	b.WriteString(masked)
	if !strings.HasSuffix(masked, "\n") {
		b.WriteString("\n(no line feed at the end)\n")
	}
}

// masks replace what differs from run to run.
var masks = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`(B of text(?:, [0-9.]+ [KMG]?i?B compressed)?, )[0-9.]+[µnm]?s(?:, [0-9,.]+ records/s, [0-9.,]+ [KMGT]?i?B/s)?`), "$1<time>"},
	{regexp.MustCompile(`(workers in parallel \(default )[0-9]+`), "$1<processors>"},
	{regexp.MustCompile(`, [0-9,.]+ records/s`), ""}, // a run of less than a millisecond has none
	{regexp.MustCompile(`[0-9a-f]{16}(\.keys)`), "<random>$1"},
	{regexp.MustCompile(`("check": )"[0-9]+"`), `$1"<random>"`},
	{regexp.MustCompile(`("(?:oldest|newest)": )[0-9]+`), "$1<day>"},
	{regexp.MustCompile(`(?m)^time=\S+ level=INFO msg=ready\n`), ""}, // a short run may end before it looks
	{regexp.MustCompile(`20[0-9]{2}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8}(?:\.[0-9]+)?(?:Z|[+-][0-9:]{4,5})? ?`), "<now> "},
	{regexp.MustCompile(`127\.0\.0\.1:[0-9]{4,5}`), "127.0.0.1:<port>"},
	{regexp.MustCompile(`\b(pid|elapsed|uptime|duration|took)=\S+`), "$1=<masked>"},
	{regexp.MustCompile(`"(seconds|started|finished|created|host|pid|urlfold|version|revision)": ?("[^"]*"|[0-9.]+)`), `"$1": "<masked>"`},
}

func mask(text string) string {
	for _, m := range masks {
		text = m.re.ReplaceAllString(text, m.with)
	}
	return text
}

// writeFixtures fills dir with the inputs of the jobs: a log of each named format,
// the sample, lists and tables, and damaged and compressed copies.
func writeFixtures(t *testing.T, dir string) {
	t.Helper()
	named := os.DirFS("../../../internal/record/testdata/named")
	logs, err := fs.Glob(named, "*.log")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range logs {
		text, err := fs.ReadFile(named, name)
		if err != nil {
			t.Fatal(err)
		}
		writeFixture(t, dir, name, text)
	}
	sample, err := os.ReadFile("../../../testdata/sample/access.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	writeFixture(t, dir, "access.log.gz", sample)
	writeFixture(t, dir, "cut.log.gz", sample[:3000])
	flipped := bytes.Clone(sample)
	flipped[len(flipped)-5] ^= 1
	writeFixture(t, dir, "badcrc.log.gz", flipped)
	text := decompressed(string(sample))
	writeFixture(t, dir, "access.log", text)
	writeFixture(t, dir, "logs/a.log", text[:bytes.IndexByte(text[2000:], '\n')+2001])
	writeFixture(t, dir, "logs/deep/b.log", text[bytes.IndexByte(text[2000:], '\n')+2001:])
	writeFixture(t, dir, "access.log.zst", packed(t, "zstd", text))
	entries, err := os.ReadDir("testdata/transcripts/inputs")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join("testdata/transcripts/inputs", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		writeFixture(t, dir, e.Name(), text)
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o777); err != nil {
		t.Fatal(err)
	}
}

func packed(t *testing.T, name string, text []byte) []byte {
	t.Helper()
	format, _, err := compress.ParseFormat(name, "")
	if err != nil {
		t.Fatal(err)
	}
	pack, err := compress.NewPack(format, map[compress.Format]int{compress.Gzip: 4, compress.Zstd: 1}[format])
	if err != nil {
		t.Fatal(err)
	}
	return pack(nil, text)
}

func writeFixture(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
