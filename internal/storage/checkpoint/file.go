package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// version is the version of the files that this package writes. It increases
// when a program that supports only the previous version could not interpret
// them.
const version = 2

// firstLine is the first line of snapshots and logs. The first line and the
// header frame keep this form in all later versions.
const (
	firstLine   = `{"urlfold":"checkpoint","version":2,"lines":0}` + "\n"
	firstPrefix = `{"urlfold":"checkpoint","version":`
)

// A header is the payload of the first frame of a file, stored as JSON in a
// section.
type header struct {
	Kind    string `json:"kind"` // "snapshot" or "log"
	Version int    `json:"version"`

	// Only in a log: its snapshot holds the state of generation PrevGen after
	// PrevSeq commits. The snapshot has the generation of its log.
	PrevGen uint64 `json:"prev_gen,omitempty"`
	PrevSeq uint64 `json:"prev_seq,omitempty"`

	// Only in a snapshot: there was no log when the snapshot was made, so a
	// missing log means no missing commits.
	First bool `json:"first,omitempty"`

	gen uint64 // generation of the frame
}

const (
	snapshotKind = "snapshot"
	logKind      = "log"
)

// appendHeader appends the first line and the header frame of a file of
// generation gen.
func appendHeader(dst []byte, h header, gen uint64) ([]byte, error) {
	h.Version = version
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	dst = append(dst, firstLine...)
	at := len(dst)
	return endFrame(appendSection(beginFrame(dst), headSection, text), at, gen, 0)
}

// parseHeader parses the beginning of a file and returns the frames that
// follow. It returns errNewer for a file of a later version only if the header
// frame confirms the version: a flipped bit in the first line proves nothing.
func parseHeader(data []byte) (h header, rest []byte, err error) {
	first, rest, ok := bytes.Cut(data, []byte("\n"))
	if !ok {
		return h, nil, errors.New("unexpected end of file")
	}
	f, rest, err := parseFrame(rest)
	if err != nil {
		return h, nil, err
	}
	err = sections(f.payload, func(kind uint64, text []byte) error {
		if kind != headSection {
			return nil
		}
		return json.Unmarshal(text, &h)
	})
	switch {
	case err == nil && h.Version > version:
		return h, nil, fmt.Errorf("format version is %d, but this program supports only up to version %d: %w", h.Version, version, errNewer)
	case err == nil && (h.Version != version || string(first)+"\n" != firstLine || f.seq != 0):
		err = errors.New("damaged header")
	}
	h.gen = f.gen
	return h, rest, err
}

// snapshotFrame is the number of bytes of lines after which a snapshot starts a
// new frame.
const snapshotFrame = 256 << 10

// writeSnapshot writes st as the snapshot of generation gen, passing it to
// write in pieces. first is the First field of its header.
func writeSnapshot(st *state, gen uint64, first bool, write func([]byte) error) error {
	buf, err := appendHeader(nil, header{Kind: snapshotKind, First: first}, gen)
	if err != nil {
		return err
	}
	seq, size := uint64(0), 0
	c := new(change)
	flush := func(last bool) error {
		seq++
		at := len(buf)
		buf, err = appendChange(beginFrame(buf), c)
		if err == nil {
			if last {
				buf = appendSection(buf, endSection, nil)
			}
			buf, err = endFrame(buf, at, gen, seq)
		}
		if err == nil {
			err = write(buf)
		}
		buf, size = buf[:0], 0
		*c = change{put: c.put[:0], extents: c.extents[:0]}
		return err
	}
	c.cuts, c.extra = &st.cuts, st.extra
	if st.keys != "" {
		c.keys = &st.keys
	}
	for source, l := range st.sources {
		for id, text := range l.all() {
			c.put = append(c.put, item{source, id, text})
			if size += len(text); size >= snapshotFrame {
				if err := flush(false); err != nil {
					return err
				}
			}
		}
	}
	for _, m := range st.extents {
		c.extents = append(c.extents, m)
		if size += len(m.Path); size >= snapshotFrame {
			if err := flush(false); err != nil {
				return err
			}
		}
	}
	return flush(true)
}

// parseSnapshot parses the frames of the snapshot with header h. It returns no
// state for a damaged snapshot.
func parseSnapshot(h header, frames *frameReader) (*state, error) {
	st := newState()
	for seq := uint64(1); ; seq++ {
		f, err := frames.next()
		if errors.Is(err, io.EOF) {
			err = errFrameCut
		}
		if err == nil && (f.gen != h.gen || f.seq != seq) {
			err = errors.New("frame belongs to another file")
		}
		if err != nil {
			return nil, err
		}
		c, end, err := parseChange(f.payload)
		if err != nil {
			return nil, err
		}
		st.apply(c)
		if !end {
			continue
		}
		if _, err := frames.next(); !errors.Is(err, io.EOF) {
			return nil, errors.New("unexpected data after the end")
		}
		return st, nil
	}
}

// A logFile is a log, whose commits are parsed one after the other.
type logFile struct {
	header
	frames *frameReader
	seq    uint64 // number of commits so far
	end    error  // why the log ends: nil, errFrameCut, or damage
	hole   bool   // valid commits follow the damage
}

// cut reports whether the log ends in an incomplete commit.
func (l *logFile) cut() bool { return errors.Is(l.end, errFrameCut) && !l.hole }

// next returns the next commit, or nil at the end, which end and hole describe.
func (l *logFile) next() (c *change) {
	f, err := l.frames.next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil && (f.gen != l.gen || f.seq != l.seq+1) {
		err = errors.New("missing commit")
	}
	if err == nil {
		c, _, err = parseChange(f.payload)
	}
	if err != nil {
		l.end, l.hole = err, laterFrame(l.frames.rest(), l.gen)
		return nil
	}
	l.seq++
	return c
}

// sortedKeys returns the keys of m in descending order.
func sortedKeys[V any](m map[uint64]V) []uint64 {
	keys := slices.Sorted(maps.Keys(m))
	slices.Reverse(keys)
	return keys
}
