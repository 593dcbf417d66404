package extsort

// A Cursor reads a sorted sequence.
type Cursor interface {
	// Next moves to the next value and reports whether there is one.
	Next() (bool, error)
}

// Cursors merges sorted sequences: a heap, the cursor with the least value first.
type Cursors[C Cursor] struct {
	list []C
	less func(a, b C) bool
}

// Start moves cursors to their first values. less compares the current values
// of two cursors.
func Start[C Cursor](list []C, less func(a, b C) bool) (*Cursors[C], error) {
	c := &Cursors[C]{less: less}
	for _, one := range list {
		if ok, err := one.Next(); err != nil {
			return nil, err
		} else if ok {
			c.list = append(c.list, one)
		}
	}
	for i := len(c.list) / 2; i >= 0; i-- {
		c.sink(i)
	}
	return c, nil
}

// Len returns how many sequences have not ended.
func (c *Cursors[C]) Len() int { return len(c.list) }

// First returns the cursor with the least value. There must be one.
func (c *Cursors[C]) First() C { return c.list[0] }

// Step moves the first cursor to its next value.
func (c *Cursors[C]) Step() error {
	ok, err := c.list[0].Next()
	if err != nil {
		return err
	}
	if last := len(c.list) - 1; !ok {
		c.list[0] = c.list[last]
		c.list = c.list[:last]
	}
	c.sink(0)
	return nil
}

// sink moves cursor i down until no cursor below it is less.
func (c *Cursors[C]) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(c.list); child++ {
			if c.less(c.list[child], c.list[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		c.list[i], c.list[least] = c.list[least], c.list[i]
		i = least
	}
}
