package scan

import "encoding/binary"

// A Block marks bytes of a text with many lines: the bytes of a class, the line
// feeds, and the bytes equal to a given byte.
type Block struct {
	Class Marks // the bytes of the class
	Feeds Marks // the line feeds
	Same  Marks // the bytes equal to the given byte, and the line feeds, so that no search runs past a line

	set  *Set
	same byte
	// For processors without vectors: the class consists of the bytes below
	// first and the bytes in others.
	first  byte
	others []byte
}

// NewBlock returns a Block that marks the ASCII bytes for which in returns true, and the
// bytes equal to same, which must be ASCII.
func NewBlock(in func(c byte) bool, same byte) *Block {
	b := &Block{set: NewSet(in), same: same}
	for b.first < 128 && in(b.first) {
		b.first++
	}
	for c := b.first; c < 128; c++ {
		if in(c) {
			b.others = append(b.others, c)
		}
	}
	return b
}

// Read sets the marks of text. All three have a mark at the end of text, too.
func (b *Block) Read(text []byte) {
	n := len(text) >> 6
	b.Class, b.Feeds, b.Same = b.Class.resize(n+2), b.Feeds.resize(n+2), b.Same.resize(n+2)
	b.blocks(text, 0, n)
	end := uint64(1) << (len(text) & 63)
	var last [64]byte
	copy(last[:], text[n<<6:])
	b.blocks(last[:], n, 1)
	for _, m := range [...]Marks{b.Class, b.Feeds, b.Same} {
		m[n], m[n+1] = m[n]&(end-1)|end, 1
	}
}

// blocks sets n words of the marks, from word k on, for n blocks of 64 bytes.
func (b *Block) blocks(text []byte, k, n int) {
	switch {
	case n == 0:
	case vector:
		blockAVX2(&b.Class[k], &b.Feeds[k], &b.Same[k], &text[0], n, &b.set.nibbles, b.same)
	default:
		for i := range n {
			b.slowBlock((*[64]byte)(text[i<<6:]), k+i)
		}
	}
}

// slowBlock looks at 8 bytes at a time.
func (b *Block) slowBlock(text *[64]byte, k int) {
	var class, feeds, same uint64
	for i := 0; i <= 56; i += 8 {
		w := binary.LittleEndian.Uint64(text[i : i+8])
		feed, c := equal(w, '\n'), below(w, b.first)
		for _, x := range b.others {
			c |= equal(w, x)
		}
		class |= gather(c) << i
		feeds |= gather(feed) << i
		same |= gather(equal(w, b.same)|feed) << i
	}
	b.Class[k], b.Feeds[k], b.Same[k] = class, feeds, same
}

// MarkEnd sets bit i in Class and in Same, as a line feed does.
func (b *Block) MarkEnd(i int) {
	b.Class[i>>6] |= 1 << (i & 63)
	b.Same[i>>6] |= 1 << (i & 63)
}

const (
	eachByte = 0x0101010101010101
	lowBits  = 0x7f7f7f7f7f7f7f7f
	topBits  = 0x8080808080808080
)

// equal sets the top bits of the bytes of w that are equal to c.
func equal(w uint64, c byte) uint64 {
	w ^= eachByte * uint64(c)
	return ^(w&lowBits + lowBits | w) & topBits
}

// below sets the top bits of the bytes of w that are less than c, which is less than 128.
func below(w uint64, c byte) uint64 {
	return ^(w&lowBits + eachByte*uint64(128-int(c)) | w) & topBits
}

// gather moves the top bits of the bytes of w to the lowest byte.
func gather(w uint64) uint64 { return w >> 7 * 0x0102040810204080 >> 56 }
