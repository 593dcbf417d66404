package checkpoint

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/pipeline"
)

// Limits of a state. What is beyond them was not written by a Store.
const (
	version  = 1
	maxLine  = 256 << 10
	maxBytes = 1 << 30
	maxLines = 2 << 20
)

// A head is the first line of a state.
type head struct {
	Urlfold string `json:"urlfold"`
	Version int    `json:"version"`
	Lines   int    `json:"lines"`
	Cuts    bool   `json:"cuts,omitempty"` // marks belong to the progress: see Store.SetCuts
}

// A line is any other line. Exactly one field is set.
type line struct {
	Entry *Entry `json:"entry,omitempty"`
	Mark  *mark  `json:"mark,omitempty"`
	Sum   string `json:"xxh3,omitempty"`
}

// A mark is a pipeline.Mark as it is written.
type mark struct {
	Sink   string `json:"sink"`
	Lane   string `json:"lane,omitempty"`
	Path   string `json:"path"`
	Length int64  `json:"length"`
}

const inBase64 = "base64:"

// texts calls f for the texts that may be any bytes.
func (l *line) texts(f func(*string)) {
	if e := l.Entry; e != nil {
		for _, s := range []*string{&e.Source, &e.ID, &e.Path, &e.Rel, &e.Verdict} {
			f(s)
		}
	}
	if m := l.Mark; m != nil {
		for _, s := range []*string{&m.Sink, &m.Lane, &m.Path} {
			f(s)
		}
	}
}

// appendLine appends l with its line end. What l points to is written to.
func appendLine(dst []byte, l line) ([]byte, error) {
	l.texts(func(s *string) {
		if !utf8.ValidString(*s) || strings.HasPrefix(*s, inBase64) {
			*s = inBase64 + base64.StdEncoding.EncodeToString([]byte(*s))
		}
	})
	text, err := json.Marshal(l)
	if err == nil && len(text) >= maxLine {
		err = errors.New("checkpoint: an entry is too long to be stored")
	}
	if err != nil {
		return dst, err
	}
	return append(append(dst, text...), '\n'), nil
}

func appendEntry(dst []byte, e Entry) ([]byte, error) { return appendLine(dst, line{Entry: &e}) }

func appendMark(dst []byte, m pipeline.Mark) ([]byte, error) {
	return appendLine(dst, line{Mark: &mark{m.Sink, m.Lane, m.Path, m.Length}})
}

// appendHead appends the first line of a state of n entries and marks.
func appendHead(dst []byte, n int, cuts bool) []byte {
	text, _ := json.Marshal(head{Urlfold: "checkpoint", Version: version, Lines: n, Cuts: cuts}) // it has no text that could fail
	return append(append(dst, text...), '\n')
}

// appendSum appends the last line of a state of which the hash is sum.
func appendSum(dst []byte, sum uint64) []byte { return fmt.Appendf(dst, "{\"xxh3\":\"%016x\"}\n", sum) }

// parse reads a state. It takes nothing of one that is not whole.
func parse(r io.Reader) (Contents, error) {
	p := parser{br: bufio.NewReaderSize(io.LimitReader(r, maxBytes), maxLine)}
	c, err := p.state()
	if err != nil {
		return Contents{}, fmt.Errorf("line %d: %w", p.n, err)
	}
	return c, nil
}

// A parser reads a state.
type parser struct {
	br  *bufio.Reader
	sum xxh3.Hasher
	n   int // lines read
}

// next returns the next line, without its line end. It is good until the next call.
func (p *parser) next() ([]byte, error) {
	p.n++
	text, err := p.br.ReadSlice('\n')
	switch {
	case err == io.EOF:
		return nil, errors.New("it ends too early")
	case err != nil:
		return nil, fmt.Errorf("a line that is too long, or cannot be read: %w", err)
	}
	return text, nil
}

func (p *parser) state() (c Contents, err error) {
	var h head
	text, err := p.next()
	if err == nil {
		err = strictly(text, &h)
	}
	switch {
	case err != nil:
		return c, err
	case h.Urlfold != "checkpoint":
		return c, errors.New("it is no checkpoint")
	case h.Version != version:
		return c, fmt.Errorf("it is of version %d, and this program knows version %d", h.Version, version)
	case h.Lines < 0 || h.Lines > maxLines:
		return c, errors.New("it has more lines than there can be")
	}
	c.Cuts = h.Cuts
	_, _ = p.sum.Write(text)
	for range h.Lines {
		if err := p.line(&c); err != nil {
			return c, err
		}
	}
	return c, p.end()
}

// line reads one entry or mark.
func (p *parser) line(c *Contents) error {
	text, err := p.next()
	if err != nil {
		return err
	}
	_, _ = p.sum.Write(text)
	var l line
	if err := strictly(text, &l); err != nil {
		return err
	}
	bad := false
	l.texts(func(s *string) {
		if code, ok := strings.CutPrefix(*s, inBase64); ok {
			raw, err := base64.StdEncoding.DecodeString(code)
			bad = bad || err != nil
			*s = string(raw)
		}
	})
	switch {
	case bad, l.Sum != "", (l.Entry == nil) == (l.Mark == nil):
		return errors.New("it makes no sense")
	case l.Mark != nil && l.Mark.Length >= 0:
		c.Marks = append(c.Marks, pipeline.Mark(*l.Mark))
	case l.Entry != nil && l.Entry.sound():
		c.Entries = append(c.Entries, *l.Entry)
	default:
		return errors.New("its numbers make no sense")
	}
	return nil
}

// end reads the checksum, behind which there is nothing.
func (p *parser) end() error {
	want := appendSum(nil, p.sum.Sum64())
	text, err := p.next()
	if err != nil {
		return err
	}
	if !slices.Equal(text, want) {
		return errors.New("the checksum is wrong")
	}
	if _, err := p.br.ReadByte(); err != io.EOF {
		return errors.New("there is more behind its end")
	}
	return nil
}

// strictly reads one value of JSON with known keys only.
func strictly(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return errors.New("it is not the JSON that is written here")
	}
	if d.More() {
		return errors.New("there is more than one value on it")
	}
	return nil
}
