package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/ip"
	"github.com/urlfold/urlfold/codec/percent"
)

// ipv4 runs the IPv4 parser (https://url.spec.whatwg.org/#concept-ipv4-parser).
// where converts an offset in host to an offset in the input.
func (p *parser) ipv4(host []byte, where func(int) int) (addr uint32, ok bool) {
	if n := len(host); host[n-1] == '.' {
		p.mark(FlagIPv4EmptyPart, where(n-1), Host, ActionRemoved)
		host = host[:n-1]
	}
	switch n := bytes.Count(host, dot) + 1; {
	case n < 4:
		p.mark(FlagIPv4TooFewParts, where(len(host)), Host, ActionReplaced)
	case n > 4:
		return 0, p.failHost(FlagIPv4TooManyParts, where(nthDot(host, 4)))
	}
	parts, at, tooBig := 0, 0, -1
	var numbers [4]uint64
	for {
		end := at
		for end < len(host) && host[end] != '.' {
			end++
		}
		n, notDecimal, ok := ipv4Number(host[at:end])
		if !ok {
			return 0, p.failHost(FlagIPv4NonNumericPart, where(at))
		}
		if notDecimal {
			p.mark(FlagIPv4NonDecimalPart, where(at), Host, ActionReplaced)
		}
		if n > 255 && tooBig < 0 {
			tooBig = at
		}
		numbers[parts] = n
		parts++
		if end == len(host) {
			break
		}
		at = end + 1
	}
	return p.ipv4Sum(numbers[:parts], tooBig, where)
}

// ipv4Sum combines the parts of an IPv4 address. tooBig is the offset of the
// first part above 255, or -1.
func (p *parser) ipv4Sum(numbers []uint64, tooBig int, where func(int) int) (addr uint32, ok bool) {
	last := len(numbers) - 1
	fail := numbers[last] >= 1<<(8*(4-last))
	for _, n := range numbers[:last] {
		fail = fail || n > 255
	}
	if fail {
		return 0, p.failHost(FlagIPv4OutOfRangePart, where(tooBig))
	}
	if tooBig >= 0 {
		p.mark(FlagIPv4OutOfRangePart, where(tooBig), Host, ActionReplaced)
	}
	return sumIPv4(numbers), true
}

// sumIPv4 combines parts that are in range.
func sumIPv4(numbers []uint64) uint32 {
	last := len(numbers) - 1
	addr := uint32(numbers[last])
	for i, n := range numbers[:last] {
		addr += uint32(n) << (8 * (3 - i))
	}
	return addr
}

// ipv4Value parses host like the IPv4 parser, but records no validation errors.
func ipv4Value(host []byte) (addr uint32, ok bool) {
	var numbers [4]uint64
	for n := range numbers {
		end := bytes.IndexByte(host, '.')
		last := end < 0
		if last {
			end = len(host)
		}
		v, _, ok := ipv4Number(host[:end])
		if !ok || !last && v > 255 {
			return 0, false
		}
		if numbers[n] = v; last {
			return sumIPv4(numbers[:n+1]), v < 1<<(8*(4-n))
		}
		host = host[end+1:]
	}
	return 0, false
}

var dot = []byte{'.'}

// nthDot returns the offset after the nth dot of host.
func nthDot(host []byte, n int) int {
	for i, c := range host {
		if c == '.' {
			if n--; n == 0 {
				return i + 1
			}
		}
	}
	return len(host)
}

// ipv4Number runs the IPv4 number parser
// (https://url.spec.whatwg.org/#ipv4-number-parser). It returns 2^40 for larger
// numbers, since all of them are out of range.
func ipv4Number(b []byte) (n uint64, notDecimal, ok bool) {
	if len(b) == 0 {
		return 0, false, false
	}
	radix := uint64(10)
	switch {
	case len(b) >= 2 && b[0] == '0' && b[1]|0x20 == 'x':
		radix, b = 16, b[2:]
	case len(b) >= 2 && b[0] == '0':
		radix, b = 8, b[1:]
	}
	for _, c := range b {
		if !percent.IsHex(c) || uint64(percent.Unhex(c)) >= radix {
			return 0, false, false
		}
		if n = n*radix + uint64(percent.Unhex(c)); n > 1<<40 {
			n = 1 << 40
		}
	}
	return n, radix != 10, true
}

// ipv6 runs the IPv6 parser (https://url.spec.whatwg.org/#concept-ipv6-parser)
// on b, which begins at in[at]. It accepts the same texts as ip.ParseV6, and
// also records what is wrong and where.
func (p *parser) ipv6(b []byte, at int) (groups [8]uint16, ok bool) {
	s := ipv6Parser{p: p, b: b, at: at, compress: -1}
	if !s.run() {
		return groups, false
	}
	return s.groups, true
}

type ipv6Parser struct {
	p        *parser
	b        []byte
	at, i    int // start of b in the input; the pointer
	groups   [8]uint16
	piece    int
	compress int // the piece after "::", or -1
}

func (s *ipv6Parser) c() int {
	if s.i < len(s.b) {
		return int(s.b[s.i])
	}
	return eof
}

func (s *ipv6Parser) fail(f Flag) bool { return s.p.failHost(f, s.at+s.i) }

func (s *ipv6Parser) run() bool {
	if s.c() == ':' {
		if len(s.b) < 2 || s.b[1] != ':' {
			return s.fail(FlagIPv6InvalidCompression)
		}
		s.i, s.piece, s.compress = 2, 1, 1
	}
	for s.c() != eof {
		if s.piece == 8 {
			return s.fail(FlagIPv6TooManyPieces)
		}
		if s.c() == ':' {
			if s.compress >= 0 {
				return s.fail(FlagIPv6MultipleCompression)
			}
			s.i++
			s.piece++
			s.compress = s.piece
			continue
		}
		value, length := ip.ParseGroup(s.b[s.i:])
		s.i += length
		if s.c() == '.' {
			if length == 0 {
				return s.fail(FlagIPv4InIPv6InvalidCodePoint)
			}
			s.i -= length
			if !s.ipv4() {
				return false
			}
			break
		}
		if !s.pieceEnd(value, length) {
			return false
		}
	}
	return s.expand()
}

// pieceEnd checks the delimiter after a piece and stores the piece.
func (s *ipv6Parser) pieceEnd(value uint16, length int) bool {
	start := s.i - length
	switch s.c() {
	case ':':
		s.i++
		if s.c() == eof {
			return s.fail(FlagIPv6InvalidCodePoint)
		}
	case eof:
	default:
		return s.fail(FlagIPv6InvalidCodePoint)
	}
	if length > 1 && s.b[start] == '0' {
		s.p.mark(FlagIPv6PieceLeadingZero, s.at+start, Host, ActionRemoved)
	}
	s.groups[s.piece] = value
	s.piece++
	return true
}

// ipv4 parses the dotted-decimal end of an address.
func (s *ipv6Parser) ipv4() bool {
	if s.piece > 6 {
		return s.fail(FlagIPv4InIPv6TooManyPieces)
	}
	seen := 0
	for s.c() != eof {
		if seen > 0 {
			if s.c() != '.' || seen >= 4 {
				return s.fail(FlagIPv4InIPv6InvalidCodePoint)
			}
			s.i++
		}
		value, ok := s.ipv4Part()
		if !ok {
			return false
		}
		s.groups[s.piece] = s.groups[s.piece]<<8 | value
		if seen++; seen == 2 || seen == 4 {
			s.piece++
		}
	}
	if seen != 4 {
		return s.fail(FlagIPv4InIPv6TooFewParts)
	}
	return true
}

// ipv4Part parses one decimal number without leading zeros.
func (s *ipv6Parser) ipv4Part() (value uint16, ok bool) {
	start := s.i
	for s.i < len(s.b) && isDigit(s.b[s.i]) {
		if s.i > start && value == 0 {
			return 0, s.fail(FlagIPv4InIPv6InvalidCodePoint)
		}
		if value = value*10 + uint16(s.b[s.i]-'0'); value > 255 {
			return 0, s.fail(FlagIPv4InIPv6OutOfRangePart)
		}
		s.i++
	}
	if s.i == start {
		return 0, s.fail(FlagIPv4InIPv6InvalidCodePoint)
	}
	return value, true
}

// expand moves the pieces after "::" to the end.
func (s *ipv6Parser) expand() bool {
	if s.compress < 0 {
		if s.piece != 8 {
			return s.fail(FlagIPv6TooFewPieces)
		}
		return true
	}
	swaps := s.piece - s.compress
	for to := 7; to != 0 && swaps > 0; to-- {
		from := s.compress + swaps - 1
		s.groups[to], s.groups[from] = s.groups[from], s.groups[to]
		swaps--
	}
	return true
}
