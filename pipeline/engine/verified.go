package engine

import (
	"io"
	"slices"
	"sync"

	"github.com/urlfold/urlfold/internal/record"
)

// A compressed file contains checksums, each of which covers a part of the
// text. A source that verifies them sets Batch.Verified on every batch at whose
// end matching checksums cover all text of the lane. These batches divide a
// lane into segments:
//
//	batch      0   1   2V │ 3   4V │ 5   6
//	segment    0   0   0  │ 1   1  │ 2   2
//	                      ▲        ▲
//	                      verified ends
//
// A segment is verified when its last batch is resolved. While a lane is held,
// a checkpoint covers only verified segments, and sinks must be able to
// truncate their outputs to the end of the last verified segment. When the
// source finds damage, it withdraws everything after the last verified end. See
// [Lane.Withdraw].

// segments is the state of a lane's segments. The zero value is for a lane
// whose source does not verify checksums.
type segments struct {
	mu        sync.Mutex // locked after Lane.mu
	tracking  tracking
	issued    uint64    // segment number of the next batch
	done      uint64    // number of verified segments
	end       Position  // end of the last verified segment
	open      []segment // resolved batches of the unverified segments
	verified  record.Stats
	withdrawn *Unverified
	files     []string // files that hold withdrawn text

	// The number of verified segments and the held state at the last commit.
	// The extents that belong to that commit depend on them.
	cutDone uint64
	cutHeld bool
}

// A tracking says how a lane handles its unverified text.
type tracking uint8

const (
	trackNothing  tracking = iota
	trackVerified          // the lane counts its verified records
	trackHeld              // the lane may still withdraw its text
	trackReleased          // the lane withdraws nothing, and is held until all its batches are resolved
)

// A segment holds the counts of the resolved batches of one segment.
type segment struct {
	no    uint64
	stats record.Stats
}

// An Unverified is the readable text of an input after its last verified
// segment. It is not, or not completely, covered by matching checksums.
type Unverified struct {
	// Open returns a reader of the decompressed text as it was read. It may be
	// called any number of times and always returns the same bytes. It returns
	// fs.ErrNotExist if the input no longer exists.
	Open func() (io.ReadCloser, error)
}

// TrackVerified makes the lane count its verified records, for
// [Lane.VerifiedStats]. The source calls it before the first Emit, if at all.
func (s *segments) TrackVerified() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracking = max(s.tracking, trackVerified)
}

// Hold declares that text may be withdrawn until it is verified. Sinks that can
// truncate their outputs then report no extent beyond the verified segments.
// The source calls Hold before the first Emit, if at all. Hold implies
// TrackVerified.
func (s *segments) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracking = trackHeld
}

// Release declares that the input of a held lane ended without damage. Nothing
// will be withdrawn, and once everything that was emitted is resolved, a commit
// covers it. The source calls Release before [Lane.Complete] and emits nothing
// afterwards.
func (l *Lane) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Held() {
		l.segments.mu.Lock()
		defer l.segments.mu.Unlock()
		l.tracking, l.dirty = trackReleased, true
	}
}

// Held reports whether the source has called [Lane.Hold] and the lane has not
// been released since.
func (s *segments) Held() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tracking >= trackHeld
}

// Covered reports whether the commit in progress covers a batch of the given
// segment, provided that the whole segment is resolved. [ExtentReporter] sinks
// call it in Extents.
func (s *segments) Covered(segment uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.cutHeld || segment < s.cutDone
}

// VerifiedSegments returns the number of verified segments. A segment is
// verified if its number (see [Batch]) is smaller than the result.
func (s *segments) VerifiedSegments() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// VerifiedStats returns the counts of the verified segments. They are zero
// unless the source has called TrackVerified or Hold.
func (s *segments) VerifiedStats() record.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.verified
}

// Withdraw takes back everything that was emitted after the last verified
// segment. When the lane finishes, sinks cut the withdrawn text off and store u
// instead. The source calls Withdraw on a held lane, before [Lane.Complete].
// The lane finishes only after another commit, which stores that no more of the
// lane is to be read.
func (l *Lane) Withdraw(u *Unverified) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirty = true
	l.segments.mu.Lock()
	defer l.segments.mu.Unlock()
	l.withdrawn = u
}

// Withdrawn returns the withdrawn text, or nil.
func (s *segments) Withdrawn() *Unverified {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.withdrawn
}

// AddUnverifiedFile registers a file to which a sink has written the withdrawn
// text.
func (s *segments) AddUnverifiedFile(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.files, path) {
		s.files = append(s.files, path)
	}
}

// UnverifiedFiles returns the paths of the files that hold the withdrawn text.
func (s *segments) UnverifiedFiles() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.files)
}

// MarkVerified declares that everything emitted up to now is verified, as if the last
// batch had been Verified. It is for sources that compare checksums after they have
// emitted the batch.
func (l *Lane) MarkVerified() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == 0 || l.at(l.next-1).verified {
		return
	}
	s := l.at(l.next - 1)
	s.verified = true
	l.segments.mu.Lock()
	l.issued = s.segment + 1
	l.segments.mu.Unlock()
	if l.base == l.next {
		l.segments.verify(s.segment, s.end)
		l.dirty = true
	}
}

// issue assigns a segment number to b.
func (s *segments) issue(b *Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.Segment = s.issued
	if b.Verified {
		s.issued++
	}
}

// add counts b, which is resolved.
func (s *segments) add(b *Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tracking == trackNothing {
		return
	}
	i := slices.IndexFunc(s.open, func(g segment) bool { return g.no == b.Segment })
	if i < 0 {
		i = len(s.open)
		s.open = append(s.open, segment{no: b.Segment})
	}
	s.open[i].stats.Add(&b.Stats)
}

// verify counts segment no, which is completely resolved and ends at end, and
// all earlier segments as verified.
func (s *segments) verify(no uint64, end Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done, s.end = no+1, end
	s.open = slices.DeleteFunc(s.open, func(g segment) bool {
		if g.no > no {
			return false
		}
		s.verified.Add(&g.stats)
		return true
	})
}

// cut returns the data that a commit stores of a lane with the watermark wm. resolved
// reports that every emitted batch is resolved.
func (s *segments) cut(wm Position, resolved bool) (pos Position, withdrawn bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tracking == trackReleased && resolved {
		s.tracking = trackVerified
	}
	s.cutDone, s.cutHeld = s.done, s.tracking >= trackHeld
	if s.cutHeld {
		wm = s.end
	}
	return wm, s.withdrawn != nil && resolved
}
