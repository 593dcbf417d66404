// Package unique has the filters of the pipeline that decide by the identity of
// a record: whether an earlier record had it, and whether a set contains it.
package unique

import (
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// First is a filter that passes the first record of each identity. Records
// without an identity are kept.
type First struct {
	Samples *Samples // of the duplicates; may be nil
	set     *keyset.Set
	identities
}

// NewFirst returns a filter with an empty set. Close releases it.
func NewFirst(o keyset.Options) *First { return &First{set: keyset.New(o)} }

// Filter implements [engine.Filter]. It needs the identities of the records.
func (f *First) Filter(b *engine.Batch, keep engine.Keep) error {
	f.read(b)
	if err := f.set.Add(f.keys, f.is); err != nil {
		return err
	}
	for i, added := range f.is {
		if !added {
			keep.Drop(i)
		}
	}
	f.Samples.look(b, f.keys, f.is)
	return nil
}

// Distinct returns the number of identities seen. Call it after the run.
func (f *First) Distinct() int64 { return f.set.Len() }

// Bytes returns the memory and the disk space that the set uses. Call it after
// the run.
func (f *First) Bytes() (memory, disk int64) { return f.set.Bytes() }

// Close releases the memory and the temporary files of the set.
func (f *First) Close() error { return f.set.Close() }
