//go:build !invariants

package engine

// invariants reports whether this build checks the invariants. The release
// build does not; the compiler removes the calls.
const invariants = false

func (b *Batch) poison()                   {}
func (b *Batch) mustBePoisoned()           {}
func (b *Batch) mustBeHeld()               {}
func (t Ticket) mustBeLive(string)         {}
func (l *Lane) mustHold()                  {}
func (o *outlet) mustBeNext(*Lane, *Batch) {}
func (o *outlet) mustBeVacant(*Batch)      {}
