package markup

import "github.com/urlfold/urlfold/internal/record/internal/locate"

// A decoded is a piece of a record without the encodings around its text. Its URLs
// need not be ranges of the record: in base64, a byte of text is a part of two
// characters.
type decoded struct {
	text []byte
	at   []int // offset in the record of each byte of text
	end  int   // offset in the record after the last byte of text
	urls []*decodedURL
	used int // number of urls in the current record

	// Scratch.
	buf     []byte
	runs    []locate.Run
	last    []byte // text before the last decoding, and its offsets
	lastPos []int
}

// A decodedURL is a URL in a decoded, whose Dialect returns its text.
type decodedURL struct {
	locate.Dialect
	text []byte
	runs []locate.Run
}

// clear empties the text. The URLs stay.
func (d *decoded) clear() { d.text, d.at = d.text[:0], d.at[:0] }

// put appends text. All of it is at offset at of the record.
func (d *decoded) put(text []byte, at int) {
	n := len(d.text)
	d.text = append(d.text, text...)
	d.mark(n, at)
}

// mark sets the offset of the text from n on.
func (d *decoded) mark(n, at int) {
	for range len(d.text) - n {
		d.at = append(d.at, at)
	}
}

// copy appends text that begins at offset at of the record, as it is.
func (d *decoded) copy(text []byte, at int) {
	d.text = append(d.text, text...)
	for i := range text {
		d.at = append(d.at, at+i)
	}
}

// add adds the URL at s in the text, which is escaped as dialect describes.
func (d *decoded) add(f *locate.Found, s locate.Span, dialect *locate.Dialect) {
	if d.used == len(d.urls) {
		u := &decodedURL{}
		u.Text = u.decode
		d.urls = append(d.urls, u)
	}
	u := d.urls[d.used]
	d.used++
	text, runs, escaped := dialect.Unescape(d.buf, s.In(d.text), d.runs)
	if d.runs = runs; escaped {
		d.buf = text
	}
	u.text, u.runs = append(u.text[:0], text...), u.runs[:0]
	start, next := d.at[s.Start], -1
	for i := range text {
		if raw := d.at[s.Start+locate.RawOffset(runs, i)] - start; raw != next {
			u.runs, next = append(u.runs, locate.Run{Text: i, Raw: raw, Step: 1}), raw
		}
		next++
	}
	end := d.end
	if s.End < len(d.at) {
		end = d.at[s.End]
	}
	f.Add(locate.Between(start, max(end, start+1)), locate.RoleURL, &u.Dialect)
}

// decode implements Dialect.Text.
func (u *decodedURL) decode(dst, _ []byte, runs []locate.Run) ([]byte, []locate.Run, bool) {
	return append(dst[:0], u.text...), append(runs[:0], u.runs...), true
}

// take empties the text, and returns its content.
func (d *decoded) take() (text []byte, at []int) {
	d.text, d.last = d.last[:0], d.text
	d.at, d.lastPos = d.lastPos[:0], d.at
	return d.last, d.lastPos
}

// recode decodes the text from offset n on, which has the encoding c. It does nothing
// if c is nil.
func (d *decoded) recode(n int, c locate.Charset) {
	if c == nil {
		return
	}
	text, at := d.take()
	d.text, d.at = append(d.text, text[:n]...), append(d.at, at[:n]...)
	for i := n; i < len(text); {
		char, size := c.AppendChar(d.buf[:0], text[i:])
		d.buf = char
		d.put(char, at[i])
		i += size
	}
}
