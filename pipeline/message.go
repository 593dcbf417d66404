package pipeline

// A Message is what a broker delivers: a value, which holds records, and what
// stands beside it. All of its bytes lie in the arenas of its [Batch].
type Message struct {
	Value Span  // in Batch.In, behind the value of the message before it
	Key   Span  // in Batch.Side
	Heads Range // in Batch.Heads
	Pos   int64 // offset, or stream sequence
	Time  int64 // Unix time in nanoseconds as the broker has it; 0 if there is none

	HasKey bool // there is a key, perhaps an empty one
	Null   bool // there is no value: a tombstone, which goes through as it is
}

// A Header is a name and a value in Batch.Side. Names may repeat.
type Header struct{ Name, Value Span }

// A Range is a run of elements of a slice: First, First+1, … First+N-1.
type Range struct{ First, N uint32 }

// side returns the bytes of s in the side arena of b.
func (b *Batch) side(s Span) []byte { return b.Side[s.Off : s.Off+s.Len : s.Off+s.Len] }

// Key returns the key of m, nil if it has none.
func (b *Batch) Key(m *Message) []byte {
	if !m.HasKey {
		return nil
	}
	return b.side(m.Key)
}

// Headers calls yield for each header of m, in order.
func (b *Batch) Headers(m *Message, yield func(name, value []byte)) {
	for _, h := range b.Heads[m.Heads.First : m.Heads.First+m.Heads.N] {
		yield(b.side(h.Name), b.side(h.Value))
	}
}

// AddMessage appends a message to b and copies its bytes. A nil key means that
// there is none, a nil value a tombstone. Headers are added by AddHeader next.
func (b *Batch) AddMessage(pos, unixNano int64, key, value []byte) {
	m := Message{
		Value: Span{uint32(len(b.In)), uint32(len(value))},
		Key:   Span{uint32(len(b.Side)), uint32(len(key))},
		Heads: Range{uint32(len(b.Heads)), 0},
		Pos:   pos, Time: unixNano,
		HasKey: key != nil, Null: value == nil,
	}
	b.In = append(b.In, value...)
	b.Side = append(b.Side, key...)
	b.Msgs = append(b.Msgs, m)
}

// AddHeader appends a header to the message that was added last.
func (b *Batch) AddHeader(name string, value []byte) {
	at := uint32(len(b.Side))
	b.Side = append(append(b.Side, name...), value...)
	n := uint32(len(name))
	b.Heads = append(b.Heads, Header{Span{at, n}, Span{at + n, uint32(len(value))}})
	b.Msgs[len(b.Msgs)-1].Heads.N++
}

// message returns the index of the message whose value holds offset off of In,
// and of empty ones there the last.
func (b *Batch) message(off int) int {
	lo, hi := 0, len(b.Msgs)
	for lo < hi {
		if mid := (lo + hi) / 2; int(b.Msgs[mid].Value.Off) <= off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return max(lo-1, 0)
}

// end returns the offset in Batch.In behind the value of m.
func (m *Message) end() int { return int(m.Value.Off + m.Value.Len) }

// limit returns the offset behind the value that offset off of In lies in: where
// a record ends at the latest.
func (b *Batch) limit(off int) int {
	if len(b.Msgs) == 0 {
		return len(b.In)
	}
	return b.Msgs[b.message(off)].end()
}

// at returns where in its lane the record in hand stands: the position of its
// message, or its offset in the stream.
func (b *Batch) at() int64 {
	if len(b.Msgs) > 0 {
		return b.Msgs[b.NextMsg].Pos
	}
	return b.Off + int64(b.Next)
}

// key returns the key of the message in hand, nil if it has none or there are no
// messages.
func (b *Batch) key() []byte {
	if len(b.Msgs) == 0 {
		return nil
	}
	return b.Key(&b.Msgs[b.NextMsg])
}
