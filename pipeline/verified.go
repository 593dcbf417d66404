package pipeline

import (
	"io"
	"slices"

	"github.com/urlfold/urlfold/codec/record"
)

// A compressed file has checksums, and each covers a part of the text. A source
// that compares them sets Batch.Verified on every batch at whose end all text so
// far is covered by checksums that matched. These batches divide a lane into
// segments:
//
//	batch      0   1   2V │ 3   4V │ 5   6
//	segment    0   0   0  │ 1   1  │ 2   2
//	                      ▲        ▲
//	                      verified ends
//
// A segment is verified when its last batch is resolved. If the lane is held, a
// checkpoint covers verified segments only, and sinks keep the ability to cut
// their outputs back to the start of the segment after them. When the source finds
// damage it withdraws what follows the last verified end: see [Lane.Withdraw].

// segments is what a lane knows of its segments. The zero value is that of a lane
// whose source compares no checksums.
type segments struct {
	tracked   bool
	held      bool
	released  bool      // it is held only until all that was emitted is resolved
	issued    uint64    // number of the segment that the next batch belongs to
	done      uint64    // how many are verified
	end       Position  // of the last of them
	open      []segment // resolved batches of those after them
	verified  record.Stats
	withdrawn *Unverified
	files     []string // that hold withdrawn text

	// At the last commit: how many were verified, and whether the lane was held.
	// Extents that are taken then go by it.
	cutDone uint64
	cutHeld bool
}

// A segment counts the resolved batches of one segment.
type segment struct {
	no    uint64
	stats record.Stats
}

// An Unverified is text that no matching checksum covers, to its last byte.
type Unverified struct {
	// Open returns a reader of the text, decompressed, as it was read. It may be
	// called any number of times, and always returns the same bytes. The error is
	// fs.ErrNotExist if the input is gone.
	Open func() (io.ReadCloser, error)
}

// TrackVerified makes the lane count its verified records: [Lane.VerifiedStats].
// The source calls it before it emits the first batch, or never.
func (l *Lane) TrackVerified() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segs.tracked = true
}

// Hold says that what is not verified may be withdrawn, so that sinks which can be
// cut back give no extent beyond the verified segments. The source calls it before it
// emits the first batch, or never. It implies TrackVerified.
func (l *Lane) Hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segs.tracked, l.segs.held = true, true
}

// Release says that the input of a held lane ended without damage: nothing will be
// withdrawn, and once all that was emitted is resolved a commit covers it. The source
// calls it before [Lane.Complete], and emits nothing after it.
func (l *Lane) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.segs.held {
		l.segs.released, l.dirty = true, true
	}
}

// Held reports whether the source has called [Lane.Hold], and the lane is not released.
func (l *Lane) Held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.segs.held
}

// Covered reports whether the commit that is being taken covers a batch of that
// segment, which is resolved as a whole. A [ExtentReporter] calls it in Extents.
func (l *Lane) Covered(segment uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.segs.cutHeld || segment < l.segs.cutDone
}

// VerifiedSegments returns how many segments are verified: those with lower numbers
// than that (see [Batch]).
func (l *Lane) VerifiedSegments() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.segs.done
}

// VerifiedStats returns the counts of the verified segments. They are zero if the
// source has not called TrackVerified or Hold.
func (l *Lane) VerifiedStats() record.Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.segs.verified
}

// Withdraw takes back what was emitted after the last verified segment: sinks cut
// it off when the lane is finished, and keep u instead. The source calls it, on a
// lane that is held, before [Lane.Complete]. The lane is finished only after
// another commit, which stores that nothing more is to be read.
func (l *Lane) Withdraw(u *Unverified) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segs.withdrawn = u
	l.dirty = true
}

// Withdrawn returns what was withdrawn, nil if nothing was.
func (l *Lane) Withdrawn() *Unverified {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.segs.withdrawn
}

// AddUnverifiedFile notes that a sink has written the withdrawn text to a file.
func (l *Lane) AddUnverifiedFile(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.segs.files, path) {
		l.segs.files = append(l.segs.files, path)
	}
}

// UnverifiedFiles returns the files that hold the withdrawn text.
func (l *Lane) UnverifiedFiles() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.segs.files)
}

// MarkVerified says that all that was emitted so far is verified, as if the last batch
// had been Verified: the source has found that out only now.
func (l *Lane) MarkVerified() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == 0 || l.at(l.next-1).verified {
		return
	}
	s := l.at(l.next - 1)
	s.verified = true
	l.segs.issued = s.segment + 1
	if l.base == l.next {
		l.segs.verify(s.segment, s.end)
		l.dirty = true
	}
}

// issue gives b the number of its segment.
func (s *segments) issue(b *Batch) {
	b.Segment = s.issued
	if b.Verified {
		s.issued++
	}
}

// add counts b, which is resolved.
func (s *segments) add(b *Batch) {
	if !s.tracked {
		return
	}
	i := slices.IndexFunc(s.open, func(g segment) bool { return g.no == b.Segment })
	if i < 0 {
		i = len(s.open)
		s.open = append(s.open, segment{no: b.Segment})
	}
	s.open[i].stats.Add(&b.Stats)
}

// verify counts the segment no, which is resolved as a whole, and those before it
// as verified. It ends at end.
func (s *segments) verify(no uint64, end Position) {
	s.done, s.end = no+1, end
	s.open = slices.DeleteFunc(s.open, func(g segment) bool {
		if g.no > no {
			return false
		}
		s.verified.Add(&g.stats)
		return true
	})
}
