package nats

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sources/file"
)

// A byLines cuts blocks after their last line.
type byLines struct{}

func (byLines) Cut(block []byte) int { return bytes.LastIndexByte(block, '\n') + 1 }
func (byLines) Head([]byte) int      { return 0 }

// TestRefusedBlocks: a record that the stream refuses blocks its lane, and the
// snapshot reports its code and position. After the stream accepts it, all
// records are stored once, and in order if that was requested.
func TestRefusedBlocks(t *testing.T) {
	t.Parallel()
	const records, long = 400, 150
	var text strings.Builder
	var want []string
	for i := range records {
		line := fmt.Sprintf("http://h.example/%04d", i)
		if i == long {
			line += strings.Repeat("x", 2000)
		}
		want = append(want, line)
		text.WriteString(line + "\n")
	}
	f := func(name string, ordered bool, change func(*JetStreamConfig)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			limited := jetstream.StreamConfig{Name: "SMALL", Subjects: []string{"small.>"}, MaxMsgSize: 1000, Duplicates: time.Hour}
			w.stream(limited)
			s, err := makeJetStream(w.config(func(c *JetStreamConfig) {
				c.Subject, c.Publish.Ordered = "small.x", ordered
				change(c)
			}))
			if err != nil {
				t.Fatal(err)
			}
			p := refusedPipeline(t, s, text.String(), ordered)
			ended := make(chan error, 1)
			go func() { ended <- p.Run(bg(t)) }()
			for end := time.Now().Add(patience); len(p.Snapshot().Sinks[0].Blocked) == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("no lane is blocked")
				}
			}
			if b := p.Snapshot().Sinks[0].Blocked[0]; b.Code != "10054" || ordered && b.Position != long*int64(len(want[0])+1) {
				t.Errorf("%+v", b)
			}
			limited.MaxMsgSize = -1
			if _, err := w.js.UpdateStream(bg(t), limited); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			var got []string
			bySubject := map[string][]string{}
			for _, m := range w.messages("SMALL") {
				lines := strings.Split(strings.TrimSuffix(string(m.Data), "\n"), "\n")
				got = append(got, lines...)
				bySubject[m.Subject] = append(bySubject[m.Subject], lines...)
			}
			for subject, lines := range bySubject {
				if ordered && !slices.IsSorted(lines) {
					t.Errorf("%s is out of order", subject)
				}
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%d records, want %d", len(got), len(want))
			}
		})
	}
	f("in order", true, func(*JetStreamConfig) {})
	f("in order, many subjects", true, func(c *JetStreamConfig) { c.Subject = "small.{key%4}" })
	f("no ids", false, func(c *JetStreamConfig) { c.MsgID = idNone })
	f("lines", false, func(c *JetStreamConfig) { c.MsgID, c.Framing = idNone, framingLines })
}

// refusedPipeline returns a pipeline without a dead letter that writes the
// lines of text to s.
func refusedPipeline(t *testing.T, s *jetStream, text string, ordered bool) *engine.Pipeline {
	t.Helper()
	profile, err := codec.Lookup("equiv")
	if err != nil {
		t.Fatal("no profile")
	}
	n, err := codec.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	job, err := record.New(record.Config{Format: "lines", Normalizer: n, Facts: true})
	if err != nil {
		t.Fatal(err)
	}
	src, err := file.New(file.Config{Stdin: strings.NewReader(text), Framing: byLines{}})
	if err != nil {
		t.Fatal(err)
	}
	o := engine.Options{
		Sources: []engine.Source{src}, Sinks: []engine.Sink{s}, NewCodec: engine.NewRecordCodec(job), BatchBytes: 2500, Workers: 2,
	}
	if ordered {
		o.Ordering = engine.OrderPerLane
	}
	p, err := engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
