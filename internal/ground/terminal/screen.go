package terminal

import (
	"bytes"
	"io"
	"os"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"
)

// A screen is a terminal. It escapes unsafe characters, so that no command can
// forget to. It is safe for concurrent use.
type screen struct {
	w       io.Writer // the terminal
	records bool      // the text consists of records, in which nothing is painted

	mu   sync.Mutex
	text []byte // the end of the last text, if it may be a part of a character
	buf  []byte
}

// Screen returns w or, if w is a terminal, a writer that escapes the unsafe
// characters in all that is written to it. It leaves the colors of [Style.Paint]
// unchanged. Output to files and pipes is never changed.
func Screen(w io.Writer) io.Writer { return onScreen(w, false) }

// Writer is [Screen] for records: it escapes their colors, too, but leaves bytes
// that are not UTF-8 unless they are control characters.
func Writer(w io.Writer) io.Writer { return onScreen(w, true) }

func onScreen(w io.Writer, records bool) io.Writer {
	if !Is(w) {
		return w
	}
	return &screen{w: File(w), records: records}
}

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p...)
	whole := len(s.text) - s.unfinished()
	s.buf = appendText(s.buf[:0], s.text[:whole], s.records, !s.records)
	s.text = append(s.text[:0], s.text[whole:]...)
	if _, err := s.w.Write(s.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

// unfinished returns the length of the end of s.text that the next text may
// continue: a part of a character, a carriage return before a line feed, or a
// part of a color code.
func (s *screen) unfinished() int {
	end := s.text[max(0, len(s.text)-len(colorStart)-len(Red)):]
	i := bytes.LastIndexByte(end, colorStart[0])
	switch {
	case s.records && bytes.HasSuffix(end, []byte{'\r'}):
		return 1
	case !s.records && i >= 0 && bytes.IndexByte(end[i:], 'm') < 0:
		return len(end) - i
	}
	for n := 1; n < utf8.UTFMax && n <= len(end); n++ {
		if last := end[len(end)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// File returns the terminal behind a writer of [Screen] or [Writer], and
// otherwise w. It is for programs and texts that move the cursor.
func File(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.w
	}
	return w
}

// Is reports whether f, a reader or a writer, is a terminal.
func Is(f any) bool {
	if w, ok := f.(io.Writer); ok {
		f = File(w)
	}
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Redraw shows text, which may be painted, instead of what the screen w shows,
// without an empty screen in between.
func Redraw(w io.Writer, text []byte) error {
	text = bytes.ReplaceAll(appendText(nil, text, false, true), []byte("\n"), []byte(colorStart+"K\n"))
	_, err := io.WriteString(File(w), colorStart+"H"+string(text)+colorStart+"J")
	return err
}
