package seen

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/storage/keyset/table"
)

// keyNumber returns a key that depends on i as a hash does.
func keyNumber(i uint64) codec.Key {
	r := rand.New(rand.NewPCG(i, 1))
	return codec.KeyFromUint64s(r.Uint64(), r.Uint64())
}

// filled returns a set with the keys from number first to before.
func filled(first, before uint64) *Set {
	s := New("k2-whatwg/1", 0)
	for i := first; i < before; i++ {
		s.Add(keyNumber(i))
	}
	return s
}

// saved returns the bytes of s.
func saved(t testing.TB, s *Set) []byte {
	t.Helper()
	var b bytes.Buffer
	if n, err := s.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Fatalf("WriteTo: %d bytes of %d, %v", n, b.Len(), err)
	}
	return b.Bytes()
}

// wantKeys fails unless s contains the keys up to number n, and no others.
func wantKeys(t *testing.T, s *Set, n uint64) {
	t.Helper()
	if s.Len() != int(n) {
		t.Errorf("%d keys, want %d", s.Len(), n)
	}
	for i := range n {
		if !s.Has(keyNumber(i)) {
			t.Fatalf("key %d is missing", i)
		}
	}
	if s.Has(keyNumber(n)) {
		t.Error("the set has a key that nobody added")
	}
}

// TestAdd: of many goroutines that add the same keys, one gets each key as a new one.
func TestAdd(t *testing.T) {
	const keys = 50_000
	for _, hint := range []int{-1, 0, keys} {
		s := New("k2-whatwg/1", hint)
		var fresh atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for i := range uint64(keys) {
					if s.Add(keyNumber(i)) {
						fresh.Add(1)
					}
					if !s.Has(keyNumber(i)) {
						t.Errorf("key %d is missing after Add", i)
						return
					}
				}
			})
		}
		wg.Wait()
		if fresh.Load() != keys {
			t.Errorf("hint %d: %d keys were new, want %d", hint, fresh.Load(), keys)
		}
		wantKeys(t, s, keys)
	}
}

// TestZero: the zero Key is always new, and never in a set.
func TestZero(t *testing.T) {
	s := New("", 0)
	for range 2 {
		if !s.Add(codec.Key{}) || s.Has(codec.Key{}) || s.Len() != 0 {
			t.Errorf("the zero Key is in a set of %d keys", s.Len())
		}
	}
}

// TestBytes checks what the comment of Set says about memory.
func TestBytes(t *testing.T) {
	s := New("", 0)
	if s.Size() != 0 {
		t.Errorf("an empty set has %d bytes", s.Size())
	}
	const most = 1_000_000
	for i := range uint64(most) {
		s.Add(keyNumber(i))
		if n := i + 1; n >= 250_000 && n%50_000 == 0 {
			if per := float64(s.Size()) / float64(n); per < 16 || per > 24 {
				t.Errorf("%d keys: %.1f bytes a key, want 16 to 24", n, per)
			}
		}
	}
	wantBytes := s.Size()
	hinted := New("", most)
	if b := hinted.Size(); b < 16*most || b > 24*most {
		t.Errorf("a hint of %d keys makes room of %d bytes", most, b)
	}
	had := hinted.Size()
	for i := range uint64(most) {
		hinted.Add(keyNumber(i))
	}
	if hinted.Size() > had*21/20 {
		t.Errorf("a set with a hint grew from %d to %d bytes; without a hint it has %d", had, hinted.Size(), wantBytes)
	}
	runtime.KeepAlive(hinted)
}

// outside is the memory of all sets outside the heap, in bytes.
var outside atomic.Int64

func init() { table.Outside = func(n int64) { outside.Add(n) } }

// TestReleased: the memory of a set that nobody refers to goes back to the system.
func TestReleased(t *testing.T) {
	const each = 100_000
	keep := New("", each)
	if had := outside.Load(); runtime.GOOS == "linux" && had < each*16 {
		t.Fatalf("a set of %d keys has %d bytes outside the heap", each, had)
	}
	for range 20 {
		New("", each)
	}
	runtime.KeepAlive(keep)
	for deadline := time.Now().Add(time.Minute); ; runtime.GC() {
		if outside.Load() < 2*each*16 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are still in use", outside.Load())
		}
	}
}

// TestSaved: a set that is saved and loaded has the same keys and saves to the same
// bytes, in an empty Set, in one with other keys, and in one with the same.
func TestSaved(t *testing.T) {
	for _, n := range []uint64{0, 1, 100, 4096, 300_000} {
		file := saved(t, filled(0, n))
		for name, s := range map[string]*Set{"empty": filled(0, 0), "with room": New("k2-whatwg/1", 100), "half": filled(n/2, n), "same": filled(0, n)} {
			read, err := s.ReadFrom(iotest.HalfReader(bytes.NewReader(file)))
			if err != nil || read != int64(len(file)) {
				t.Fatalf("%d keys into a set that is %s: %d bytes of %d, %v", n, name, read, len(file), err)
			}
			wantKeys(t, s, n)
			if !bytes.Equal(saved(t, s), file) {
				t.Errorf("%d keys into a set that is %s: its file differs", n, name)
			}
		}
	}
}

// TestSavedMeanwhile: keys that were added before WriteTo are in the file, whatever
// other goroutines add.
func TestSavedMeanwhile(t *testing.T) {
	const before, after = 20_000, 60_000
	s := filled(0, before)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := uint64(before); i < after; i++ {
			s.Add(keyNumber(i))
		}
	})
	var files [][]byte
	for range 5 {
		files = append(files, saved(t, s))
	}
	wg.Wait()
	for _, file := range files {
		got := New(s.KeyVersion(), 0)
		if _, err := got.ReadFrom(bytes.NewReader(file)); err != nil {
			t.Fatal(err)
		}
		for i := range uint64(before) {
			if !got.Has(keyNumber(i)) {
				t.Fatalf("key %d is not in the file", i)
			}
		}
		if got.Len() > after {
			t.Errorf("%d keys", got.Len())
		}
	}
}

// TestOtherVersion: keys of another version are refused, and both versions named.
func TestOtherVersion(t *testing.T) {
	file := saved(t, filled(0, 10))
	s := New("k3-whatwg/1 default@2026-11-21", 0)
	_, err := s.ReadFrom(bytes.NewReader(file))
	var other *KeyVersionError
	if !errors.As(err, &other) || other.Saved != "k2-whatwg/1" || other.Want != s.KeyVersion() || s.Len() != 0 {
		t.Errorf("%v; the set has %d keys", err, s.Len())
	}
	if _, err := New(string(make([]byte, MaxVersion+1)), 0).WriteTo(io.Discard); err == nil {
		t.Error("a version that ReadFrom refuses was written")
	}
	long := New(string(make([]byte, MaxVersion)), 0)
	if _, err := long.ReadFrom(bytes.NewReader(saved(t, long))); err != nil {
		t.Error(err)
	}
}

// TestDamaged: a file that is cut off or has another byte anywhere is refused, with a
// place in the file, and changes nothing.
func TestDamaged(t *testing.T) {
	file := saved(t, filled(0, 20))
	s := filled(1000, 1010)
	was := saved(t, s)
	check := func(what string, at int, damaged []byte) {
		t.Helper()
		n, err := s.ReadFrom(bytes.NewReader(damaged))
		var damage *DamageError
		if errors.As(err, &damage) && (damage.Offset < 0 || damage.Offset > int64(len(damaged))) {
			t.Fatalf("%s at %d: %v", what, at, err)
		}
		if err == nil || n > int64(len(damaged)) {
			t.Fatalf("%s at %d: read %d bytes, %v", what, at, n, err)
		}
	}
	for i := range file {
		check("cut", i, file[:i])
		for bit := range 8 {
			flipped := bytes.Clone(file)
			flipped[i] ^= 1 << bit
			check("flipped bit", i, flipped)
		}
	}
	check("more bytes", len(file), append(bytes.Clone(file), 0))
	if !bytes.Equal(saved(t, s), was) {
		t.Error("a refused file changed the set")
	}
}

// TestFailingReader: ReadFrom and WriteTo return the error of their stream.
func TestFailingReader(t *testing.T) {
	why := errors.New("broken")
	file := saved(t, filled(0, 300))
	for _, at := range []int{0, 4, 12, 20, 100, len(file)} {
		r := io.MultiReader(bytes.NewReader(file[:at]), iotest.ErrReader(why))
		if _, err := filled(0, 0).ReadFrom(r); !errors.Is(err, why) {
			t.Errorf("error after %d bytes: %v", at, err)
		}
	}
	for _, at := range []int{0, 10, 100, len(file) - 1} {
		n, err := filled(0, 300).WriteTo(&limited{at, why})
		if n != int64(at) || !errors.Is(err, why) {
			t.Errorf("a writer of %d bytes: %d, %v", at, n, err)
		}
	}
}

// limited is a writer that has room for some bytes.
type limited struct {
	room int
	why  error
}

func (l *limited) Write(b []byte) (int, error) {
	if len(b) > l.room {
		n := l.room
		l.room = 0
		return n, l.why
	}
	l.room -= len(b)
	return len(b), nil
}

// FuzzReadFrom: no input makes ReadFrom panic or use memory that the input does not
// justify, and what it accepts is what WriteTo writes.
func FuzzReadFrom(f *testing.F) {
	for _, n := range []uint64{0, 1, 5} {
		f.Add(saved(f, filled(0, n)))
	}
	f.Add([]byte(magic + "\x00\x00\x00\x01\xff\xff\xff\xff"))
	f.Add([]byte(magic + "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x10\x00"))
	f.Fuzz(func(t *testing.T, file []byte) {
		s := New("k2-whatwg/1", 0)
		n, err := s.ReadFrom(bytes.NewReader(file))
		if n > int64(len(file)) {
			t.Errorf("read %d bytes of %d", n, len(file))
		}
		if err != nil {
			if s.Len() != 0 {
				t.Errorf("%d keys after %v", s.Len(), err)
			}
			return
		}
		again := New("k2-whatwg/1", 0)
		if _, err := again.ReadFrom(bytes.NewReader(saved(t, s))); err != nil || again.Len() != s.Len() {
			t.Errorf("%d keys of %d, %v", again.Len(), s.Len(), err)
		}
	})
}

// BenchmarkAdd compares ways to remember a million keys that eight goroutines add, each
// four times; ns/key is the time for one Add.
func BenchmarkAdd(b *testing.B) {
	const n = 1 << 20
	keys := make([]codec.Key, n)
	for i := range keys {
		keys[i] = keyNumber(uint64(i))
	}
	for name, start := range map[string]func() (add func(codec.Key) bool){
		"Set": func() func(codec.Key) bool { return New("", 0).Add },
		"map with Mutex": func() func(codec.Key) bool {
			var mu sync.Mutex
			m := map[codec.Key]struct{}{}
			return func(k codec.Key) bool {
				mu.Lock()
				defer mu.Unlock()
				had := len(m)
				m[k] = struct{}{}
				return len(m) > had
			}
		},
		"sync.Map": func() func(codec.Key) bool {
			var m sync.Map
			return func(k codec.Key) bool {
				_, loaded := m.LoadOrStore(k, struct{}{})
				return !loaded
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				add := start()
				var wg sync.WaitGroup
				for g := range 8 {
					wg.Go(func() {
						for i := range n / 2 {
							add(keys[(i+g*n/8)%n])
						}
					})
				}
				wg.Wait()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*4*n), "ns/key")
		})
	}
}
