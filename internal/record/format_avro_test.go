package record

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/twmb/avro"
)

// avroVisit is a schema with every kind of type around the URL.
const avroVisit = `{"type":"record","name":"Visit","namespace":"org.example","fields":[
	{"name":"id","type":"long"},
	{"name":"ok","type":"boolean"},
	{"name":"ratio","type":["null","double"]},
	{"name":"kind","type":{"type":"enum","name":"Kind","symbols":["A","B"]}},
	{"name":"hash","type":{"type":"fixed","name":"Hash","size":4}},
	{"name":"tags","type":{"type":"array","items":"string"}},
	{"name":"more","type":{"type":"map","values":["null","long",{"type":"array","items":"org.example.Kind"}]}},
	{"name":"request","type":["null","string",{"type":"record","name":"Request","fields":[
		{"name":"hash","type":"Hash"},
		{"name":"url","type":["null","string","bytes","int"],"default":null},
		{"name":"next","type":["null","Request"]}
	]}]},
	{"name":"score","type":"float"},
	{"name":"body","type":"bytes"},
	{"name":"n","type":"int"}
]}`

var avroVisitSchema = avro.MustParse(avroVisit)

// avroConfig reads messages with avroVisit, id 7, and with a few others.
var avroConfig = Config{Format: "avro", URLField: "request.url", Schemas: avroSchemas}

func avroSchemas(id uint32) ([]string, error) {
	switch id {
	case 7:
		return []string{avroVisit}, nil
	case 8:
		return []string{`"string"`}, nil
	case 9:
		return []string{`{"type":"record","name":"Loop","fields":[{"name":"a","type":"Loop"}]}`}, nil
	case 10:
		return []string{`{"type":"array","items":"null"}`}, nil
	case 11:
		return []string{`{`}, nil
	case 12: // a schema that refers to another one
		return []string{
			`{"type":"record","name":"org.example.Request","fields":[{"name":"url","type":"string"}]}`,
			`{"type":"record","name":"Outer","namespace":"org.example","fields":[{"name":"request","type":"Request"}]}`,
		}, nil
	case 13:
		return nil, errBroken
	case 14:
		return []string{`{"type":"record","name":"R","fields":[{"name":"request","type":{"type":"array","items":{"type":"map","values":"bytes"}}}]}`}, nil
	}
	return nil, ErrNoSchema
}

var errBroken = errors.New("the registry is broken")

// avroMessage returns a message with the URL, which is null, or a string or
// bytes.
func avroMessage(t testing.TB, url any) []byte {
	t.Helper()
	request := map[string]any{"hash": []byte("\n\n\n\n"), "url": url, "next": map[string]any{"hash": []byte("abcd"), "url": "HTTP://Next/%7e", "next": nil}}
	b, err := avroVisitSchema.AppendEncode([]byte("\x00\x00\x00\x00\x07"), map[string]any{
		"id": 300, "ok": true, "ratio": 0.5, "kind": "B", "hash": []byte("hash"), "tags": []string{"a", "HTTP://Tag/%7e"},
		"more": map[string]any{"x": []string{"A", "B"}}, "request": request,
		"score": float32(1), "body": []byte("HTTP://Body/%7e\n"), "n": 5, // 5 is written as the byte of a line feed
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decodeAvro decodes a message.
func decodeAvro(t testing.TB, b []byte) (v map[string]any, err error) {
	t.Helper()
	rest, err := avroVisitSchema.Decode(b[5:], &v)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d more bytes", len(rest))
	}
	return v, err
}

// TestAvro checks that only the URL and its length change.
func TestAvro(t *testing.T) {
	for in, want := range map[any]any{
		"HTTP://Example.com/%7ea":                           "http://example.com/~a",
		"http://example.com/é" + strings.Repeat("x", 42):    "http://example.com/%C3%A9" + strings.Repeat("x", 42), // the length becomes longer
		"http://example.com/%7e" + strings.Repeat("x", 43):  "http://example.com/~" + strings.Repeat("x", 43),      // shorter
		"http://example.com/é" + strings.Repeat("x", 10000): "http://example.com/%C3%A9" + strings.Repeat("x", 10000),
		"":            "",
		"http://[x":   "http://[x",
		[3]byte{}:     nil,
		"http://h/~x": "http://h/~x",
	} {
		if _, ok := in.([3]byte); ok {
			in = nil
		}
		c := avroConfig
		c.Normalizer = normalizers["equiv"]
		out, _, _ := rewriteMessage(t, c, avroMessage(t, in))
		if !bytes.Equal(out, avroMessage(t, want)) {
			t.Errorf("%q:\n got %q\nwant %q", in, out, avroMessage(t, want))
		}
	}
	out, _, _ := rewriteMessage(t, avroConfig, avroMessage(t, []byte("HTTP://H")))
	if !bytes.Equal(out, avroMessage(t, []byte("http://h/"))) {
		t.Errorf("got %q for bytes", out)
	}
}

// TestAvroBlocks checks elements of arrays and maps, whose blocks can state
// their length.
func TestAvroBlocks(t *testing.T) {
	const head = "\x00\x00\x00\x00\x0e"
	for _, f := range []struct{ path, in, want string }{
		{"request[1].u", head + "\x04\x02\x02v\x02x\x00\x02\x02u\x10HTTP://H\x00\x00", head + "\x04\x02\x02v\x02x\x00\x02\x02u\x12http://h/\x00\x00"},
		{"request[1].u", head + "\x02\x00\x02\x02\x02u\x10HTTP://H\x00\x00", head + "\x02\x00\x02\x02\x02u\x12http://h/\x00\x00"},  // in the second block
		{"request[0].u", head + "\x01\x1c\x01\x16\x02u\x10HTTP://H\x00\x00", head + "\x01\x1e\x01\x18\x02u\x12http://h/\x00\x00"},  // blocks with lengths
		{"request[0].u", head + "\x02\x04\x02u\x00\x02u\x10HTTP://H\x00\x00", head + "\x02\x04\x02u\x00\x02u\x10HTTP://H\x00\x00"}, // the first of two
		{"request[0].u", head + "\x00", `"field-missing","at":5,`},
		{"request[0].u", head + "\x02\x02\x02v\x02x\x00\x00", `"field-missing","at":6,`},
		{"request[0].u", head + "\x01\x1a\x01\x16\x02u\x10HTTP://H\x00\x00", `"unparsed","at":`}, // wrong lengths
		{"request[0].u", head + "\x01\x1c\x01\x14\x02u\x10HTTP://H\x00\x00", `"unparsed","at":`},
		{"request[0].u", head + "\x01\x03", `"unparsed","at":6,`},
		{"request.u", head + "\x00", `"field-missing","at":5,`},
		{"request[0][0]", head + "\x00", `"field-missing","at":5,`},
		{"other[0].u", head + "\x00", `"field-missing","at":5,`},
	} {
		c := avroConfig
		c.URLField, c.OnRejected = f.path, DispositionDead
		out, dead, _ := rewriteMessage(t, c, []byte(f.in))
		if string(out) != f.want && !strings.HasPrefix(string(dead), `{"reason":`+f.want) {
			t.Errorf("%s of %q: got %q %s, want %q", f.path, f.in, out, dead, f.want)
		}
	}
}

// TestAvroReject checks the reasons and offsets of messages that cannot be read.
func TestAvroReject(t *testing.T) {
	good := avroMessage(t, "http://h/")
	for name, f := range map[string]struct{ in, want string }{
		"another framing":    {"\x01\x00\x00\x00\x07", `"unparsed","at":0,`},
		"no id":              {"\x00\x00\x00\x07", `"unparsed","at":4,`},
		"unknown id":         {"\x00\x00\x00\x00\x01abc", `"schema-unknown","at":1,`},
		"damaged schema":     {"\x00\x00\x00\x00\x0babc", `"schema-unknown","at":1,`},
		"more bytes":         {string(good) + "\n", fmt.Sprintf(`"unparsed","at":%d,`, len(good))},
		"no field":           {"\x00\x00\x00\x00\x08\x02a", `"field-missing","at":5,`},
		"type without bytes": {"\x00\x00\x00\x00\x09", `"unparsed","at":5,`},
		"4 G of nulls":       {"\x00\x00\x00\x00\x0a\x80\x80\x80\x80\x20\x00", `"field-missing","at":5,`},
		"invalid varint":     {"\x00\x00\x00\x00\x08" + strings.Repeat("\xff", 12), `"unparsed","at":5,`},
		"negative length":    {"\x00\x00\x00\x00\x08\x01", `"unparsed","at":5,`},
		"another branch":     {string(avroMessage(t, int32(5))), fmt.Sprintf(`"field-missing","at":%d,`, bytes.Index(good, []byte("\n\n\n\n"))+4)},
	} {
		c := avroConfig
		c.OnRejected = DispositionDead
		out, dead, _ := rewriteMessage(t, c, []byte(f.in))
		if len(out) > 0 || !bytes.HasPrefix(dead, []byte(`{"reason":`+f.want)) {
			t.Errorf("%s: got %q and %s, want %s", name, out, dead, f.want)
		}
	}
	requireCut(t, avroConfig, good)
	out, _, _ := rewriteMessage(t, avroConfig, []byte("\x00\x00\x00\x00\x0c\x10HTTP://H"))
	if string(out) != "\x00\x00\x00\x00\x0c\x12http://h/" {
		t.Errorf("with a schema that refers to another one: %q", out)
	}
}

// TestAvroStop checks that a registry that fails ends the job, and an unknown id
// if that is configured.
func TestAvroStop(t *testing.T) {
	c := avroConfig
	for id, f := range map[string]struct {
		stops bool
		want  error
	}{"\x0d": {false, errBroken}, "\x01": {true, ErrNoSchema}} {
		c.StopNoSchema = f.stops
		w := newJob(t, c).NewWorker()
		var st Stats
		out, dead := w.Append(nil, nil, []byte("\x00\x00\x00\x00"+id), Position{Message: true}, &st)
		if !errors.Is(w.Err(), f.want) || len(out)+len(dead) > 0 || st.Records > 0 {
			t.Errorf("got %v, %q, %q and %+v, want %v and nothing", w.Err(), out, dead, st, f.want)
		}
		if w.Append(nil, nil, avroMessage(t, "http://h/"), Position{Message: true}, &st); w.Err() != nil || st.Records != 1 {
			t.Errorf("afterwards: %v, %+v", w.Err(), st)
		}
	}
}

func TestAvroNoAllocs(t *testing.T) {
	requireNoAllocs(t, avroConfig, avroMessage(t, "HTTP://Example.com/%7e"))
}

// sameAvro decodes two messages with the library and compares them without
// their URLs. It cannot read all messages that the format can.
func sameAvro(t testing.TB) func(a, b []byte) error {
	return func(a, b []byte) error {
		if len(a) < 5 || !bytes.HasPrefix(a, []byte("\x00\x00\x00\x00\x07")) {
			return nil
		}
		x, err := decodeAvro(t, a)
		if err != nil {
			return nil
		}
		y, err := decodeAvro(t, b)
		if err != nil {
			return err
		}
		for _, v := range []map[string]any{x, y} {
			if r, ok := v["request"].(map[string]any); ok {
				delete(r, "url")
			}
		}
		if !reflect.DeepEqual(x, y) && fmt.Sprintf("%#v", x) != fmt.Sprintf("%#v", y) { // NaN
			return fmt.Errorf("%v became %v", x, y)
		}
		return nil
	}
}

func TestAvroMutations(t *testing.T) {
	samples := [][]byte{avroMessage(t, "HTTP://Example.com/%7e"), avroMessage(t, []byte("http://h/é"+strings.Repeat("x", 50)))}
	c := avroConfig
	c.Schemas = func(id uint32) ([]string, error) {
		texts, err := avroSchemas(id)
		if err != nil {
			err = ErrNoSchema
		}
		return texts, err
	}
	testBinaryMutations(t, c, true, samples, sameAvro(t))
	c.URLField = "request[0].u"
	testBinaryMutations(t, c, true, [][]byte{
		[]byte("\x00\x00\x00\x00\x0e\x01\x1c\x01\x16\x02u\x10HTTP://H\x00\x00"),
		[]byte("\x00\x00\x00\x00\x0e\x04\x02\x02u\x10HTTP://H\x00\x02\x02u\x10HTTP://H\x00\x00"),
	}, func(_, _ []byte) error { return nil })
}

func FuzzAvro(f *testing.F) {
	f.Add(avroMessage(f, "HTTP://Example.com/%7e"))
	f.Add([]byte("\x00\x00\x00\x00\x0e\x01\x1c\x01\x16\x02u\x10HTTP://H\x00\x00"))
	f.Add([]byte("\x00\x00\x00\x00\x0a\x80\x80\x80\x80\x20\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 || len(in) > 4 && in[4] == 13 {
			return
		}
		out, _, st := rewriteMessage(t, avroConfig, in)
		if st.Rejects[Unparsed] > 0 {
			return
		}
		if err := sameAvro(t)(in, out); err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		if again, _, _ := rewriteMessage(t, avroConfig, out); !bytes.Equal(out, again) {
			t.Fatalf("%q\nonce  %q\ntwice %q", in, out, again)
		}
	})
}

// FuzzAvroSchema checks that no schema causes a panic or an endless loop.
func FuzzAvroSchema(f *testing.F) {
	f.Add(avroVisit, []byte("\x02a"))
	f.Add(`{"type":"record","name":"R","fields":[{"name":"request","type":["null","R"]},{"name":"url","type":"string"}]}`, []byte("\x02\x02\x02a"))
	f.Fuzz(func(t *testing.T, schema string, value []byte) {
		c := avroConfig
		c.Schemas = func(uint32) ([]string, error) { return []string{schema}, nil }
		rewriteMessage(t, c, append([]byte("\x00\x00\x00\x00\x07"), value...))
	})
}
