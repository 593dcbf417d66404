package keyset

import (
	"bufio"
	"container/heap"
	"fmt"
	"io"
)

// A cursor reads the keys of a run in ascending order, from start to end of the
// file.
type cursor struct {
	entry  // the current one
	run    *Run
	in     *bufio.Reader
	blocks int // read so far
	view   blockView
	at     int // index of the next key in view
	block  [blockSize]byte
}

// start returns a cursor before the first key.
func (r *Run) start() *cursor {
	from := int64(len(runMagic))
	return &cursor{run: r, in: bufio.NewReaderSize(io.NewSectionReader(r.file, from, r.info.Bytes-from), 64<<10)}
}

// next moves c to the next key and reports whether there is one.
func (c *cursor) next() (bool, error) {
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

// cursors is a heap of cursors, the least key first.
type cursors []*cursor

func (c cursors) Len() int           { return len(c) }
func (c cursors) Less(i, j int) bool { return c[i].Less(c[j].Key) }
func (c cursors) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *cursors) Push(x any)        { *c = append(*c, x.(*cursor)) }
func (c *cursors) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}

// merge writes the keys of all runs to w, each once and with its newest stamp. It
// leaves out keys whose newest stamp is before least.
func merge(w *runWriter, least uint32, runs []*Run) error {
	var all cursors
	for _, r := range runs {
		c := r.start()
		if ok, err := c.next(); err != nil {
			return err
		} else if ok {
			all = append(all, c)
		}
	}
	heap.Init(&all)
	for len(all) > 0 {
		e := all[0].entry
		for len(all) > 0 && all[0].Key == e.Key {
			e.stamp = max(e.stamp, all[0].stamp)
			if err := all.advance(); err != nil {
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

// advance moves the first cursor to its next key.
func (c *cursors) advance() error {
	switch ok, err := (*c)[0].next(); {
	case err != nil:
		return err
	case ok:
		heap.Fix(c, 0)
	default:
		heap.Pop(c)
	}
	return nil
}
