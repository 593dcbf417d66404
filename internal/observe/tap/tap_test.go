package tap

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// newConfig returns the configuration of a job that reads lines.
func newConfig(t testing.TB, format string) record.Config {
	t.Helper()
	p, _ := codec.Lookup("crawler")
	n, err := codec.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return record.Config{Format: format, Normalizer: n, Level: codec.LevelFetch}
}

// newSampler returns a codec with a clock that stands still, so that its credit
// is never used up.
func newSampler(t testing.TB, tp *Tap, c record.Config) *sampler {
	t.Helper()
	main, err := record.New(c)
	if err != nil {
		t.Fatal(err)
	}
	job, err := Job(c)
	if err != nil {
		t.Fatal(err)
	}
	var m logging.Masker
	m.Add("broker-password")
	s := tp.Wrap(engine.NewRecordCodec(main), []*record.Job{job}, c.Secrets, m.Mask)().(*sampler)
	start := time.Unix(1e9, 0)
	s.now = func() time.Time { return start }
	return s
}

// process runs a batch of text.
func process(s *sampler, text string) {
	s.Process(&engine.Batch{Lane: new(engine.Lane), In: []byte(text), Line: 1})
}

// drain returns all queued samples.
func drain(l *Listener) (list []string) {
	for {
		select {
		case text := <-l.C:
			list = append(list, string(text))
		default:
			return list
		}
	}
}

func listen(t testing.TB, tp *Tap, query string) *Listener {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	f, err := ParseFilter(q)
	if err != nil {
		t.Fatal(err)
	}
	f.Rate = 1e9
	l, err := tp.Listen(f)
	if err != nil {
		t.Fatal(err)
	}
	l.room, l.since = 1e9, time.Unix(1e9, 0)
	return l
}

func TestFilters(t *testing.T) {
	const text = "http://a.example.com/?b=2&a=1#x\nhttp://example.com/%zz\nhttp://notexample.com/\nhttps://other.org/17\nhttp://[/\n"
	f := func(query string, want ...string) {
		t.Helper()
		var tp Tap
		l := listen(t, &tp, query)
		s := newSampler(t, &tp, newConfig(t, "lines"))
		var got []string
		for range 200 {
			process(s, text)
			for _, data := range drain(l) {
				var x Sample
				if err := json.Unmarshal([]byte(data), &x); err != nil {
					t.Fatal(err)
				}
				if !slices.Contains(got, x.URL) {
					got = append(got, x.URL)
				}
			}
		}
		slices.Sort(got)
		want = slices.Sorted(slices.Values(want))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	all := strings.Fields(text)
	f("", all...)
	f("flag=non-hex", all[1])
	f("flag=non-hex,credentials", all[1])
	f("rule=frag-drop", all[0])
	f("change=unchanged", all[1], all[2], all[3])
	f("change=lossy&site=other.org")
	f("site=example.com", all[0], all[1])
	f("site=EXAMPLE.com.&flag=non-hex", all[1])
}

func TestParseFilter(t *testing.T) {
	f := func(query, want string) {
		t.Helper()
		q, _ := url.ParseQuery(query)
		_, err := ParseFilter(q)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", query, err, want)
		}
	}
	f("flag=non-hexx", `flag: unknown flag "non-hexx" (did you mean "non-hex"?)`)
	f("rule=dot", `rule: unknown rule "dot"`)
	f("change=lossi", `did you mean "lossy"`)
	f("rate=0", "rate: must be")
	f("rate=NaN", "rate: must be")
	f("rate=1001", "at most 1000")
	f("sight=a", `unknown parameter "sight"`)
}

// secret is part of every secret of TestNoSecrets.
const secret = "s3cr3t"

// secretURLs hold a secret in a place where URLs have them.
var secretURLs = strings.Split(strings.ReplaceAll(`http://user:§@h.example/
http://:§@h.example/
http://user:§%40@h.example:81/a
https://h.example/?token=§
https://h.example/?a=1&Access_Token=§&b=2
https://h.example/?a=1;password=§
https://h.example/?%74oken=§
https://h.example/?tok%65n=§#x
https://h.example/?user%5Bpassword%5D=§
https://h.example/?user[password]=§
https://h.example/#access_token=§&token_type=bearer
https://h.example/#/login?token=§
https://h.example/a;jsessionid=§?b
https://h.example/?X-Amz-Signature=§&X-Amz-Credential=§
https://h.example/?custom_secret=§
https://h.example/?next=https%3A%2F%2Fu%3A§%40other.example%2F
https://h.example/?next=https%3A%2F%2Fother.example%2F%3Ftoken%3D§
https://h.example/?next=https%253A%252F%252Fother.example%252F%253Ftoken%253D§
https://h.example/?next=https://u:§@other.example/
https://h.example/https://u:§@other.example/
https://h.example/?a=1&amp;token=§
https://h.example/?sig=§&se=1
http://h.example:x/?password=§
http://user:§@h.example:x/
http://user:§@[/
//user:§@h.example/a
https://h.example/?state=§&code=§
https://h.example/?q=%7B%22password%22%3A%22a%22%7D&token=§
https://h.example/?k=broker-password
`, "§", secret), "\n")

// TestNoSecrets looks at more than 10,000 samples.
func TestNoSecrets(t *testing.T) {
	for _, format := range []string{"lines", "combined"} {
		var tp Tap
		l := listen(t, &tp, "")
		c := newConfig(t, format)
		c.Secrets = []string{"custom_secret"}
		s := newSampler(t, &tp, c)
		var text strings.Builder
		for i, u := range secretURLs[:len(secretURLs)-1] {
			if format == "combined" {
				u = fmt.Sprintf(`192.0.2.%d - - [01/Nov/2026:00:00:0%d +0000] "GET %s HTTP/1.1" 200 1 "%s" "x"`, i, i%10, u, u)
			}
			text.WriteString(u + "\n")
		}
		n, masked := 0, 0
		for round := 0; n < 10_000 && round < 10_000; round++ {
			process(s, text.String())
			for _, data := range drain(l) {
				n++
				if strings.Contains(data, secret) || strings.Contains(data, "broker-password") {
					t.Fatalf("a sample shows a secret: %s", data)
				}
				if strings.Contains(data, stars) {
					masked++
				}
			}
		}
		if n < 10_000 || masked < n*8/10 {
			t.Errorf("%s: %d of %d samples have a masked secret", format, masked, n)
		}
	}
}

// TestStalledListener checks that a listener that reads nothing delays
// nobody, and that only this listener loses samples.
func TestStalledListener(t *testing.T) {
	var tp Tap
	stalled, reader := listen(t, &tp, ""), listen(t, &tp, "")
	s := newSampler(t, &tp, newConfig(t, "lines"))
	text := strings.Repeat("http://h.example/\n", 100)
	read := 0
	for range 50 {
		process(s, text)
		read += len(drain(reader))
	}
	if len(stalled.C) != queued || stalled.Dropped() == 0 || int64(read) != reader.Examined() || reader.Dropped() != 0 {
		t.Errorf("stalled: %d queued, %d dropped; reader: %d of %d, %d dropped", len(stalled.C), stalled.Dropped(), read, reader.Examined(), reader.Dropped())
	}
}

// TestBudget checks with a simulated clock that a worker spends one part in
// 125 of its time on samples, whatever a sample costs.
func TestBudget(t *testing.T) {
	for _, cost := range []time.Duration{time.Microsecond, 50 * time.Microsecond, 3 * time.Millisecond} {
		var tp Tap
		l := listen(t, &tp, "")
		s := newSampler(t, &tp, newConfig(t, "lines"))
		now, begun := time.Unix(1e9, 0), time.Unix(1e9, 0)
		seen := int64(0)
		s.now = func() time.Time { // each record that was read since the last call has taken cost
			n := l.Examined()
			now = now.Add(time.Duration(n-seen) * cost)
			seen = n
			return now
		}
		for range 20_000 {
			now = now.Add(400 * time.Microsecond) // what the codec takes for a batch
			process(s, "http://h.example/\nhttp://h.example/a\nhttp://h.example/b\n")
			drain(l)
		}
		spent, all := time.Duration(seen)*cost, now.Sub(begun)
		if spent > all/100 || spent < all/200 && cost > time.Microsecond {
			t.Errorf("%v each: %v of %v were spent on %d samples", cost, spent, all, seen)
		}
	}
}

// TestOff checks that a tap without listeners allocates nothing.
func TestOff(t *testing.T) {
	var tp Tap
	s := newSampler(t, &tp, newConfig(t, "lines"))
	b := &engine.Batch{Lane: new(engine.Lane), In: []byte("http://h.example/\n")}
	run := func() {
		b.Next, b.Out.Bytes, b.Out.Recs = 0, b.Out.Bytes[:0], b.Out.Recs[:0]
		s.Process(b)
	}
	run()
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestListeners(t *testing.T) {
	var tp Tap
	var list []*Listener
	for range MaxListeners {
		list = append(list, listen(t, &tp, ""))
	}
	if _, err := tp.Listen(Filter{Rate: 1}); !errors.Is(err, ErrBusy) {
		t.Errorf("one listener too many: %v", err)
	}
	for _, l := range list {
		l.Close()
	}
	if tp.listeners() != nil {
		t.Error("a listener is left")
	}
}

func TestRate(t *testing.T) {
	var tp Tap
	l, err := tp.Listen(Filter{Rate: 2})
	if err != nil {
		t.Fatal(err)
	}
	n, now := 0, l.since
	for range 1000 {
		now = now.Add(10 * time.Millisecond)
		if l.admits(now) {
			n++
		}
	}
	if n < 20 || n > 22 {
		t.Errorf("%d samples in 10 s", n)
	}
}

// TestMessages checks samples of messages: they have the position of the
// message.
func TestMessages(t *testing.T) {
	var tp Tap
	l := listen(t, &tp, "")
	s := newSampler(t, &tp, newConfig(t, "lines"))
	in := "http://h/1http://h/2http://h/3"
	b := &engine.Batch{Lane: new(engine.Lane), In: []byte(in)}
	for i := range 3 {
		b.Msgs = append(b.Msgs, engine.Message{Value: engine.Span{Off: uint32(i * 10), Len: 10}, Pos: int64(100 + i)})
	}
	s.Process(b)
	got := drain(l)
	if len(got) == 0 {
		t.Fatal("no samples")
	}
	for _, data := range got {
		var x Sample
		if err := json.Unmarshal([]byte(data), &x); err != nil || x.URL != fmt.Sprintf("http://h/%d", x.Offset-99) {
			t.Errorf("%v %s", err, data)
		}
	}
}
