package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/internal/testkit"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
)

// tutorial is the page whose commands need brokers. Those of all other pages are
// run by TestDocsCommands of internal/app/cli.
const tutorial = "../docs/guide/first-kafka-pipeline.md"

// commands returns what a reader of a page types, and what the page shows as the
// output of each: the lines of its blocks "```console needs=kafka".
func commands(t *testing.T, page string) (script []string, shown []string) {
	t.Helper()
	inside := false
	for line := range strings.Lines(read(t, page)) {
		cmd, is := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = strings.HasPrefix(line, "```console needs=kafka")
		case !inside:
		case is:
			script, shown = append(script, strings.TrimSuffix(cmd, "\n")), append(shown, "")
		default:
			shown[len(shown)-1] += line
		}
	}
	if len(script) < 5 {
		t.Fatalf("%d commands: %q", len(script), script)
	}
	return script, shown
}

// A clone is what a reader has after git clone, as far as the commands of the
// tutorial need it. Its scripts that start brokers print the addresses of the
// test's brokers, and its go command copies the program.
type clone struct {
	t   *testing.T
	dir string
}

func newClone(t *testing.T, addresses map[string]string) *clone {
	t.Helper()
	c := &clone{t, t.TempDir()}
	for _, dir := range []string{"deploy", "testdata"} {
		if err := os.CopyFS(filepath.Join(c.dir, dir), os.DirFS("../"+dir)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(c.dir, "Makefile"), read(t, "../Makefile"))
	c.script("go", fmt.Sprintf("cp '%s' urlfold", binary))
	for name, address := range addresses {
		exists(t, "../.ci/"+name)
		c.script(".ci/"+name, "echo "+address)
	}
	return c
}

// script makes a program of the clone.
func (c *clone) script(name, text string) {
	c.t.Helper()
	name = filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		c.t.Fatal(err)
	}
}

// outputs runs commands in one shell, one after the other, and returns what each of
// them writes to stdout. All of them must succeed.
func (c *clone) outputs(script []string) []string {
	c.t.Helper()
	const mark = "=== end of a command ==="
	var text strings.Builder
	text.WriteString("set -e\n")
	for _, s := range script {
		text.WriteString(s + "\necho '" + mark + "'\n")
	}
	var log testkit.Log
	cmd := exec.Command("bash", "-c", text.String())
	cmd.Dir, cmd.Stderr = c.dir, &log
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "GO=" + filepath.Join(c.dir, "go"), "URLFOLD_ADMIN=127.0.0.1:0",
		// A real broker keeps what earlier runs have left.
		fmt.Sprintf("TOPIC=urls-%d", time.Now().UnixNano()),
	}
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("%v\n%s%s", err, out, log.String())
	}
	return strings.Split(string(out), mark+"\n")[:len(script)]
}

// same compares what commands print with what the page shows. Where it shows
// nothing, nothing is compared.
func same(t *testing.T, script, shown, got []string) {
	t.Helper()
	for i := range script {
		if shown[i] != "" && got[i] != shown[i] {
			t.Errorf("%s\nprints\n%sand the page shows\n%s", script[i], got[i], shown[i])
		}
	}
}

func TestReadmeBrokersFake(t *testing.T) {
	_, c := kafkatest.Fake(t, kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(4))
	readmeBrokers(t, c.Brokers[0])
}

func TestReadmeBrokersReal(t *testing.T) {
	broker := kafkatest.Real(t).Brokers[0]
	readmeBrokers(t, broker)
}

// readmeBrokers runs the commands of the tutorial word for word: what was in the log
// is in the file at the end, after a topic and a stream.
func readmeBrokers(t *testing.T, broker string) {
	server := natstest.Start(t, nil)
	conn, err := nats.Connect(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "FRONTIER", Subjects: []string{"frontier.>"}}); err != nil {
		t.Fatal(err)
	}
	script, shown := commands(t, tutorial)
	c := newClone(t, map[string]string{"kafka": broker, "nats": server.URL()})
	same(t, script, shown, c.outputs(script))
}
