package keyset

import (
	"bufio"
	"fmt"
	"io"

	"github.com/urlfold/urlfold/internal/storage/extsort"
)

// A cursor reads the keys of a run in ascending order, from start to end of the
// file.
type cursor struct {
	entry  // the current entry
	run    *Run
	in     *bufio.Reader
	blocks int // number of blocks read so far
	view   blockView
	at     int // index of the next key in view
	block  [blockSize]byte
}

// start returns a cursor before the first key.
func (r *Run) start() *cursor {
	from := int64(len(runMagic))
	return &cursor{run: r, in: bufio.NewReaderSize(io.NewSectionReader(r.file, from, r.info.Bytes-from), 64<<10)}
}

// Next implements [extsort.Cursor].
func (c *cursor) Next() (bool, error) {
	for c.at == c.view.n {
		if c.blocks == len(c.run.index) {
			return false, nil
		}
		if err := c.nextBlock(); err != nil {
			return false, fmt.Errorf("%s: %w at byte %d", c.run.file.Name(), err, c.run.blockAt(c.blocks))
		}
		c.blocks++
	}
	c.entry = c.view.entry(c.at)
	c.at++
	return true, nil
}

func (c *cursor) nextBlock() (err error) {
	if c.blocks > 0 && c.blocks%filterBlocks == 0 {
		if _, err := c.in.Discard(c.run.stored[c.blocks/filterBlocks-1].size); err != nil {
			return fmt.Errorf("read: %w", err)
		}
	}
	if _, err := io.ReadFull(c.in, c.block[:]); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	c.view, err = parseBlock(&c.block)
	c.at = 0
	return err
}

// merge writes the keys of all runs to w, each once and with its newest stamp. It
// leaves out keys whose newest stamp is before least.
func merge(w *runWriter, least uint32, runs []*Run) error {
	var from []*cursor
	for _, r := range runs {
		from = append(from, r.start())
	}
	all, err := extsort.Start(from, func(a, b *cursor) bool { return a.Less(b.Key) })
	if err != nil {
		return err
	}
	for all.Len() > 0 {
		e := all.First().entry
		for all.Len() > 0 && all.First().Key == e.Key {
			e.stamp = max(e.stamp, all.First().stamp)
			if err := all.Step(); err != nil {
				return err
			}
		}
		if e.stamp < least {
			continue
		}
		if err := w.add(e.Key, e.stamp); err != nil {
			return err
		}
	}
	return nil
}
