package service

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/observe/web"
)

const monitorLong = `Show the progress of a running daemon: rates, lag, and the stage that limits the throughput. In a terminal, the display is
refreshed; otherwise each interval is one line.

The limiting stage is "source" if workers and sinks wait for input, "codec" if the workers are busy, and "sink" if most
batches in flight are in a sink.`

const monitorExamples = `  urlfold daemon monitor -c urlfold.yaml
  urlfold daemon monitor --admin unix:/run/urlfold/admin.sock --once
  urlfold daemon monitor --to jsonl --interval 10s`

// monitorFlags are the options of urlfold daemon monitor.
type monitorFlags struct {
	adminFlags
	interval time.Duration
	once     bool
	form     command.Form
}

func newMonitor(c *daemon.Catalog) *cobra.Command {
	o := &monitorFlags{}
	cmd := &cobra.Command{
		Use: "monitor", Short: "Show rates, lag and the limiting stage of a running daemon", Long: monitorLong, Example: monitorExamples, Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runMonitor(cmd, c, o) },
	}
	o.register(cmd)
	f := cmd.Flags()
	f.DurationVar(&o.interval, "interval", 2*time.Second, "measure over this `time`, at least 200ms")
	f.BoolVar(&o.once, "once", false, "measure once, over --interval, and exit")
	o.form.Register(cmd, "write this `format`: text, or jsonl for an object per interval", "text", "jsonl")
	return cmd
}

// runMonitor shows the progress until a signal or an error.
func runMonitor(cmd *cobra.Command, c *daemon.Catalog, o *monitorFlags) error {
	if o.interval < 200*time.Millisecond {
		return command.Usagef("--interval: must be at least 200ms")
	}
	client, err := o.client(c)
	if err != nil {
		return err
	}
	sig := command.Watch(cmd.Context())
	defer sig.Stop()
	out := cmd.OutOrStdout()
	m := &monitor{client: client, w: out, Style: command.Style(cmd, out), refresh: !o.once && terminal.Is(out)}
	switch {
	case o.form.Name == "jsonl":
		m.form = formJSON
	case o.once || terminal.Is(out):
		m.form = formScreen
	}
	err = m.run(sig.Soft, o)
	if sig.Soft.Err() != nil {
		return nil
	}
	return err
}

// A monitor shows the difference of two states of a daemon.
type monitor struct {
	terminal.Style
	client  *adminClient
	w       io.Writer
	form    monitorForm
	refresh bool // each interval replaces the previous one on the screen
}

// A monitorForm is how a monitor shows an interval.
type monitorForm uint8

const (
	formLine   monitorForm = iota
	formJSON               // an object on a line
	formScreen             // everything
)

func (m *monitor) run(ctx context.Context, o *monitorFlags) error {
	last, err := m.read(ctx)
	if err != nil {
		return err
	}
	t := time.NewTicker(o.interval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil
		}
		now, err := m.read(ctx)
		if err != nil {
			return err
		}
		if err := m.show(compare(last, now)); err != nil || o.once {
			return err
		}
		last = now
	}
}

// A reading is the state of a daemon at a time.
type reading struct {
	at     time.Time
	status web.Status
	lag    map[string]lag // by source, if it is known
}

// A lag is the amount of input that a source has not read yet.
type lag struct{ bytes, records float64 }

func (m *monitor) read(ctx context.Context) (*reading, error) {
	r := &reading{at: time.Now(), lag: map[string]lag{}}
	text, err := m.client.get(ctx, "/status.json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &r.status); err != nil {
		return nil, fmt.Errorf("read the status of the daemon at %s: %w", m.client.at, err)
	}
	text, err = m.client.get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	r.readLag(text)
	return r, nil
}

// readLag adds up the metrics about the unread input of the sources.
func (r *reading) readLag(metrics []byte) {
	in := bufio.NewScanner(bytes.NewReader(metrics))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		name, rest, ok := strings.Cut(in.Text(), "{")
		if !ok || name != "urlfold_source_lag_records" && name != "urlfold_source_lag_bytes" {
			continue
		}
		_, rest, _ = strings.Cut(rest, `component="`)
		component, rest, _ := strings.Cut(rest, `"`)
		n, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			continue
		}
		l := r.lag[component]
		if name == "urlfold_source_lag_records" {
			l.records += n
		} else {
			l.bytes += n
		}
		r.lag[component] = l
	}
}

// A progress is the difference between two readings. Its JSON is the output of --to
// jsonl.
type progress struct {
	Time       time.Time      `json:"time"`
	State      string         `json:"state"`
	Ready      bool           `json:"ready"`
	Uptime     float64        `json:"uptime_seconds"`
	Interval   float64        `json:"interval_seconds"`
	Records    float64        `json:"records_per_second"`
	URLs       float64        `json:"urls_per_second"`
	In         float64        `json:"bytes_in_per_second"`
	Out        float64        `json:"bytes_out_per_second"`
	Stage      string         `json:"limiting_stage,omitempty"` // absent in the first second of the daemon
	Part       string         `json:"limiting_component,omitempty"`
	Why        string         `json:"limiting_reason,omitempty"`
	InFlight   int            `json:"batches_in_flight"`
	Batches    int            `json:"batches"`
	Checkpoint *float64       `json:"checkpoint_age_seconds,omitempty"`
	Oldest     float64        `json:"oldest_unresolved_seconds"`
	Damaged    int            `json:"damaged_files"`
	Sources    []sourceRate   `json:"sources"`
	Sinks      []sinkProgress `json:"sinks"`
	Failing    []string       `json:"failing_checks,omitempty"`
}

type sourceRate struct {
	Name       string   `json:"name"`
	Records    float64  `json:"records_per_second"`
	Bytes      float64  `json:"bytes_per_second"`
	LagBytes   *float64 `json:"lag_bytes,omitempty"`
	LagRecords *float64 `json:"lag_records,omitempty"`
}

type sinkProgress struct {
	Name    string  `json:"name"`
	Records float64 `json:"records_per_second"`
	Bytes   float64 `json:"bytes_per_second"`
	Latency float64 `json:"latency_mean_seconds"`
	Holds   int     `json:"unanswered_batches"`
	Waiting int     `json:"waiting_batches"`
	Error   string  `json:"last_error,omitempty"`
}

// compare returns the progress from a to b.
func compare(a, b *reading) *progress {
	s, d := &b.status, b.at.Sub(a.at).Seconds()
	per := func(n int64) float64 { return max(0, float64(n)/d) }
	p := &progress{Time: b.at, State: s.State, Ready: s.Ready, Uptime: s.Uptime, Interval: d, URLs: per(s.URLs.Found - a.status.URLs.Found),
		InFlight: s.Batches.InFlight, Batches: s.Batches.All, Checkpoint: s.Checkpoint, Damaged: s.Damaged.Count}
	if r := s.Rates; r != nil {
		p.Stage, p.Part, p.Why = r.Stage, r.Part, r.Why
	}
	for i := range s.Sources {
		now, was := &s.Sources[i], web.SourceStatus{}
		for _, o := range a.status.Sources {
			if o.Name == now.Name {
				was = o
			}
		}
		one := sourceRate{Name: now.Name, Records: per(now.Read - was.Read), Bytes: per(now.Bytes - was.Bytes)}
		if l, known := b.lag[now.Name]; l.records > 0 {
			one.LagRecords = &l.records
		} else if known {
			one.LagBytes = &l.bytes
		}
		p.Records += one.Records
		p.In += one.Bytes
		p.Sources = append(p.Sources, one)
	}
	for i := range s.Sinks {
		now, was := &s.Sinks[i], web.SinkStatus{}
		for _, o := range a.status.Sinks {
			if o.Name == now.Name && o.DeadLetter == now.DeadLetter {
				was = o
			}
		}
		one := sinkProgress{Name: now.Name, Records: per(now.Records - was.Records), Bytes: per(now.Bytes - was.Bytes),
			Latency: now.Mean, Holds: now.Holds, Waiting: now.Waiting, Error: now.LastErr}
		p.Out += one.Bytes
		p.Sinks = append(p.Sinks, one)
	}
	for i := range s.Lanes {
		p.Oldest = max(p.Oldest, s.Lanes[i].Waiting)
	}
	for _, c := range s.Checks {
		if !c.OK {
			p.Failing = append(p.Failing, c.Name+": "+c.Reason)
		}
	}
	return p
}

// show writes a progress in the form that was asked for.
func (m *monitor) show(p *progress) error {
	var b bytes.Buffer
	switch m.form {
	case formJSON:
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(p); err != nil {
			return err
		}
	case formScreen:
		m.screen(&b, p)
	default:
		fmt.Fprintf(&b, "%s %s %s in flight %d/%d limit %s%s\n", p.Time.UTC().Format(time.RFC3339), p.health(), p.flow(), p.InFlight, p.Batches, p.limit(), p.delays())
	}
	if m.refresh {
		return terminal.Redraw(m.w, b.Bytes())
	}
	_, err := m.w.Write(b.Bytes())
	return err
}

func (p *progress) health() string {
	if p.Ready {
		return p.State + ", ready"
	}
	return p.State + ", not ready"
}

func (p *progress) flow() string {
	return fmt.Sprintf("%s records/s %s/s in %s/s out", terminal.FormatCount(int64(p.Records)), terminal.FormatSize(int64(p.In)), terminal.FormatSize(int64(p.Out)))
}

func (p *progress) limit() string {
	switch {
	case p.Stage == "":
		return "unknown"
	case p.Part != "":
		return p.Stage + " " + terminal.OneLine(p.Part)
	}
	return p.Stage
}

// delays describes the work that is not done yet.
func (p *progress) delays() string {
	var b strings.Builder
	if p.Oldest > 0 {
		fmt.Fprintf(&b, " oldest %s", seconds(p.Oldest))
	}
	for i := range p.Sources {
		if text := p.Sources[i].lag(); text != "" && text != "0 B" {
			fmt.Fprintf(&b, " lag %s", text)
		}
	}
	return b.String()
}

// lag describes the unread input of the source, or returns "".
func (s *sourceRate) lag() string {
	switch {
	case s.LagRecords != nil:
		return terminal.FormatCount(int64(*s.LagRecords)) + " records"
	case s.LagBytes != nil:
		return terminal.FormatSize(int64(*s.LagBytes))
	}
	return ""
}

func seconds(s float64) string {
	return terminal.FormatDuration(time.Duration(s * float64(time.Second)))
}

// screen writes all values, in lines that fit the screen.
func (m *monitor) screen(w io.Writer, p *progress) {
	line := func(format string, args ...any) { // w is a buffer, which cannot fail
		_, _ = io.WriteString(w, m.Folded(fmt.Sprintf(format, args...), 4)+"\n")
	}
	color := terminal.Green
	if !p.Ready {
		color = terminal.Red
	}
	line("%s  %s, up %s", m.Paint(terminal.Bold, "urlfold at "+m.client.at), m.Paint(color, p.health()), seconds(p.Uptime))
	for _, text := range p.Failing {
		line("  %s", m.Paint(terminal.Red, m.Escape(text)))
	}
	line("  %s, %s URLs/s", p.flow(), terminal.FormatCount(int64(p.URLs)))
	line("  limited by %s  %s", m.Paint(terminal.Bold, p.limit()), m.Paint(terminal.Dim, m.Escape(p.Why)))
	checkpoint := "none"
	if p.Checkpoint != nil {
		checkpoint = seconds(*p.Checkpoint) + " ago"
	}
	line("  %s %d of %d batches in flight, oldest %s", m.bar(float64(p.InFlight), float64(p.Batches)), p.InFlight, p.Batches, seconds(p.Oldest))
	line("  checkpoint %s, damaged files %d", checkpoint, p.Damaged)
	line("\n%s", m.Paint(terminal.Dim, fmt.Sprintf("%-*s %10s %10s  %-*s %s", nameWidth, "source", "records/s", "bytes/s", barWidth, "share", "lag")))
	for i := range p.Sources {
		s := &p.Sources[i]
		line("%s %10s %10s  %s %s", m.name(s.Name), terminal.FormatCount(int64(s.Records)), terminal.FormatSize(int64(s.Bytes)), m.bar(s.Bytes, p.In), s.lag())
	}
	line("\n%s", m.Paint(terminal.Dim, fmt.Sprintf("%-*s %10s %10s  %-*s %s", nameWidth, "sink", "records/s", "bytes/s", barWidth, "batches", "held, mean latency")))
	for i := range p.Sinks {
		s := &p.Sinks[i]
		waiting := ""
		if s.Waiting > 0 {
			waiting = fmt.Sprintf(", %d waiting", s.Waiting)
		}
		line("%s %10s %10s  %s %d, %s%s", m.name(s.Name), terminal.FormatCount(int64(s.Records)), terminal.FormatSize(int64(s.Bytes)),
			m.bar(float64(s.Holds), float64(p.Batches)), s.Holds, seconds(s.Latency), waiting)
		if s.Error != "" {
			line("  %s", m.Paint(terminal.Red, m.Escape(s.Error)))
		}
	}
}

// Columns of the tables of a screen.
const (
	nameWidth = 18
	barWidth  = 12
)

// name returns the name of a component, as wide as its column.
func (m *monitor) name(name string) string {
	text, width := "", 0
	for _, c := range m.Cells([]byte(name)) {
		if width += c.Width; width > nameWidth {
			return text + strings.Repeat(" ", nameWidth-width+c.Width)
		}
		text += c.Text
	}
	return text + strings.Repeat(" ", nameWidth-width)
}

// bar draws n as a part of all.
func (m *monitor) bar(n, all float64) string {
	full := 0
	if all > 0 {
		full = int(math.Ceil(min(1, n/all) * barWidth))
	}
	return strings.Repeat(m.Pick("█", "#"), full) + strings.Repeat(m.Pick("░", "."), barWidth-full)
}
