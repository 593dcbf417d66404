package compress

import (
	"bufio"
	"io"
	"slices"
	"strings"
)

// Mend finds where to truncate a member whose writer was killed, and what must
// follow there to end it. src has the first byte of the member. n is the offset
// of the last flush before which nothing is damaged, or 0 without one; see
// [MemberWriter].
func Mend(f Format, src *io.SectionReader) (n int64, end string) {
	_, _ = src.Seek(0, io.SeekStart) // seeking to the start cannot fail
	for _, n := range slices.Backward(flushes(f, src)) {
		if end := endAt(f, src, n); end != "" {
			return n, end
		}
	}
	return 0, ""
}

// endAt returns what must follow the first n bytes of src to end the member, or
// "" if these bytes are damaged.
func endAt(f Format, src io.ReaderAt, n int64) string {
	sum := memberSum(f)
	wrong := memberEnd(sum, 0)
	r := NewReader(io.MultiReader(io.NewSectionReader(src, 0, n), strings.NewReader(wrong)), Options{Limits: Limits{MaxRatio: -1}})
	defer r.Close()
	size, _ := io.Copy(sum, r) // r.Verdict reports any error
	if v := r.Verdict(); v.Kind != BadCRC || v.Cut {
		return ""
	}
	if check := make([]byte, 1); f == Zstd {
		if _, err := src.ReadAt(check, n-1); err != nil || check[0] != checkByte(sum) {
			return ""
		}
	}
	return memberEnd(sum, size)
}

// flushes returns where flushes of a member may end.
func flushes(f Format, src io.Reader) []int64 {
	r := bufio.NewReaderSize(src, bufferSize)
	if f == Zstd {
		return zstdFlushes(r)
	}
	return deflateFlushes(r)
}

// deflateFlushes returns where flushes of a gzip member may end.
func deflateFlushes(r *bufio.Reader) (at []int64) {
	last := ^uint32(0)
	for n := int64(1); ; n++ {
		c, err := r.ReadByte()
		if err != nil {
			return at
		}
		if last = last<<8 | uint32(c); last == deflateMark {
			at = append(at, n)
		}
	}
}

// zstdFlushes returns where flushes of a zstd frame end.
func zstdFlushes(r *bufio.Reader) (at []int64) {
	head, err := r.Peek(5)
	if err != nil {
		return nil
	}
	dict, content := [4]int{0, 1, 2, 4}[head[4]&3], [4]int{0, 2, 4, 8}[head[4]>>6]
	skip := 6 + dict + content
	if head[4]&(1<<5) != 0 { // a single segment has no window
		skip = 5 + dict + max(content, 1)
	}
	n, block := int64(0), make([]byte, 3)
	for {
		if k, err := r.Discard(skip); err != nil || k < skip {
			return at
		}
		n += int64(skip)
		if _, err := io.ReadFull(r, block); err != nil {
			return at
		}
		n += int64(len(block))
		h := int(littleEndian(block))
		switch kind := h >> 1 & 3; {
		case h&1 != 0, kind == 3, h == 0: // a last block, a reserved type, or zeros left by a power loss
			return at
		case kind == 1:
			skip = 1
		default:
			skip = h >> 3
		}
		if h == zstdMark {
			at = append(at, n+1)
		}
	}
}
