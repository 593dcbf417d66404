package file

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file compresses the outputs of a log. A member stays open over many syncs:
//
//	0                       size       size + len(packed)
//	│ members │ open member │ packed   │ text in the MemberWriter
//	              flush ────┘ written by the next flush, as a whole
//
// A flush precedes each sync. The data after the last flush can be cut off, and the
// member is then ended: see place.

// writerMemory is the memory of the open members of all outputs, in bytes.
const writerMemory = 48 << 20

// A place is where an output can be truncated.
type place struct {
	at    int64  // offset in the file
	end   string // ends the member that is open there; see [compress.MemberWriter.End]
	begin int64  // offset of that member
}

// placeOf returns where m ends.
func placeOf(m engine.Extent) (place, error) {
	end, err := hex.DecodeString(m.End)
	if err != nil {
		return place{}, fmt.Errorf("extent of %s: end: %w", m.Path, err)
	}
	return place{m.Length, string(end), m.Begin}, nil
}

// size returns the length of an output that was truncated here.
func (p place) size() int64 { return p.at + int64(len(p.end)) }

// writers are the MemberWriters of a log.
type writers struct {
	open  []*output // outputs with an open member
	spare []*compress.MemberWriter
}

// alone calls f, which may release mu while it compresses text of o, so that several
// outputs are compressed at the same time. The caller holds mu, and o must not be busy.
func (s *log) alone(o *output, f func() error) error {
	o.busy = true
	err := f()
	o.busy = false
	s.idle.Broadcast()
	return err
}

// compress adds h to the text of o. The caller holds mu.
func (s *log) compress(o *output, h *held) {
	stream := h.ticket.Stream()
	if !stream.Apart {
		for _, text := range [...][]byte{h.head, h.bytes, h.end} {
			s.text(o, text)
		}
		return
	}
	if h.batch.Piece == engine.Whole || h.batch.Piece == engine.First { // the last record may be incomplete
		s.endMember(o)
	}
	s.text(o, h.head)
	if h.batch.Piece != engine.Whole {
		s.text(o, h.bytes)
		if h.batch.Piece == engine.Last {
			s.endMember(o)
		}
		return
	}
	s.endMember(o)
	for p := range apart(stream) {
		s.text(o, p)
		s.endMember(o)
	}
}

// apart yields the text of each member of a stream whose records are apart. A member
// contains a record and the line ends after it, because readers would take a member of
// line ends for a damaged record.
func apart(stream *engine.Stream) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var p []byte
		for _, r := range stream.Recs {
			next := stream.Bytes[r.Off:][:r.Len]
			if len(p) > 0 && len(bytes.TrimLeft(next, "\r\n")) > 0 {
				if !yield(p) {
					return
				}
				p = nil
			}
			if p == nil {
				p = next
			} else {
				p = p[:len(p)+len(next)] // the records are adjacent in memory
			}
		}
		if len(p) > 0 {
			yield(p)
		}
	}
}

// text adds p to the open member of o. If no member is open, it begins a
// member.
func (s *log) text(o *output, p []byte) {
	if len(p) == 0 {
		return
	}
	if o.member == nil {
		o.member = s.writer()
		s.writers.open = append(s.writers.open, o)
		o.begin = o.size + int64(len(o.packed))
	}
	m, packed := o.member, o.packed
	s.mu.Unlock()
	packed = m.Append(packed, p)
	s.mu.Lock()
	o.packed, o.tail = packed, 0
}

// writer returns a MemberWriter. If the open members take all memory, the
// output that was idle longest ends its member. If all outputs are busy, writer
// waits.
func (s *log) writer() *compress.MemberWriter {
	w := &s.writers
	for len(w.spare) == 0 {
		if len(w.open) < compress.MemberWriters(s.format, s.level, writerMemory) {
			m, _ := compress.NewMemberWriter(s.format, s.level) // Validate has checked the level
			return m
		}
		idle := slices.DeleteFunc(slices.Clone(w.open), func(o *output) bool { return o.busy })
		if len(idle) == 0 {
			s.idle.Wait()
			continue
		}
		s.endMember(slices.MinFunc(idle, func(a, b *output) int { return cmp.Compare(a.used, b.used) }))
	}
	m := w.spare[len(w.spare)-1]
	w.spare = w.spare[:len(w.spare)-1]
	return m
}

// proceed prepares an output that ends with synced.end for more text: the member
// continues without its end if that is possible. Otherwise the text begins another
// member. Between the sync here and the next flush, the file is as after a flush.
func (s *log) proceed(o *output) error {
	if !o.ended {
		return nil
	}
	src := make([]byte, max(0, min(o.size-o.synced.begin, int64(compress.MemberSize(s.format)))))
	w := s.writer()
	if _, err := o.f.ReadAt(src, o.synced.begin); err != nil || !w.Resume(src, o.synced.end) {
		s.writers.spare = append(s.writers.spare, w)
		o.size, o.ended = o.synced.size(), false
		return nil
	}
	o.member, o.begin, o.ended = w, o.synced.begin, false
	s.writers.open = append(s.writers.open, o)
	if err := s.files.at("file.before_truncate"); err != nil {
		return err
	}
	return errors.Join(o.f.Truncate(o.size), o.f.Sync())
}

// endMember ends the open member of o, if there is one. The next flush writes the
// end.
func (s *log) endMember(o *output) {
	if o.member == nil {
		return
	}
	o.packed = o.member.Flush(o.packed)
	end := o.member.End()
	o.packed, o.tail = append(o.packed, end...), int64(len(end))
	s.release(o)
}

// release forgets the open member of o.
func (s *log) release(o *output) {
	if o.member == nil {
		return
	}
	o.member.Drop()
	s.writers.spare, o.member = append(s.writers.spare, o.member), nil
	s.writers.open = slices.DeleteFunc(s.writers.open, func(p *output) bool { return p == o })
	s.idle.Broadcast()
}

// flush writes the text of o to the file. It ends the member of a sealed
// output, and any long member, so that readers can work on several members
// in parallel.
func (s *log) flush(o *output) error {
	if err := s.table.ensure(o); err != nil { // the file of an idle output may be closed
		return err
	}
	if m := o.member; m != nil {
		packed := o.packed
		s.mu.Unlock()
		packed = m.Flush(packed)
		s.mu.Lock()
		o.packed = packed
		if o.sealed() || !o.inRecord && m.Size() >= int64(2*compress.MemberSize(s.format)) {
			s.endMember(o)
		}
	}
	if len(o.packed) == 0 {
		return nil
	}
	err := s.files.write(o, o.packed)
	if o.packed = o.packed[:0]; o.member == nil {
		o.packed = nil
	}
	return err
}

// endTries is how often Close tries to write the end of an output. As no batch waits
// for it, a disk that stays full must not block a stop.
const endTries = 6

// endMembers durably ends the open members of all outputs. No batch may wait for a
// sync. The caller holds mu, which endMembers releases while it waits for a retry.
func (s *log) endMembers(ctx context.Context) error {
	list := slices.DeleteFunc(slices.Clone(s.table.outputs()), func(o *output) bool { return o.member == nil && len(o.packed) == 0 })
	for try := 0; ; try++ {
		var errs []error
		for _, o := range list {
			err := s.complete(o)
			if err == nil {
				s.syncEnds([]*output{o}) // opening other outputs may close this one
				err = o.err
			}
			errs = append(errs, err)
		}
		err := errors.Join(errs...)
		if err == nil || lasts(err) || try+1 == endTries || ctx.Err() != nil {
			return err
		}
		s.pause(ctx, s.retryAfter(try))
		for _, o := range list {
			if o.err != nil {
				s.mend(o)
			}
		}
	}
}

// syncEnds makes complete outputs durable.
func (s *log) syncEnds(list []*output) {
	var shares []share
	for _, o := range list {
		if o.err == nil && o.behind() {
			shares = append(shares, share{o: o, end: o.here(false)})
		}
	}
	s.files.syncAll(shares)
	s.resolve(shares)
}

// sealed reports whether o gets no more batches.
func (o *output) sealed() bool { return o.stream.active != o }

// begun reports whether o has text.
func (o *output) begun() bool { return o.size > 0 || len(o.pending) > 0 }

// behind reports whether a sync of o would change what is durable.
func (o *output) behind() bool {
	return len(o.pending) > 0 || len(o.packed) > 0 || o.size != o.synced.at || o.member != nil && o.sealed()
}

// most returns how long o is at most after a flush, in bytes.
func (o *output) most() int64 {
	n := o.size + int64(len(o.packed))
	if o.member != nil {
		n += o.member.Behind()
	}
	return n
}

// here returns the place at the end of o. If flush is set, it first flushes the text of
// o; otherwise the caller must have flushed it.
func (o *output) here(flush bool) place {
	m := place{at: o.size}
	if o.member != nil {
		if flush {
			o.packed = o.member.Flush(o.packed)
		}
		m.end, m.begin = o.member.End(), o.begin
	} else if o.ended {
		return o.synced
	}
	m.at += int64(len(o.packed))
	return m
}

// cutTo truncates o to m. The caller must sync the file afterwards.
func (s *log) cutTo(o *output, m place) error {
	if err := cutFile(o.f, m); err != nil {
		return err
	}
	s.release(o)
	if o.span.start.at > m.at {
		o.span = span{}
	}
	o.packed, o.size, o.tail, o.synced, o.ended = nil, m.at, 0, m, m.end != ""
	return nil
}

// cutFile truncates f to m and ends the member there.
func cutFile(f *disk.File, m place) error {
	if err := f.Truncate(m.at); err != nil || m.end == "" {
		return err
	}
	_, err := f.WriteAt([]byte(m.end), m.at)
	return err
}

// endsAt reports whether f has the given size, and after p only the end of a member.
func (p place) endsAt(f *disk.File, size int64) bool {
	got := make([]byte, len(p.end))
	_, err := f.ReadAt(got, p.at)
	return size == p.size() && err == nil && string(got) == p.end
}
