package record

import (
	"iter"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
)

// A Record is a record of a [Reader]. It and everything that its methods return are valid
// until the next record is read. It is used by the goroutine of the Reader.
type Record struct {
	r     *Reader
	at    record.Position
	bytes []byte
	url   FoundURL
}

// Bytes returns the record with its line end. If the record is too long,
// Bytes returns its first MaxRecord bytes.
func (rec *Record) Bytes() []byte { return rec.bytes }

// Line returns the number of the record's first line, from 1.
func (rec *Record) Line() int64 { return rec.at.Line }

// Offset returns the offset of the record in the stream, in bytes.
func (rec *Record) Offset() int64 { return rec.at.Off }

// Reason returns why the record cannot be read, or "" if it can. A record that can be
// read may still have no URL. For a URL in it that cannot be parsed, see
// [FoundURL.Reason].
func (rec *Record) Reason() Reason {
	why, _ := rec.r.visit.Why()
	return reasonOf(why)
}

// ErrorOffset returns the offset in Bytes at which the record stops matching its format, if
// it has the Reason Unparsed.
func (rec *Record) ErrorOffset() int {
	_, at := rec.r.visit.Why()
	return at
}

// Blank reports whether the record holds no data, as blank lines, headers and comments do.
func (rec *Record) Blank() bool { return rec.r.visit.Blank() }

// Field returns the value of a field, and whether the record has it. A field of a URL, such
// as FieldNorm, describes the first URL. Values are the text that --to tsv writes, without
// the escapes of the record and of tsv.
func (rec *Record) Field(f Field) ([]byte, bool) { return rec.r.field(f, true) }

// Time returns FieldTime in UTC, and whether the record has it. The fraction of a second is
// rounded down to nanoseconds.
func (rec *Record) Time() (_ time.Time, ok bool) {
	sec, nano, ok := rec.r.visit.Time()
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(sec, nano).UTC(), true
}

// URLs returns the URLs of the record: of the request, then of the referer. A URL that
// cannot be parsed is among them: see [FoundURL.Reason]. A *FoundURL is valid until the loop
// continues.
func (rec *Record) URLs() iter.Seq[*FoundURL] {
	return func(yield func(*FoundURL) bool) {
		for i := range rec.r.visit.Sites() {
			if !rec.r.visit.URL(i) {
				continue
			}
			rec.url = FoundURL{rec.r, i}
			if !yield(&rec.url) {
				return
			}
		}
	}
}

// AppendRewrite appends the record with its URLs in normal form, as --to
// rewrite writes it. A record that cannot be read is appended as it is. If
// the format cannot be written, or the record is too long, AppendRewrite
// returns dst and an error. Each call parses the URLs a second time.
func (rec *Record) AppendRewrite(dst []byte) ([]byte, error) {
	return rec.r.write(dst, &rec.r.writers[0], record.RenderRewrite)
}

// AppendJSON appends a JSON object with Job.Fields and a line end for each
// URL, as --to jsonl writes it. It also appends an object for a record that
// cannot be read. Each call parses the URLs a second time.
func (rec *Record) AppendJSON(dst []byte) ([]byte, error) {
	return rec.r.write(dst, &rec.r.writers[1], record.RenderJSONL)
}

// A FoundURL is a URL of a [Record].
type FoundURL struct {
	r *Reader
	i int
}

// visit makes the visit show the URL, and returns the visit.
func (u *FoundURL) visit() *record.Visit {
	u.r.visit.URL(u.i)
	return u.r.visit
}

// Source returns the URL in the record, without the escapes of the format.
func (u *FoundURL) Source() []byte {
	text, _, _ := u.visit().Source()
	return text
}

// Range returns the offsets in Record.Bytes between which the URL is, with its escapes.
func (u *FoundURL) Range() (start, end int) {
	_, start, end = u.visit().Source()
	return start, end
}

// Norm returns the normal form; nil if the URL cannot be parsed. For a request,
// Norm returns the normal form of the whole URL if the record or Job.Base
// states the host, and otherwise of the target alone.
func (u *FoundURL) Norm() []byte {
	norm, _ := u.visit().Norm()
	return norm
}

// Reason returns why the URL cannot be parsed, or "" if it can.
func (u *FoundURL) Reason() Reason {
	_, why := u.visit().Norm()
	return reasonOf(why)
}

// Flags returns the flags of the URL: its defects and notable properties.
func (u *FoundURL) Flags() codec.Flags { return u.visit().Flags() }

// Key returns the key at a level. ok is false if the URL has no key: it cannot
// be parsed, or it may be truncated.
func (u *FoundURL) Key(lv codec.Level) (_ codec.Key, ok bool) { return u.visit().Key(lv) }

// Field is [Record.Field] for this URL.
func (u *FoundURL) Field(f Field) ([]byte, bool) {
	u.visit()
	return u.r.field(f, false)
}

// field returns a copy of a value of the visit, because the next call changes
// the value.
func (r *Reader) field(f Field, first bool) ([]byte, bool) {
	value, ok := r.visit.Field(int(f), first)
	if !ok {
		return nil, false
	}
	at := len(r.values)
	r.values = append(r.values, value...)
	return r.values[at:len(r.values):len(r.values)], true
}

// Result returns the codec's Result for the URL, and norm, the text that r.Out
// describes. Both are nil if the URL cannot be parsed or its host is not known.
// Do not change r.
func (u *FoundURL) Result() (r *codec.Result, norm []byte) { return u.visit().Result() }

// reasonOf returns the public form of a reason.
func reasonOf(why record.Reason) Reason {
	if why == 0 {
		return ""
	}
	return Reason(why.String())
}
