package seen

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/internal/storage/keyset/table"
)

// The form of a saved set is specified in docs/reference/keys.md.
const (
	magic       = "urlfoldK"
	formVersion = 1
	keyBytes    = 16
	blockKeys   = 4096 // maximum number of keys in a block
)

// MaxVersion is the greatest length of a key version in a saved set, in bytes.
const MaxVersion = 1 << 16 // Not covered by the stability page.

// A KeyVersionError reports that the keys of a saved set have a different version
// than the keys of the Set that reads it. Keys of different versions cannot be
// compared, so the URLs must be read again.
type KeyVersionError struct {
	Saved string // version of the saved keys
	Want  string // version of the keys of the Set
}

// Error names both versions.
func (e *KeyVersionError) Error() string {
	return fmt.Sprintf("seen: the saved set has keys of version %q, but this set has keys of version %q: add the URLs again", e.Saved, e.Want)
}

// A DamageError reports that a saved set is damaged or cut off, or not a saved set at all.
type DamageError struct {
	Offset int64  // where reading stopped, in bytes from the start
	Reason string // why reading stopped
}

// Error names the offset and the reason.
func (e *DamageError) Error() string {
	return fmt.Sprintf("seen: damaged set at byte %d: %s", e.Offset, e.Reason)
}

// WriteTo writes the set to w, and returns the number of bytes. The error comes
// from w, or says that the key version is longer than MaxVersion.
//
// Other goroutines can add keys meanwhile. The saved set contains all keys that
// were added before the call, and some of the keys added since. Equal sets give
// equal bytes.
func (s *Set) WriteTo(w io.Writer) (int64, error) {
	if len(s.version) > MaxVersion {
		return 0, fmt.Errorf("seen: the key version has %d bytes, more than %d", len(s.version), MaxVersion)
	}
	out := &summed{w: w}
	out.buf = append(out.buf, magic...)
	out.buf = binary.BigEndian.AppendUint32(out.buf, formVersion)
	out.buf = binary.BigEndian.AppendUint32(out.buf, uint32(len(s.version)))
	out.buf = append(out.buf, s.version...)
	var total uint64
	keys := make([]table.Key, 0, blockKeys)
	for i := range s.shards {
		var last table.Key
		for {
			shard := &s.shards[i]
			shard.Lock()
			keys = shard.keys.AppendAfter(keys[:0], last)
			shard.Unlock()
			if len(keys) == 0 {
				break
			}
			out.buf = binary.BigEndian.AppendUint32(out.buf, uint32(len(keys)))
			for _, k := range keys {
				b := k.Bytes()
				out.buf = append(out.buf, b[:]...)
			}
			last, total = keys[len(keys)-1], total+uint64(len(keys))
			if out.flush(); out.err != nil {
				return out.n, out.err
			}
		}
	}
	runtime.KeepAlive(s)
	out.buf = binary.BigEndian.AppendUint32(out.buf, 0)
	out.buf = binary.BigEndian.AppendUint64(out.buf, total)
	out.flush()
	out.buf = binary.BigEndian.AppendUint64(out.buf, out.sum.Sum64())
	out.flush()
	return out.n, out.err
}

// summed writes blocks, and computes their checksum.
type summed struct {
	w   io.Writer
	buf []byte
	sum xxh3.Hasher
	n   int64
	err error
}

// flush writes buf, unless a write has failed.
func (o *summed) flush() {
	if o.err != nil {
		return
	}
	_, _ = o.sum.Write(o.buf) // never fails
	var n int
	n, o.err = o.w.Write(o.buf)
	if o.n += int64(n); o.err == nil && n < len(o.buf) {
		o.err = io.ErrShortWrite
	}
	o.buf = o.buf[:0]
}

// ReadFrom adds the keys of a saved set, reads all of r, and returns the number
// of bytes. The error is a *KeyVersionError, a *DamageError, an error of r, or
// an error about an unknown format version or about memory; only after an error
// about memory can s have some of the keys. The memory grows with the keys that
// r delivers. If s is not empty, ReadFrom needs additional memory for the saved
// set. Keys that are not hashes, which only an attacker would save, make
// ReadFrom slow.
func (s *Set) ReadFrom(r io.Reader) (int64, error) {
	in := &reader{r: bufio.NewReaderSize(r, 4+blockKeys*keyBytes)}
	saved := New(s.version, 0)
	err := in.read(saved)
	if err == nil {
		err = s.merge(saved)
	}
	saved.shards.release()
	runtime.KeepAlive(saved)
	return in.n, err
}

// merge moves the keys of saved, which only the caller uses, to s.
func (s *Set) merge(saved *Set) error {
	keys := make([]table.Key, 0, blockKeys)
	for i := range s.shards {
		to, from := &s.shards[i], &saved.shards[i]
		to.Lock()
		if to.keys.Len() == 0 {
			to.keys, from.keys = from.keys, to.keys
		}
		to.Unlock()
		var last table.Key
		for {
			if keys = from.keys.AppendAfter(keys[:0], last); len(keys) == 0 {
				break
			}
			for _, k := range keys {
				if _, err := s.add(k); err != nil {
					return err
				}
			}
			last = keys[len(keys)-1]
		}
	}
	return nil
}

// A reader reads a saved set.
type reader struct {
	r   *bufio.Reader
	n   int64
	sum xxh3.Hasher // checksum of the bytes before the checksum
	buf [blockKeys * keyBytes]byte
}

// next returns the next n bytes, which are valid until the next call.
func (in *reader) next(n int) ([]byte, error) {
	had, err := io.ReadFull(in.r, in.buf[:n])
	in.n += int64(had)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, in.damage("the set is truncated")
	}
	_, _ = in.sum.Write(in.buf[:had]) // never fails
	return in.buf[:had], err
}

func (in *reader) damage(reason string) error { return &DamageError{in.n, reason} }

// number returns the next number of 4 bytes.
func (in *reader) number() (uint32, error) {
	b, err := in.next(4)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(b), nil
}

// read adds the keys to s, which is empty.
func (in *reader) read(s *Set) error {
	if err := in.head(s.version); err != nil {
		return err
	}
	var last table.Key
	var total uint64
	for {
		n, err := in.number()
		switch {
		case err != nil:
			return err
		case n == 0:
			return in.tail(total)
		case n > blockKeys:
			return in.damage("a block has too many keys")
		}
		b, err := in.next(int(n) * keyBytes)
		if err != nil {
			return err
		}
		for ; len(b) > 0; b = b[keyBytes:] {
			k := table.KeyOf(b)
			if !last.Less(k) {
				in.n -= int64(len(b))
				return in.damage("a key is not greater than the one before")
			}
			if _, err := s.add(k); err != nil {
				return err
			}
			last = k
		}
		total += uint64(n)
	}
}

// head reads what is before the keys.
func (in *reader) head(version string) error {
	b, err := in.next(len(magic))
	if err != nil {
		return err
	}
	if string(b) != magic {
		in.n = 0
		return in.damage("this is not a saved set of keys")
	}
	form, err := in.number()
	if err != nil {
		return err
	}
	if form != formVersion {
		return fmt.Errorf("seen: the saved set has format version %d, but this program reads only version %d", form, formVersion)
	}
	n, err := in.number()
	if err != nil {
		return err
	}
	if n > MaxVersion {
		return in.damage("the key version is too long")
	}
	if b, err = in.next(int(n)); err != nil {
		return err
	}
	if saved := string(b); saved != version {
		return &KeyVersionError{Saved: saved, Want: version}
	}
	return nil
}

// tail reads what is after the keys, up to the end of the file.
func (in *reader) tail(total uint64) error {
	b, err := in.next(8)
	if err != nil {
		return err
	}
	if binary.BigEndian.Uint64(b) != total {
		return in.damage("the number of keys is wrong")
	}
	want := in.sum.Sum64()
	if b, err = in.next(8); err != nil {
		return err
	}
	if binary.BigEndian.Uint64(b) != want {
		return in.damage("the checksum is wrong")
	}
	switch _, err = in.r.ReadByte(); {
	case err == nil:
		return in.damage("unexpected data after the set")
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}
