package unique

import (
	"slices"

	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// Collect is a filter that adds the identities of all records to a set, which it
// does not close. It keeps all records.
type Collect struct {
	Set   *keyset.Store
	Added int64 // identities that the set did not contain
	Known int64 // records whose identity the set contained, or that repeat an earlier record
	identities
}

// Filter implements [engine.Filter]. It needs the identities of the records.
func (c *Collect) Filter(b *engine.Batch, _ engine.Keep) error {
	c.read(b)
	if err := c.Set.Add(c.keys, c.is); err != nil {
		return err
	}
	for i, k := range c.keys {
		switch {
		case k == keyset.Key{}:
		case c.is[i]:
			c.Added++
		default:
			c.Known++
		}
	}
	return nil
}

// Query is a filter for the records whose identity is in a set, or for the
// other records. Records without an identity are not in any set.
type Query struct {
	Set  *keyset.Store
	Seen bool // keep the records whose identities are in the set
	identities
}

// Filter implements [engine.Filter]. It needs the identities of the records.
func (q *Query) Filter(b *engine.Batch, keep engine.Keep) error {
	q.read(b)
	if err := q.Set.HasAll(q.keys, q.is); err != nil {
		return err
	}
	for i, seen := range q.is {
		if seen != q.Seen {
			keep.Drop(i)
		}
	}
	return nil
}

// identities is scratch memory for the identities of a batch, and for what a set
// answers about each.
type identities struct {
	keys []keyset.Key
	is   []bool
}

// read sets keys to the identities of the records of b.
func (d *identities) read(b *engine.Batch) {
	n := len(b.Out.IDs)
	d.keys, d.is = slices.Grow(d.keys[:0], n)[:n], slices.Grow(d.is[:0], n)[:n]
	for i, id := range b.Out.IDs {
		d.keys[i] = keyset.KeyOf(id.Uint64s())
	}
}
