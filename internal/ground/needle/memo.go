package needle

import "hash/maphash"

const (
	memoSlots = 1 << 12
	maxText   = 512  // bytes of a text that is remembered
	window    = 2048 // lookups between two checks of the hit rate
	rest      = 16   // windows to skip if the hit rate is low
)

// A Memo remembers the answers to a question about texts, at most 4,096 of
// them. It helps if at least half of the texts come again. If fewer do, it
// stops remembering for a while, and then tries again. It belongs to one
// goroutine.
type Memo struct {
	seed         maphash.Seed
	slots        [memoSlots]memoSlot
	asked, known int // in this window
	pause        int // lookups until the next window
	at           *memoSlot
}

type memoSlot struct {
	text   []byte
	answer int
}

// NewMemo returns an empty Memo.
func NewMemo() *Memo { return &Memo{seed: maphash.MakeSeed()} }

// Known returns the answer about t, if it is known. If not, the next call should be Put.
func (m *Memo) Known(t []byte) (answer int, ok bool) {
	m.at = nil
	if m.pause > 0 {
		m.pause--
		return 0, false
	}
	if len(t) > maxText {
		return 0, false
	}
	if m.asked++; m.asked == window {
		if m.known < window/2 {
			m.pause = rest * window
		}
		m.asked, m.known = 0, 0
	}
	m.at = &m.slots[maphash.Bytes(m.seed, t)%memoSlots]
	if string(m.at.text) == string(t) && len(t) > 0 {
		m.known++
		return m.at.answer, true
	}
	return 0, false
}

// Put stores the answer about the text that Known did not know.
func (m *Memo) Put(t []byte, answer int) {
	if m.at != nil {
		m.at.text, m.at.answer = append(m.at.text[:0], t...), answer
	}
}
