package pipeline

// A generation is a codec that is in force, and its number.
type generation struct {
	n   uint64
	new func() Codec
}

// SetCodec puts another codec in force and returns its number. The first one, of
// Options.NewCodec, is 1. Each worker goes over to it before its next batch, so
// every record is handled by exactly one generation, and no record is lost. The
// records of the new codec must end where those of the old one do: sources cut
// their blocks by it. It may be called at any time, by one goroutine at a time.
func (p *Pipeline) SetCodec(f func() Codec) uint64 {
	next := &generation{n: 1, new: f}
	if now := p.codec.Load(); now != nil {
		next.n = now.n + 1
	}
	p.codec.Store(next)
	return next.n
}

// renew gives the worker the codec that is in force.
func (w *worker) renew() {
	if g := w.p.codec.Load(); g.n != w.gen {
		w.codec, w.gen = g.new(), g.n
	}
}
