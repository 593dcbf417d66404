package record

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/wire"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// protobufVisit is the type of the test messages:
//
//	message Visit {
//	  int64 id = 1;
//	  string agent = 2;
//	  message Request { repeated string url = 1; bytes body = 2; fixed32 n = 3; Request next = 4; }
//	  repeated Request request = 3;
//	  double time = 4;
//	}
var protobufVisit = func() protoreflect.MessageDescriptor {
	field := func(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type, label descriptorpb.FieldDescriptorProto_Label, of string) *descriptorpb.FieldDescriptorProto {
		f := &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Type: &kind, Label: &label}
		if of != "" {
			f.TypeName = &of
		}
		return f
	}
	const (
		one  = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
		many = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	)
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: new("visit.proto"), Syntax: new("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{
			Name: new("Visit"),
			Field: []*descriptorpb.FieldDescriptorProto{
				field("id", 1, descriptorpb.FieldDescriptorProto_TYPE_INT64, one, ""),
				field("agent", 2, descriptorpb.FieldDescriptorProto_TYPE_STRING, one, ""),
				field("request", 3, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, many, ".Visit.Request"),
				field("time", 4, descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, one, ""),
			},
			NestedType: []*descriptorpb.DescriptorProto{{
				Name: new("Request"),
				Field: []*descriptorpb.FieldDescriptorProto{
					field("url", 1, descriptorpb.FieldDescriptorProto_TYPE_BYTES, many, ""),
					field("body", 2, descriptorpb.FieldDescriptorProto_TYPE_BYTES, one, ""),
					field("n", 3, descriptorpb.FieldDescriptorProto_TYPE_FIXED32, one, ""),
					field("next", 4, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, one, ".Visit.Request"),
				},
			}},
		}},
	}, nil)
	if err != nil {
		panic(err)
	}
	return file.Messages().Get(0)
}()

var protobufConfig = Config{Format: "protobuf", URLField: "3.1"}

// protobufMessage returns a message with a request for each list of URLs.
func protobufMessage(requests ...[]string) []byte {
	var b []byte
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), 300)
	for _, urls := range requests {
		var r []byte
		r = protowire.AppendFixed32(protowire.AppendTag(r, 3, protowire.Fixed32Type), 10)
		for _, u := range urls {
			r = protowire.AppendString(protowire.AppendTag(r, 1, protowire.BytesType), u)
		}
		r = protowire.AppendBytes(protowire.AppendTag(r, 2, protowire.BytesType), []byte("\n\nHTTP://Body/%7e\n"))
		b = protowire.AppendBytes(protowire.AppendTag(b, 3, protowire.BytesType), r)
	}
	b = protowire.AppendTag(b, 9, protowire.StartGroupType) // an unknown group
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), 7)
	b = protowire.AppendTag(b, 9, protowire.EndGroupType)
	b = protowire.AppendFixed64(protowire.AppendTag(b, 4, protowire.Fixed64Type), 0x3ff0000000000000)
	return protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), "agent\n")
}

// delimited returns messages as a file.
func delimited(messages ...[]byte) (file []byte) {
	for _, m := range messages {
		file = protowire.AppendBytes(file, m)
	}
	return file
}

// TestProtobuf checks that the URLs change, and with them the lengths of their
// messages, in messages and in files.
func TestProtobuf(t *testing.T) {
	long := strings.Repeat("x", 100)
	for name, f := range map[string]struct{ in, want []byte }{
		"one":              {protobufMessage([]string{"HTTP://Example.com/%7ea"}), protobufMessage([]string{"http://example.com/~a"})},
		"repeated":         {protobufMessage([]string{"HTTP://A", "http://b/", "HTTP://C"}, nil, []string{"HTTP://D/" + long}), protobufMessage([]string{"http://a/", "http://b/", "http://c/"}, nil, []string{"http://d/" + long})},
		"length of 2":      {protobufMessage([]string{"http://h/" + long + "éé" + "xxxxxxxxx"}), protobufMessage([]string{"http://h/" + long + "%C3%A9%C3%A9" + "xxxxxxxxx"})},
		"length of 1":      {protobufMessage([]string{"http://h/" + long + "%7e%7e%7e%7e%7e%7e%7e"}), protobufMessage([]string{"http://h/" + long + "~~~~~~~"})},
		"outer length":     {protobufMessage([]string{"http://h/é" + strings.Repeat("x", 80)}), protobufMessage([]string{"http://h/%C3%A9" + strings.Repeat("x", 80)})},
		"empty":            {protobufMessage([]string{""}), protobufMessage([]string{""})},
		"invalid":          {protobufMessage([]string{"http://[x", "HTTP://H"}), protobufMessage([]string{"http://[x", "http://h/"})},
		"clean, long form": {[]byte("\x1a\x8d\x80\x00\x0a\x8a\x00http://h/~"), []byte("\x1a\x8d\x80\x00\x0a\x8a\x00http://h/~")},
		"long form":        {[]byte("\x1a\x8f\x80\x00\x0a\x8c\x00HTTP://H/%7e"), []byte("\x1a\x0c\x0a\x0ahttp://h/~")},
	} {
		c := protobufConfig
		c.Normalizer = normalizers["equiv"]
		out, _, st := rewriteMessage(t, c, f.in)
		if !bytes.Equal(out, f.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, out, f.want)
		}
		if err := sameProtobuf(f.in, out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, again := rewriteMessage(t, c, out); again.Changed != 0 || again.Records != st.Records {
			t.Errorf("%s: rewriting is not idempotent", name)
		}
		framed, _, _ := rewriteMessage(t, c, append([]byte("\x00\x00\x00\x00\x07\x04\x02\x00"), f.in...))
		if string(framed) != "\x00\x00\x00\x00\x07\x04\x02\x00"+string(f.want) {
			t.Errorf("%s, after the id of a schema:\n got %q\nwant %q", name, framed, f.want)
		}
		file, _, _ := runJob(t, newJob(t, c), delimited(f.in, nil, f.in))
		if want := delimited(f.want, nil, f.want); !bytes.Equal(file, want) {
			t.Errorf("%s, as a file:\n got %q\nwant %q", name, file, want)
		}
	}
}

// TestProtobufReject checks the reasons and offsets of records that cannot be
// read.
func TestProtobufReject(t *testing.T) {
	for in, want := range map[string]string{
		"\x08":                                 `"unparsed","at":1,`, // no value
		"\x08\x80":                             `"unparsed","at":2,`,
		"\x08" + strings.Repeat("\x80", 11):    `"unparsed","at":1,`,
		"\x00\x01":                             `"unparsed","at":0,`, // field 0
		"\x0f\x01":                             `"unparsed","at":0,`, // wire type 7
		"\x08\x01\x0c":                         `"unparsed","at":2,`, // the end of a group
		"\x0b\x08\x01":                         `"unparsed","at":3,`, // a group without an end
		"\x0b\x14":                             `"unparsed","at":1,`, // with another end
		strings.Repeat("\x0b", 101):            `"unparsed","at":101,`,
		"\x0d\x01\x02\x03":                     `"unparsed","at":4,`,
		"\x12\x05abc":                          `"unparsed","at":5,`,
		"\x12\xff\xff\xff\xff\xff\xff\xff\x7f": `"unparsed","at":9,`,
		"\x1a\x04\x0a\x03ab\x08\x01":           `"unparsed","at":6,`, // beyond the message around it
		"\x08\x01\x18\x01":                     `"field-missing","at":2,`,
		"\x1a\x02\x08\x01":                     `"field-missing","at":2,`,
	} {
		c := protobufConfig
		c.OnRejected = DispositionDead
		out, dead, _ := rewriteMessage(t, c, []byte(in))
		if len(out) > 0 || !bytes.HasPrefix(dead, []byte(`{"reason":`+want)) {
			t.Errorf("%q: got %q and %s, want %s", in, out, dead, want)
		}
	}
	for _, path := range []string{"", "0", "-1", "a", "1.", ".1", "1..2", "536870912", "3.1[0]", strings.Repeat("1.", 100) + "1"} {
		_, err := New(Config{Format: "protobuf", URLField: path, Normalizer: normalizers["equiv"]})
		if err == nil || !strings.Contains(err.Error(), "field") {
			t.Errorf("the path %q: got %v", path, err)
		}
	}
}

// TestProtobufFile checks that a file is split into the same records wherever a
// block ends.
func TestProtobufFile(t *testing.T) {
	var file []byte
	var messages []string
	for i := range 9 {
		m := delimited(protobufMessage([]string{strings.Repeat("x", i*30)}))
		messages, file = append(messages, string(m)), append(file, m...)
	}
	r := newJob(t, protobufConfig).reader.(*wire.ProtobufReader)
	for _, damage := range []string{"", "\x05ab", "\x80", strings.Repeat("\xff", 11), "\xff\xff\xff\xff\xff\x01rest"} {
		want := messages
		if damage != "" {
			want = append(messages[:len(messages):len(messages)], damage)
		}
		for _, size := range []int{1, 7, 100, 1 << 20} {
			if got := binaryUnits(t, r, r.Next, append(bytes.Clone(file), damage...), size); !slices.Equal(got, want) {
				t.Errorf("%d bytes at a time, damage %q: got %d records, want %d", size, damage, len(got), len(want))
			}
		}
		if r.Incomplete([]byte(damage)) != (damage != "" && damage[0] != 0xff) {
			t.Errorf("Incomplete(%q) is %t", damage, r.Incomplete([]byte(damage)))
		}
	}
	if n := r.Length([]byte("\x80\x80\x40abc")); n != 3+1<<20 {
		t.Errorf("got the length %d", n)
	}
	if n := r.Length([]byte("\x80\x80")); n != 0 {
		t.Errorf("got the length %d of a cut length", n)
	}
}

func TestProtobufNoAllocs(t *testing.T) {
	requireNoAllocs(t, protobufConfig, protobufMessage([]string{"HTTP://Example.com/%7e"}, []string{"HTTP://H"}))
}

// sameProtobuf decodes two messages with the library and compares them without
// their URLs. It cannot read all messages that the format can.
func sameProtobuf(a, b []byte) error {
	x, y := dynamicpb.NewMessage(protobufVisit), dynamicpb.NewMessage(protobufVisit)
	if proto.Unmarshal(a, x) != nil {
		return nil
	}
	if err := proto.Unmarshal(b, y); err != nil {
		return err
	}
	for _, m := range []*dynamicpb.Message{x, y} {
		list := m.Get(protobufVisit.Fields().ByNumber(3)).List()
		for i := range list.Len() {
			r := list.Get(i).Message()
			urls := r.Get(r.Descriptor().Fields().ByNumber(1)).List()
			for k := range urls.Len() {
				urls.Set(k, protoreflect.ValueOfBytes(nil))
			}
		}
	}
	if !proto.Equal(x, y) {
		return fmt.Errorf("%v became %v", x, y)
	}
	return nil
}

func protobufSamples() [][]byte {
	return [][]byte{
		protobufMessage([]string{"HTTP://Example.com/%7ea"}, []string{"HTTP://B", "HTTP://C"}),
		protobufMessage([]string{"http://h/é" + strings.Repeat("x", 110)}),
		[]byte("\x1a\x8f\x80\x00\x0a\x8c\x00HTTP://H/%7e"),
	}
}

func TestProtobufMutations(t *testing.T) {
	testBinaryMutations(t, protobufConfig, true, protobufSamples(), sameProtobuf)
}

// FuzzProtobuf checks that a file is split into the same records however it is
// read, and that no record loses a value.
func FuzzProtobuf(f *testing.F) {
	f.Add(delimited(protobufSamples()...), uint16(3))
	f.Add([]byte("\x04\x1a\x02\x0a\x00\x80\x80"), uint16(1))
	r := newJob(f, protobufConfig).reader.(*wire.ProtobufReader)
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
		out, _, st := runJob(t, newJob(t, protobufConfig), in)
		if again, _, _ := runJob(t, newJob(t, protobufConfig), out); st.Rejects[Unparsed] == 0 && !bytes.Equal(out, again) {
			t.Fatalf("%q\nonce  %q\ntwice %q", in, out, again)
		}
		w := newJob(t, protobufConfig).NewWorker()
		for _, rec := range all {
			_, n := wire.ReadUvarint([]byte(rec))
			var st Stats
			if out, _ := w.Append(nil, nil, []byte(rec[n:]), Position{Message: true}, &st); st.Rejects[Unparsed] == 0 {
				if err := sameProtobuf([]byte(rec[n:]), out); err != nil {
					t.Fatalf("%q: %v", rec, err)
				}
			}
		}
	})
}
