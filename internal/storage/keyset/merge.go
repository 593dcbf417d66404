package keyset

import (
	"bufio"
	"container/heap"
	"fmt"
	"io"
)

// A cursor reads the keys of a run in ascending order, from the start of the
// file to its end.
type cursor struct {
	key    Key // the current one
	run    *run
	in     *bufio.Reader
	blocks int // read so far
	view   blockView
	at     int // index of the next key in view
	block  [blockSize]byte
}

// start returns a cursor before the first key.
func (r *run) start() *cursor {
	blocks := io.NewSectionReader(r.file, int64(len(runMagic)), int64(len(r.index))*blockSize)
	return &cursor{run: r, in: bufio.NewReaderSize(blocks, 64<<10)}
}

// next moves c to the next key and reports whether there is one.
func (c *cursor) next() (bool, error) {
	for c.at == c.view.n {
		if c.blocks == len(c.run.index) {
			return false, nil
		}
		if err := c.nextBlock(); err != nil {
			return false, fmt.Errorf("%s: %w at byte %d", c.run.file.Name(), err, len(runMagic)+c.blocks*blockSize)
		}
		c.blocks++
	}
	c.key = c.view.key(c.at)
	c.at++
	return true, nil
}

func (c *cursor) nextBlock() (err error) {
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
func (c cursors) Less(i, j int) bool { return c[i].key.less(c[j].key) }
func (c cursors) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *cursors) Push(x any)        { *c = append(*c, x.(*cursor)) }
func (c *cursors) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}

// merge writes the keys of all runs to w, each once.
func merge(w *runWriter, runs []*run) error {
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
	var last Key
	for len(all) > 0 {
		c := all[0]
		if c.key != last {
			last = c.key
			if err := w.add(last); err != nil {
				return err
			}
		}
		switch ok, err := c.next(); {
		case err != nil:
			return err
		case ok:
			heap.Fix(&all, 0)
		default:
			heap.Pop(&all)
		}
	}
	return nil
}
