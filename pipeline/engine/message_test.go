package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record"
)

// TestRecordCodecMessages: a record does not extend beyond its message,
// tombstones and empty values pass through, and each output record has the
// right origin.
func TestRecordCodecMessages(t *testing.T) {
	b := &Batch{Lane: newLane("t[0]", 1)}
	b.AddMessage(7, 0, []byte("k"), []byte("http://A.example/"))
	b.AddHeader("trace", []byte("1"))
	b.AddHeader("", nil)
	b.AddMessage(9, 0, []byte("gone"), nil)
	b.AddMessage(10, 0, nil, []byte{})
	b.AddMessage(12, 0, []byte{}, []byte("http://b.example/%7e\nhttp://[\nhttp://c.example"))
	b.AddMessage(15, 0, nil, nil)
	c := linesCodec(t)
	c.Process(b)
	if !b.done() || b.Stats.Records != 7 || b.Stats.Emitted != 6 || b.Stats.Dead != 1 || !b.Stats.Balanced() {
		t.Fatalf("%+v", b.Stats)
	}
	var got []string
	for i, r := range b.Out.Recs {
		m := &b.Msgs[r.Msg]
		pos, ordinal := b.Origin(&b.Out, i)
		got = append(got, fmt.Sprintf("%d/%d %q %q %v", pos, ordinal, b.Key(m), b.Out.Bytes[r.Off:r.Off+r.Len], m.Null))
	}
	want := []string{
		`7/0 "k" "http://a.example/\n" false`,
		`9/0 "gone" "" true`,
		`10/0 "" "" false`,
		`12/0 "" "http://b.example/~\n" false`,
		`12/1 "" "http://c.example/\n" false`,
		`15/0 "" "" true`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if b.Key(&b.Msgs[2]) != nil || b.Key(&b.Msgs[3]) == nil {
		t.Error("want an empty key and a missing key to differ")
	}
	var heads []string
	b.Headers(&b.Msgs[0], func(name, value []byte) { heads = append(heads, fmt.Sprintf("%s=%s", name, value)) })
	if strings.Join(heads, " ") != "trace=1 =" {
		t.Errorf("headers %q", heads)
	}
	if !strings.Contains(string(b.Dead.Bytes), `"offset":12`) || !strings.Contains(string(b.Dead.Bytes), `"line":2`) {
		t.Errorf("the dead letter lacks its position: %s", b.Dead.Bytes)
	}
}

// TestRecordCodecDocuments: each message is a document with a separate base,
// and offset is the position of the message.
func TestRecordCodecDocuments(t *testing.T) {
	b := &Batch{Lane: newLane("t[0]", 1)}
	b.AddMessage(7, 0, nil, []byte("<base href=http://a.example/>\n<a href=x><img src=y>"))
	b.AddMessage(9, 0, nil, []byte("<a href=http://b.example/><a href=/z>"))
	c := NewRecordCodec(jobOf(t, record.Config{Format: "html", Render: record.RenderTSV, Fields: []string{"offset", "line", "norm"}}))()
	c.Process(b)
	want := "7\t2\thttp://a.example/x\n7\t2\thttp://a.example/y\n9\t1\thttp://b.example/\n9\t1\t/z\n"
	if got := string(b.Out.Bytes); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestRecordCodecMessagesAgain: the codec finds the right record after a panic
// in a message, and for a refusal of any record.
func TestRecordCodecMessagesAgain(t *testing.T) {
	values := []string{"http://a.example/", "", "http://b.example/\nhttp://c.example/\n", "", "http://d.example/"}
	fill := func() *Batch {
		b := &Batch{Lane: newLane("t[0]", 1)}
		for i, v := range values {
			b.AddMessage(int64(i), 0, nil, []byte(v))
		}
		return b
	}
	whole := fill()
	linesCodec(t).Process(whole)
	for i, r := range whole.Out.Recs {
		c, b := linesCodec(t), fill()
		b.Next, b.NextMsg = int(r.Src), int(r.Msg)
		c.Refuse(b)
		body := strings.TrimSuffix(string(whole.Out.Bytes[r.Off:r.Off+r.Len]), "\n")
		if n := strings.Count(string(b.Dead.Bytes), "\n"); n != 1 || !strings.Contains(string(b.Dead.Bytes), `"record":"`+body) {
			t.Errorf("record %d, refused: %s", i, b.Dead.Bytes)
		}
	}
	c, b := linesCodec(t), fill()
	in, msgs := b.In, b.Msgs
	b.In, b.Msgs = in[:whole.Out.Recs[3].Src], msgs[:2:2]
	b.Msgs = append(b.Msgs, Message{Value: Span{msgs[2].Value.Off, whole.Out.Recs[3].Src - msgs[2].Value.Off}, Pos: 2})
	c.Process(b) // up to the second line of the third message
	b.In, b.Msgs, b.NextMsg = in, msgs, 2
	c.Reject(b)
	c.Process(b)
	if !b.done() || b.Stats.Records != whole.Stats.Records || b.Stats.Panics != 1 || b.Stats.Dead != 1 || !b.Stats.Balanced() {
		t.Errorf("after a panic: %+v", b.Stats)
	}
	if !strings.Contains(string(b.Dead.Bytes), "c.example") {
		t.Errorf("dead letters: %s", b.Dead.Bytes)
	}
}

// TestRecordCodecFacts: each record has its facts; those of tombstones are
// empty.
func TestRecordCodecFacts(t *testing.T) {
	b := &Batch{Lane: newLane("t[0]", 1)}
	b.AddMessage(0, 0, nil, []byte("http://a.example/%zz\nhttp://A.example/%zz\nhttp://[\nhttp://a.example/2"))
	b.AddMessage(1, 0, nil, nil)
	NewRecordCodec(linesJob(t, true))().Process(b)
	f := b.Out.Facts
	if len(f) != len(b.Out.Recs) || len(f) != 4 {
		t.Fatalf("%d facts of %d records", len(f), len(b.Out.Recs))
	}
	if f[0] != f[1] || f[0].Key == f[2].Key || f[0].Host != f[2].Host || f[0].Flags.IsZero() || !f[2].Flags.IsZero() || f[3] != (record.Fact{}) {
		t.Errorf("%+v", f)
	}
}
