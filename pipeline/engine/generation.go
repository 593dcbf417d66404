package engine

// A generation is a codec and its number.
type generation struct {
	n   uint64
	new func() Codec
}

// SetCodec replaces the codec and returns the number of the new generation.
// Options.NewCodec is generation 1. Each worker switches before its next batch,
// so exactly one generation handles each record, and no record is lost. The new
// codec must place record ends where the old one does, because sources divide
// their input accordingly. SetCodec may be called at any time, but not
// concurrently.
func (p *Pipeline) SetCodec(f func() Codec) uint64 {
	next := &generation{n: 1, new: f}
	if now := p.codec.Load(); now != nil {
		next.n = now.n + 1
	}
	p.codec.Store(next)
	return next.n
}

// renew switches the worker to the current generation.
func (w *worker) renew() {
	if g := w.p.codec.Load(); g.n != w.gen {
		w.codec, w.gen = g.new(), g.n
	}
}
