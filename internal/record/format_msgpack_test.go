package record

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tinylib/msgp/msgp"
	"github.com/urlfold/urlfold/internal/record/internal/wire"
)

var msgpackConfig = Config{Format: "msgpack", URLField: "request.url"}

// msgpackRecord returns a record with values of every kind around the URL,
// which is encoded already.
func msgpackRecord(url []byte) []byte {
	b := msgp.AppendMapHeader(nil, 8)
	b = msgp.AppendInt(msgp.AppendString(b, "status"), 200)
	b = msgp.AppendFloat64(msgp.AppendString(b, "time"), 1431857103.5)
	b = msgp.AppendBool(msgp.AppendString(b, "tls"), true)
	b = msgp.AppendArrayHeader(msgp.AppendString(b, "list"), 3)
	b = msgp.AppendNil(msgp.AppendUint64(msgp.AppendInt(b, -5), 1<<40))
	b = msgp.AppendMapHeader(msgp.AppendString(b, "request"), 4)
	b = msgp.AppendString(msgp.AppendString(b, "method"), "GET")
	b = append(msgp.AppendString(b, "url"), url...)
	b = msgp.AppendString(msgp.AppendString(b, "url"), "HTTP://Second/%7e")
	b = msgp.AppendBytes(msgp.AppendString(b, "body"), bytes.Repeat([]byte{'\n'}, 300))
	b = append(msgp.AppendString(b, "ext"), "\xd6\xff\x00\x00\x00\x0a"...) // a timestamp
	b = msgp.AppendString(msgp.AppendString(b, "agent"), strings.Repeat("agent", 20))
	return msgp.AppendInt(msgp.AppendString(b, "end"), 10) // a line feed
}

// TestMsgpack checks that the new URL has the shortest header, or one of the
// kind that the writer used although it was not the shortest.
func TestMsgpack(t *testing.T) {
	long := func(n int) string { return "http://example.com/" + strings.Repeat("x", n-len("http://example.com/")) }
	raw := func(header, text string) []byte { return []byte(header + text) }
	str := func(text string) []byte { return msgp.AppendString(nil, text) }
	for name, u := range map[string][2][]byte{
		"fixstr":             {str("HTTP://Example.com/%7ea"), str("http://example.com/~a")},
		"fixstr at its end":  {str("HTTP://Example.com/" + strings.Repeat("x", 12)), str(long(31))},
		"str 8 to fixstr":    {str("HTTP://Example.com/%7e" + strings.Repeat("x", 11)), str("http://example.com/~" + strings.Repeat("x", 11))},
		"str 8":              {str("HTTP://Example.com/" + strings.Repeat("x", 200)), str(long(219))},
		"str 16 to str 8":    {str("HTTP://Example.com/%7e" + strings.Repeat("x", 235)), str("http://example.com/~" + strings.Repeat("x", 235))},
		"fixstr to str 8":    {str("http://example.com/é" + strings.Repeat("x", 10)), str("http://example.com/%C3%A9" + strings.Repeat("x", 10))},
		"str 8 to str 16":    {str("http://example.com/é" + strings.Repeat("x", 234)), str("http://example.com/%C3%A9" + strings.Repeat("x", 234))},
		"str 16 to str 32":   {str("http://example.com/é" + strings.Repeat("x", 65514)), str("http://example.com/%C3%A9" + strings.Repeat("x", 65514))},
		"long header stays":  {raw("\xda\x00\x16", "HTTP://Example.com/%7e"), raw("\xda\x00\x14", "http://example.com/~")},
		"str 32 stays":       {raw("\xdb\x00\x00\x00\x16", "HTTP://Example.com/%7e"), raw("\xdb\x00\x00\x00\x14", "http://example.com/~")},
		"clean long header":  {raw("\xda\x00\x14", "http://example.com/~"), raw("\xda\x00\x14", "http://example.com/~")},
		"bin 8":              {msgp.AppendBytes(nil, []byte("HTTP://Example.com/%7e")), msgp.AppendBytes(nil, []byte("http://example.com/~"))},
		"bin 8 to bin 16":    {msgp.AppendBytes(nil, []byte("http://example.com/é"+strings.Repeat("x", 234))), msgp.AppendBytes(nil, []byte("http://example.com/%C3%A9"+strings.Repeat("x", 234)))},
		"nil":                {msgp.AppendNil(nil), msgp.AppendNil(nil)},
		"empty":              {str(""), str("")},
		"not a URL, invalid": {str("http://[x"), str("http://[x")},
	} {
		in, want := msgpackRecord(u[0]), msgpackRecord(u[1])
		c := msgpackConfig
		c.Normalizer = normalizers["equiv"]
		out, _, st := rewriteMessage(t, c, in)
		if !bytes.Equal(out, want) {
			t.Errorf("%s:\n got %q\nwant %q", name, out, want)
		}
		if rest, err := msgp.Skip(out); err != nil || len(rest) > 0 {
			t.Errorf("%s: the output is not one value: %v, %d more bytes", name, err, len(rest))
		}
		if _, _, again := rewriteMessage(t, c, out); again.Changed != 0 || again.Records != st.Records {
			t.Errorf("%s: rewriting is not idempotent", name)
		}
	}
}

// TestMsgpackReject checks the reasons and offsets of records that cannot be
// read.
func TestMsgpackReject(t *testing.T) {
	good := msgpackRecord(msgp.AppendString(nil, "http://example.com/"))
	invalid := bytes.Replace(good, []byte("\xa3end\x0a"), []byte("\xa3end\xc1"), 1)
	for name, f := range map[string]struct {
		in   []byte
		want string
	}{
		"two values":     {append(bytes.Clone(good), good...), fmt.Sprintf(`"reason":"unparsed","at":%d,`, len(good))},
		"line end":       {append(bytes.Clone(good), '\n'), fmt.Sprintf(`"reason":"unparsed","at":%d,`, len(good))},
		"unused byte":    {invalid, fmt.Sprintf(`"reason":"unparsed","at":%d,`, len(invalid)-1)},
		"no field":       {msgp.AppendMapHeader(nil, 0), `"reason":"field-missing","at":0,`},
		"another type":   {msgp.AppendInt(nil, 5), `"reason":"field-missing","at":0,`},
		"number":         {msgpackRecord(msgp.AppendInt(nil, 5)), fmt.Sprintf(`"reason":"field-missing","at":%d,`, bytes.Index(good, []byte("\xa3url"))+4)},
		"4 G of members": {[]byte("\xdf\xff\xff\xff\xff\xa1a\xc0"), `"reason":"unparsed","at":8,`},
		"4 G of text":    {[]byte("\x81\xa1a\xdb\xff\xff\xff\xffa"), `"reason":"unparsed","at":9,`},
	} {
		c := msgpackConfig
		c.OnRejected = DispositionDead
		out, dead, _ := rewriteMessage(t, c, f.in)
		if len(out) > 0 || !bytes.Contains(dead, []byte(f.want)) || !bytes.Contains(dead, []byte(`"line":0,"offset":7,`)) {
			t.Errorf("%s: got %q and %s, want %s", name, out, dead, f.want)
		}
	}
	requireCut(t, msgpackConfig, good)
}

// TestMsgpackPaths checks that members and elements of every depth are found.
func TestMsgpackPaths(t *testing.T) {
	list := msgp.AppendArrayHeader(nil, 2)
	list = msgp.AppendMapHeader(list, 1)
	list = msgp.AppendString(msgp.AppendInt(list, 3), "no name")
	list = msgp.AppendMapHeader(list, 2)
	list = msgp.AppendArrayHeader(msgp.AppendString(list, "a.b"), 20)
	for i := range 20 {
		list = msgp.AppendString(list, fmt.Sprint("HTTP://H/", i))
	}
	list = msgp.AppendString(msgp.AppendBytes(list, []byte("bin")), "HTTP://H/bin")
	for path, want := range map[string]string{
		`[1]."a.b"[0]`:  "http://h/0\n",
		`[1].a\.b[19]`:  "http://h/19\n",
		`[1]."a.b"[20]`: "",
		`[1].bin`:       "http://h/bin\n",
		`[0].x`:         "",
		`[2]`:           "",
		`x`:             "",
	} {
		out, _, st := rewriteMessage(t, Config{Format: "msgpack", URLField: path, Render: RenderURLs}, list)
		if string(out) != want || (want == "") != (st.Rejects[NoField] == 1) {
			t.Errorf("%s: got %q, want %q", path, out, want)
		}
	}
	value, _, _ := rewriteMessage(t, Config{Format: "msgpack", URLField: "[0]"}, msgp.AppendString(msgp.AppendArrayHeader(nil, 1), "HTTP://H"))
	if string(value) != "\x91\xa9http://h/" {
		t.Errorf("got %q", value)
	}
}

// TestMsgpackFile checks that a file is split into the same records wherever a
// block ends, and that after damage the rest of the file is one record.
func TestMsgpackFile(t *testing.T) {
	var file []byte
	var values []string
	for i := range 9 {
		v := msgpackRecord(msgp.AppendString(nil, strings.Repeat("x", i*10)))
		values, file = append(values, string(v)), append(file, v...)
	}
	r := newJob(t, msgpackConfig).reader.(*wire.MsgpackReader)
	for _, damage := range []string{"", "\xc1abc", values[0][:100], "\x81\xa1a\xdb\xff\xff\xff\xffrest"} {
		want := values
		if damage != "" {
			want = append(values[:len(values):len(values)], damage)
		}
		for _, size := range []int{1, 7, 100, 1 << 20} {
			got := binaryUnits(t, r, r.Next, append(bytes.Clone(file), damage...), size)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%d bytes at a time, damage %q: got %d records, want %d", size, damage, len(got), len(want))
			}
		}
		if r.Incomplete([]byte(damage)) != (damage != "" && damage[0] != 0xc1) {
			t.Errorf("Incomplete(%q) is %t", damage, r.Incomplete([]byte(damage)))
		}
	}
	if n := r.Length([]byte("\xdb\x00\x01\x00\x00abc")); n != 5+1<<16 {
		t.Errorf("the length of a string is %d", n)
	}
}

func TestMsgpackDetect(t *testing.T) {
	good := msgpackRecord(msgp.AppendString(nil, "http://example.com/"))
	for in, want := range map[string]bool{
		string(good): true, string(good) + string(good[:50]): true,
		string(good[:50]): false, string(good) + "\xc1": false, "\x80": false, "\x81\x01\x02": false, "\x81\xa2a\nb": false, "{}": false,
	} {
		if g, ok := Detect([]byte(in)); (ok && g.Format == "msgpack") != want {
			t.Errorf("%q: got %q, %t", in, g.Format, ok)
		}
	}
}

func TestMsgpackNoAllocs(t *testing.T) {
	requireNoAllocs(t, msgpackConfig, msgpackRecord(msgp.AppendString(nil, "HTTP://Example.com/%7e")))
}

// plainMsgpack returns v without pointers.
func plainMsgpack(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = plainMsgpack(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = plainMsgpack(v[name])
		}
	case *msgp.RawExtension:
		return *v
	}
	return v
}

// sameMsgpack compares two records with the library msgp. It cannot read all
// records that the format can.
func sameMsgpack(a, b []byte) error {
	x, restA, errA := msgp.ReadIntfBytes(a)
	y, restB, errB := msgp.ReadIntfBytes(b)
	if errA != nil {
		return nil
	}
	if errB != nil || len(restA) > 0 || len(restB) > 0 {
		return fmt.Errorf("error %w, %d and %d bytes left", errB, len(restA), len(restB))
	}
	for _, v := range []any{x, y} {
		if m, ok := v.(map[string]any); ok {
			if r, ok := m["request"].(map[string]any); ok {
				delete(r, "url")
			}
		}
	}
	if fmt.Sprintf("%#v", plainMsgpack(x)) != fmt.Sprintf("%#v", plainMsgpack(y)) {
		return fmt.Errorf("%#v became %#v", x, y)
	}
	return nil
}

func TestMsgpackMutations(t *testing.T) {
	testBinaryMutations(t, msgpackConfig, true, [][]byte{
		msgpackRecord(msgp.AppendString(nil, "HTTP://Example.com/%7e")),
		msgpackRecord(msgp.AppendString(nil, "http://example.com/é"+strings.Repeat("x", 10))),
		msgpackRecord([]byte("\xda\x00\x16HTTP://Example.com/%7e")),
		msgpackRecord(msgp.AppendBytes(nil, []byte("HTTP://Example.com/%7e"))),
	}, sameMsgpack)
}

// FuzzMsgpack checks that a file is split into the same records however it is
// read, and that no record loses a value.
func FuzzMsgpack(f *testing.F) {
	f.Add(msgpackRecord(msgp.AppendString(nil, "HTTP://Example.com/%7e")), uint16(3))
	f.Add([]byte("\x81\xa7request\x81\xa3url\xd9\x09HTTP://H/\xc1"), uint16(1))
	f.Add([]byte("\xdf\xff\xff\xff\xff\xdd\xff\xff\xff\xff\x0a"), uint16(1))
	r := newJob(f, msgpackConfig).reader.(*wire.MsgpackReader)
	f.Fuzz(func(t *testing.T, in []byte, size uint16) {
		in = in[:min(len(in), 4<<10)]
		size = max(size, uint16(len(in)/64), 1)
		all, parts := binaryUnits(t, r, r.Next, in, 1<<20), binaryUnits(t, r, r.Next, in, int(size))
		if !reflect.DeepEqual(all, parts) {
			t.Fatalf("reading %d bytes at a time: %q\nall at once: %q", size, parts, all)
		}
		if strings.Join(all, "") != string(in) {
			t.Fatalf("the records %q lack bytes of %q", all, in)
		}
		w := newJob(t, msgpackConfig).NewWorker()
		for _, rec := range all {
			var st Stats
			out, _ := w.Append(nil, nil, []byte(rec), Position{Message: true}, &st)
			if st.Rejects[Unparsed] > 0 {
				continue
			}
			if err := sameMsgpack([]byte(rec), out); err != nil {
				t.Fatalf("%q: %v", rec, err)
			}
			if again, _ := w.Append(nil, nil, out, Position{Message: true}, &st); !bytes.Equal(out, again) {
				t.Fatalf("%q\nonce  %q\ntwice %q", rec, out, again)
			}
		}
	})
}
