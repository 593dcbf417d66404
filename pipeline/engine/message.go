package engine

// A Message is a message of a broker: a value, which holds records, with its
// key, headers and position. All of its bytes are in the arenas of its [Batch].
type Message struct {
	Value Span  // in Batch.In, after the value of the previous message
	Key   Span  // in Batch.Side
	Heads Range // in Batch.Heads
	Pos   int64 // Kafka offset or stream sequence
	Time  int64 // Unix time in nanoseconds from the broker; 0: none

	HasKey bool // the message has a key, which may be empty
	Null   bool // the message has no value (a tombstone) and is passed through unchanged
}

// A Header is a name and a value in Batch.Side. Names may repeat.
type Header struct{ Name, Value Span }

// A Range is a run of elements of a slice: First, First+1, … First+N-1.
type Range struct{ First, N uint32 }

// side returns the bytes of s in the side arena of b.
func (b *Batch) side(s Span) []byte { return b.Side[s.Off : s.Off+s.Len : s.Off+s.Len] }

// Key returns the key of m, or nil.
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
// the message has no key, and a nil value that it is a tombstone. Call
// AddHeader afterwards to add headers to it.
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

// AddHeader appends a header to the most recently added message.
func (b *Batch) AddHeader(name string, value []byte) {
	at := uint32(len(b.Side))
	b.Side = append(append(b.Side, name...), value...)
	n := uint32(len(name))
	b.Heads = append(b.Heads, Header{Span{at, n}, Span{at + n, uint32(len(value))}})
	b.Msgs[len(b.Msgs)-1].Heads.N++
}

// message returns the index of the message whose value contains offset off of
// In. If empty values share that offset, it returns the last of those messages.
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

// end returns the offset in Batch.In after the value of m.
func (m *Message) end() int { return int(m.Value.Off + m.Value.Len) }

// limit returns the end offset of the value that contains offset off of In. No
// record that starts at off can extend beyond it.
func (b *Batch) limit(off int) int {
	if len(b.Msgs) == 0 {
		return len(b.In)
	}
	return b.Msgs[b.message(off)].end()
}

// at returns the position of the current record in its lane: the position of
// its message, or its offset in the stream.
func (b *Batch) at() int64 {
	if len(b.Msgs) > 0 {
		return b.Msgs[b.NextMsg].Pos
	}
	return b.Off + int64(b.Next)
}

// key returns the key of the current message, or nil without a key or without
// messages.
func (b *Batch) key() []byte {
	if len(b.Msgs) == 0 {
		return nil
	}
	return b.Key(&b.Msgs[b.NextMsg])
}
