package peer

import "bytes"

// A Chain reports consecutive steps: each one starts with the text that the
// previous one produced.
type Chain struct {
	trace Trace
	text  []byte
}

// From returns a chain that starts with src. It keeps src.
func (t Trace) From(src []byte) Chain { return Chain{t, src} }

// Active reports whether anybody receives the steps. If not, callers need not
// compute the texts.
func (c *Chain) Active() bool { return c.trace != nil }

// Step reports a step that ended with text, unless it changed nothing.
func (c *Chain) Step(step string, text []byte) {
	if c.trace == nil || bytes.Equal(c.text, text) {
		return
	}
	c.trace(step, c.text, text)
	c.text = bytes.Clone(text)
}
