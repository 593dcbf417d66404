package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/pipeline"
)

// version is that of the files that are written here. It changes when a program
// that knows the version before could not make sense of them.
const version = 2

// firstLine is what snapshots and logs begin with. To a program that knows
// version 1 only it is the first line of a state, of a version that it does not
// know: it says so. The first line and the header frame keep this form in all
// later versions.
const (
	firstLine   = `{"urlfold":"checkpoint","version":2,"lines":0}` + "\n"
	firstPrefix = `{"urlfold":"checkpoint","version":`
)

// A header is the payload of the first frame of a file, as JSON in a section.
type header struct {
	Kind    string `json:"kind"` // "snapshot" or "log"
	Version int    `json:"version"`

	// Of a log: the snapshot that it follows is the state of generation PrevGen
	// after PrevSeq commits. It has the generation of its log.
	PrevGen uint64 `json:"prev_gen,omitempty"`
	PrevSeq uint64 `json:"prev_seq,omitempty"`

	// Of a snapshot: when it was made there was no log, so that one that is missing
	// has no commits to be missed.
	First bool `json:"first,omitempty"`

	gen uint64 // of the frame
}

const (
	snapshotKind = "snapshot"
	logKind      = "log"
)

// appendHeader appends the beginning of a file of the generation gen.
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

// parseHeader parses the beginning of a file, and returns the frames after it. A
// file of a later version, which its header frame proves, is errNewer: a flipped
// bit in the first line proves nothing.
func parseHeader(data []byte) (h header, rest []byte, err error) {
	first, rest, ok := bytes.Cut(data, []byte("\n"))
	if !ok {
		return h, nil, errors.New("it ends too early")
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
		return h, nil, fmt.Errorf("its version is %d, and this program knows version %d: %w", h.Version, version, errNewer)
	case err == nil && (h.Version != version || string(first)+"\n" != firstLine || f.seq != 0):
		err = errors.New("its header is damaged")
	}
	h.gen = f.gen
	return h, rest, err
}

// snapshotFrame is how many bytes of lines a frame of a snapshot has.
const snapshotFrame = 256 << 10

// writeSnapshot writes the state st as the snapshot of the generation gen with
// write, in pieces. first is that of its header.
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
	for source, lines := range st.sources {
		for id, text := range lines {
			c.put = append(c.put, item{source, id, text})
			if size += len(text); size >= snapshotFrame {
				if err := flush(false); err != nil {
					return err
				}
			}
		}
	}
	for k, n := range st.extents {
		c.extents = append(c.extents, pipeline.Extent{Sink: k.sink, Lane: k.lane, Path: k.path, Length: n})
		if size += len(k.path); size >= snapshotFrame {
			if err := flush(false); err != nil {
				return err
			}
		}
	}
	return flush(true)
}

// parseSnapshot parses a whole snapshot. It returns nothing of a damaged one.
func parseSnapshot(data []byte) (*state, header, error) {
	h, rest, err := parseHeader(data)
	if err == nil && h.Kind != snapshotKind {
		err = errors.New("it is no snapshot")
	}
	st := newState()
	for seq := uint64(1); err == nil; seq++ {
		var f frame
		if f, rest, err = parseFrame(rest); err != nil {
			break
		}
		if f.gen != h.gen || f.seq != seq {
			err = errors.New("a frame is of another file")
			break
		}
		c, end, bad := parseChange(f.payload)
		if err = bad; err != nil {
			break
		}
		st.apply(c)
		if end && len(rest) > 0 {
			err = errors.New("more follows after its end")
		}
		if end {
			break
		}
	}
	if err != nil {
		return nil, h, err
	}
	return st, h, nil
}

// A logFile is a log that was parsed.
type logFile struct {
	header
	changes []*change // of the commits, in order; change i has sequence i+1
	end     error     // why it ends: nil, errFrameCut, or damage
	hole    bool      // valid commits follow after the damage
}

// cut reports whether the log ends in an incomplete commit.
func (l *logFile) cut() bool { return errors.Is(l.end, errFrameCut) && !l.hole }

// parseLog parses a log, as far as its commits are valid. The error says that it
// has no valid header, or was written by a later version.
func parseLog(data []byte) (*logFile, error) {
	h, rest, err := parseHeader(data)
	if err == nil && h.Kind != logKind {
		err = errors.New("it is no log")
	}
	if err != nil {
		return nil, err
	}
	l := &logFile{header: h}
	for len(rest) > 0 {
		f, after, err := parseFrame(rest)
		if err == nil && (f.gen != h.gen || f.seq != uint64(len(l.changes))+1) {
			err = errors.New("a commit is missing")
		}
		var c *change
		if err == nil {
			if c, _, err = parseChange(f.payload); errors.Is(err, errNewer) {
				return nil, err
			}
		}
		if err != nil {
			l.end, l.hole = err, laterFrame(rest, h.gen)
			break
		}
		l.changes = append(l.changes, c)
		rest = after
	}
	return l, nil
}

// sortedKeys returns the keys of m in order, the greatest first.
func sortedKeys[V any](m map[uint64]V) []uint64 {
	keys := slices.Sorted(maps.Keys(m))
	slices.Reverse(keys)
	return keys
}

// isLegacy reports whether data is a state of version 1, damaged or not.
func isLegacy(data []byte) bool {
	return strings.HasPrefix(string(data[:min(len(data), len(legacyPrefix))]), legacyPrefix)
}
