// Package lockstep answers each line of a stream with exactly one line, for
// programs that run urlfold as a coprocess: executable functions of ClickHouse,
// RDD.pipe of Spark, TRANSFORM of Hive, a script with two pipes.
//
//	caller ──▶ lines ──▶ record.Worker ──▶ queue ──▶ caller
//	             │ before each read: all answers go to the queue
//
// The caller may wait for each answer, or write a block of any size and only
// then read the first answer: because a goroutine writes the answers, Run goes
// on reading lines while the caller reads no answers.
//
// [RunBatches] does the same with the batches of Arrow streams.
package lockstep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/urlfold/urlfold/internal/record"
)

// Config configures [Run]. Job, Empty and MaxAhead are required.
type Config struct {
	Job *record.Job
	// Empty is the answer to a line without a result, with its line end.
	Empty []byte
	// Chunks says that a line with the number of lines precedes each block of
	// lines. It is not answered.
	Chunks bool
	// MaxRecord is the length in bytes up to which a line is parsed. 0 means no
	// limit.
	MaxRecord int
	// MaxAhead is the size in bytes of the answers that may wait for the caller.
	// If there are more, Run stops reading.
	MaxAhead int
	// Stalled, if not nil, is called once, after answers have waited for the
	// caller for StallTime without being read and reading has stopped.
	Stalled   func()
	StallTime time.Duration
}

// Stats counts what happened to the lines of a stream.
type Stats struct {
	record.Stats
	Lines   int64 // lines that were answered
	Refused int64 // lines whose answer would not have been one line
}

// ErrChunk is the error for a block that does not begin with its number of
// lines, or ends early. It does not contain any byte of the input.
var ErrChunk = errors.New("invalid chunk")

// Run reads lines from in and writes one line for each to out, until the end of
// in. Before it waits for more input, it writes all answers to the lines that
// it has read. The answer to the last line ends with a line feed even if the
// line has none. The error comes from in or out, or is ErrChunk; everything up
// to there has been answered unless out failed.
func Run(in io.Reader, out io.Writer, c Config) (Stats, error) {
	s := &server{Config: c, worker: c.Job.NewWorker(), queue: newQueue(out, c.MaxAhead)}
	s.queue.stalled, s.queue.patience = c.Stalled, c.StallTime
	s.lines = lines{in: in, pause: s.flush}
	if c.MaxRecord > 0 {
		s.lines.limit = max(c.MaxRecord, maxNumber)
	}
	err := s.run()
	if e := s.flush(); err == nil {
		err = e
	}
	if e := s.queue.close(); e != nil { // the cause of an error of flush
		err = e
	}
	return s.stats, err
}

// A server answers the lines of one stream.
type server struct {
	Config
	worker *record.Worker
	lines  lines
	queue  *queue
	out    []byte // answers that are not in the queue yet
	moved  int64  // bytes of the answers that are in the queue
	dead   []byte // unused: the job does not divert
	left   int64  // with Chunks: lines of the current chunk that are not answered
	size   int64  // with Chunks: lines of the current chunk
	off    int64  // offset of the current line in the input
	stats  Stats
}

// outBytes is the size of the answers that are sent to the queue even if
// more input is available.
const outBytes = 64 << 10

func (s *server) run() error {
	for {
		if s.Chunks && s.left == 0 {
			if err := s.chunk(); err != nil {
				return endOfInput(err)
			}
			continue
		}
		line, err := s.lines.next()
		if err == io.EOF && s.Chunks {
			return fmt.Errorf("%w: the input ends after %d of %d lines", ErrChunk, s.size-s.left, s.size)
		}
		if err != nil {
			return endOfInput(err)
		}
		if err := s.answer(line); err != nil {
			return err
		}
		s.left--
		if len(s.out) >= outBytes || s.Chunks && s.left == 0 {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
}

// endOfInput returns nil for the end of the input, else err.
func endOfInput(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// maxNumber is the maximum length, in bytes, of the line at the start of a chunk
// that holds the number of lines of the chunk.
const maxNumber = 32

// chunk reads the number of lines of the next chunk.
func (s *server) chunk() error {
	line, err := s.lines.next()
	if err != nil {
		return err
	}
	s.off += int64(len(line.text))
	n, err := strconv.ParseInt(string(bytes.TrimRight(line.text, "\r\n")), 10, 64)
	if line.piece != record.PieceWhole || len(line.text) > maxNumber || err != nil || n < 0 {
		return fmt.Errorf("%w: expected a number of lines after %d answers", ErrChunk, s.stats.Lines)
	}
	s.left, s.size = n, n
	return nil
}

// answer reads the whole line l, and appends its answer to the answers.
func (s *server) answer(l line) error {
	start := s.moved + int64(len(s.out))
	at := record.Position{Line: s.stats.Lines + 1, Off: s.off, Start: s.off}
	for {
		if l.piece == record.PieceWhole && (s.MaxRecord == 0 || len(l.text) <= s.MaxRecord) {
			s.out, s.dead = s.worker.Append(s.out, s.dead[:0], l.text, at, &s.stats.Stats)
			break
		}
		// The answer must not depend on how much of the line has arrived.
		s.out, s.dead = s.worker.Piece(s.out, s.dead[:0], l.text, l.piece, at, &s.stats.Stats)
		if l.piece == record.PieceWhole || l.piece == record.PieceLast {
			break
		}
		at.Off += int64(len(l.text))
		var err error
		if l, err = s.lines.next(); err != nil {
			return err
		}
	}
	s.off = at.Off + int64(len(l.text))
	s.complete(int(start - s.moved))
	s.stats.Lines++
	return nil
}

// complete makes one line of the answer that begins at start. If the answer
// contains line feeds, it becomes Empty. If start is negative, the pieces
// before the last one are in the queue already; they have no line feed.
func (s *server) complete(start int) {
	moved := start < 0
	start = max(0, start)
	switch end := bytes.IndexByte(s.out[start:], '\n'); {
	case moved && end < 0:
		s.out = append(s.out, '\n')
	case start == len(s.out):
		s.out = append(s.out, s.Empty...)
	case end < 0:
		s.out = append(s.out, '\n')
	case start+end < len(s.out)-1:
		s.out = append(s.out[:start], s.Empty...)
		s.stats.Refused++
	}
}

// flush moves the answers to the queue.
func (s *server) flush() (err error) {
	if len(s.out) > 0 {
		s.moved += int64(len(s.out))
		s.out, err = s.queue.push(s.out)
	}
	return err
}
