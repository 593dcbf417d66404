// Package kept keeps sets of keys in folders: which URLs a program has seen,
// over all its runs. The command "urlfold seen" reads and writes the same
// folders.
package kept

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/storage/keyset/identity"
)

// ErrOtherKeys is matched by the errors of Open about a set with keys of another
// profile, level, hash, secret or list. The text names the differences.
var ErrOtherKeys = keyset.ErrIdentity

// MaxMemory is the maximum memory, in bytes, that a Set uses for keys. A Set
// that needs more moves its keys to files. Each key in a file also needs about
// 1.2 bytes of memory, and 14 bytes of disk.
const MaxMemory = 128 << 20

// A Set is a set of keys in a folder. Any number of goroutines can use it at the same
// time. It must be made by [Create] or [Open] and closed, and only one process can have
// it open; "urlfold seen query" reads a set that is open.
//
// Only the keys that Save or Close has stored are durable: a process that dies
// loses the keys that it added later. The next process then reads some URLs
// again, but misses none.
type Set struct {
	mu     sync.Mutex
	store  *keyset.Store
	failed error // why the set cannot be used any more
}

// Create makes a set in the folder dir, which it creates if necessary, for n's
// keys of a level. Save or Close writes the set to disk. The error matches
// [fs.ErrExist] if dir contains a set.
func Create(dir string, n *codec.Normalizer, lv codec.Level) (*Set, error) {
	return open(n, lv, func(id keyset.Identity, o keyset.Options) (*keyset.Store, error) {
		return keyset.Create(dir, id, o, false)
	})
}

// Open opens the set in the folder dir, which must have n's keys of the level. The error
// matches [fs.ErrNotExist] if there is no set, and [ErrOtherKeys] if its keys are of
// another kind. Otherwise it says what cannot be read, what is damaged, or that another
// process has the set open.
func Open(dir string, n *codec.Normalizer, lv codec.Level) (*Set, error) {
	s, err := open(n, lv, func(id keyset.Identity, o keyset.Options) (*keyset.Store, error) {
		return keyset.Open(dir, id, o)
	})
	if errors.Is(err, keyset.ErrNoStore) {
		err = fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	return s, err
}

func open(n *codec.Normalizer, lv codec.Level, open func(keyset.Identity, keyset.Options) (*keyset.Store, error)) (*Set, error) {
	id, err := identity.OfKeys(n, lv, identity.AllURLs)
	if err != nil {
		return nil, err
	}
	store, err := open(id, keyset.Options{MaxMemory: MaxMemory})
	if err != nil {
		return nil, err
	}
	if err := store.SetStamp(today()); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &Set{store: store}, nil
}

// today returns the stamp of the keys that are added now: the days since 1970-01-01, by
// which "urlfold seen shrink" removes old keys.
func today() uint32 { return uint32(time.Now().Unix() / (24 * 60 * 60)) }

// Add adds k, and reports whether it was missing. If several goroutines add the same
// key, Add returns true to only one. The zero Key, which no URL has, is never in a set:
// Add returns true for it each time.
//
// The error is about a file or about memory. After an error, every later call returns
// the same error: close the set, and open it again with the keys that were stored last.
func (s *Set) Add(k codec.Key) (fresh bool, err error) {
	var added [1]bool
	err = s.use(func() error { return s.store.Add([]keyset.Key{keyset.KeyOf(k.Uint64s())}, added[:]) })
	return added[0], err
}

// Has reports whether k is in the set. The zero Key never is. The error is as
// for Add.
func (s *Set) Has(k codec.Key) (has bool, err error) {
	err = s.use(func() (err error) {
		has, err = s.store.Has(keyset.KeyOf(k.Uint64s()))
		return err
	})
	return has, err
}

// Len returns the number of keys.
func (s *Set) Len() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store.Len()
}

// Save stores the set: when it returns nil, all keys that were added are durable. Each
// Save with new keys writes a file, so call it every few minutes and not after each
// key. The error is as for Add.
func (s *Set) Save() error {
	return s.use(func() error {
		if err := s.store.Commit(); err != nil {
			return err
		}
		return s.store.SetStamp(today())
	})
}

// Close stores the set and closes it. After an error of another method, it returns this
// error and stores nothing. Calls of the set after Close return [fs.ErrClosed].
func (s *Set) Close() error {
	err := s.use(s.store.Commit)
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.failed, fs.ErrClosed) {
		return err
	}
	s.failed = fs.ErrClosed
	return errors.Join(err, s.store.Close())
}

// use calls f, unless a call has failed before.
func (s *Set) use(f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = f()
	}
	return s.failed
}
