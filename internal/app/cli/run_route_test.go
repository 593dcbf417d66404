//go:build unix

package cli

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
)

// TestRunRoute: a route distributes the records over a file and a stream,
// and skips some. A reload changes the route without a new pipeline, and
// removes the route with a new pipeline; nothing is lost or written twice.
func TestRunRoute(t *testing.T) {
	s := natstest.Start(t, nil)
	conn, err := nats.Connect(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}})
	if err != nil {
		t.Fatal(err)
	}
	base := strings.Replace(tailing, "  - file: {name: out, path: out.log}\n",
		fmt.Sprintf("  - file: {name: out, path: out.log}\n  - jetstream: {name: js, servers: [%q], subject: s}\n", s.URL()), 1)
	route := func(first string) string {
		return base + fmt.Sprintf("where: path != \"/no\"\nroute:\n  - {where: 'path == \"/skip\"', sinks: []}\n  - {where: 'path startsWith \"/a\"', sinks: [%s]}\n  - else: [out]\n", first)
	}
	d := newRun(t, route("js"))
	d.start()
	d.feed("http://h/a\nhttp://h/b\nhttp://h/skip\nhttp://h/no\nhttp://h/a2\n")
	d.has("out.log", "http://h/b\n")
	d.until("two messages", func() bool { return messagesIn(stream) == 2 })
	d.measures(`urlfold_sink_records_total{component="js"} 2`)
	d.measures(`urlfold_sink_records_total{component="out"} 1`)
	d.measures(`urlfold_records_total{component="in",result="filtered"} 2`)

	d.configure(route("js, out"))
	d.signal(syscall.SIGHUP)
	d.logs("effect=rules", 1)
	d.feed("http://h/a3\nhttp://h/c\n")
	d.has("out.log", "http://h/b\nhttp://h/a3\nhttp://h/c\n")
	d.until("three messages", func() bool { return messagesIn(stream) == 3 })

	d.configure(strings.Replace(route("js, out"), "path == ", "pth == ", 1))
	d.signal(syscall.SIGHUP)
	d.logs("configuration rejected", 1)
	if !strings.Contains(d.log.String(), `c.yaml:13:13: where: column 1: unknown name \"pth\" (did you mean \"path\"?)`) {
		t.Error("the log lacks the position of the error")
	}

	d.configure(base)
	d.signal(syscall.SIGHUP)
	d.logs("msg=starting", 2)
	d.feed("http://h/skip\n")
	d.has("out.log", "http://h/b\nhttp://h/a3\nhttp://h/c\nhttp://h/skip\n")
	d.until("four messages", func() bool { return messagesIn(stream) == 4 })
	d.signal(syscall.SIGTERM)
	if got := d.wait(); got != command.ExitDone {
		t.Errorf("exit code %d", got)
	}
}

// TestRunHeader: an output of CSV begins with one header, also after a restart,
// and stdout after a new pipeline; other columns need another file.
func TestRunHeader(t *testing.T) {
	config := strings.Replace(tailing, "profile: equiv", "profile: equiv, to: {csv: {fields: [norm, line]}}", 1)
	config = strings.Replace(config, "path: out.log", "path: out.csv, exactly_once: true", 1)
	d := newRun(t, config)
	d.feed("http://h/a\n")
	d.start()
	d.has("out.csv", "norm,line\nhttp://h/a,1\n")
	d.signal(syscall.SIGKILL)
	<-d.done
	d.feed("http://h/b\n")
	d.start()
	d.has("out.csv", "norm,line\nhttp://h/a,1\nhttp://h/b,2\n")

	d.configure(strings.Replace(config, "[norm, line]", "[line, norm]", 1))
	d.signal(syscall.SIGHUP)
	d.logs("configuration rejected", 1)
	if !strings.Contains(d.log.String(), "out.csv has different columns than codec.to") {
		t.Error("the log lacks the reason")
	}
	d.configure(strings.Replace(config, "[norm, line]}", "[line, norm], header: false}", 1))
	d.signal(syscall.SIGHUP)
	d.logs("msg=starting", 2)
	d.feed("http://h/c\n")
	d.has("out.csv", "norm,line\nhttp://h/a,1\nhttp://h/b,2\n3,http://h/c\n")
}
