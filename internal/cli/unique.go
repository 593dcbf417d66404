package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/suggest"
	"github.com/urlfold/urlfold/internal/terminal"
	"github.com/urlfold/urlfold/internal/unique"
	"github.com/urlfold/urlfold/pipeline"
)

// This file implements --unique: one record for each key.

// uniqueNames are the values of --unique.
var uniqueNames = []string{"first"}

// keyOfNames are the values of --key-of.
var keyOfNames = []string{"all", "first"}

// resolveUnique sets what identifies a record.
func (s *settings) resolveUnique(bad *mistakes) {
	bad.add("--max-memory", s.checkMemory())
	if s.tempDir != "" {
		bad.add("--temp-dir", disk.Writable(s.tempDir))
	}
	if s.unique == "" && !s.identified {
		for _, f := range []struct{ flag, value string }{{"--by", s.by}, {"--key-of", s.keyOf}} {
			if f.value != "" {
				bad.add(f.flag, errors.New("requires --unique"))
			}
		}
		return
	}
	s.resolveIdentity(bad)
	if s.unique != "" {
		_, err := suggest.Index("mode", uniqueNames, s.unique)
		bad.add("--unique", err)
	}
}

// resolveIdentity checks --by and --key-of.
func (s *settings) resolveIdentity(bad *mistakes) {
	s.by, s.keyOf = cmp.Or(s.by, record.IdentityNames()[0]), cmp.Or(s.keyOf, keyOfNames[0])
	_, errBy := suggest.Index("field", record.IdentityNames(), s.by)
	bad.add("--by", errBy)
	_, err := suggest.Index("value", keyOfNames, s.keyOf)
	bad.add("--key-of", err)
	if errBy == nil {
		s.record.Identity = record.Identity{By: s.by, First: s.keyOf == keyOfNames[1]}
	}
}

// defaultMemory is the default of --max-memory.
const defaultMemory = "1GiB"

// leastMemory is the least value of --max-memory.
const leastMemory = 16 << 20

// checkMemory parses --max-memory.
func (s *settings) checkMemory() error {
	n, err := field.ParseSize(s.maxMemoryText)
	if err == nil && n < leastMemory {
		err = fmt.Errorf("must be at least %s", terminal.FormatSize(leastMemory))
	}
	s.maxMemory = int64(n)
	return err
}

// newFilter returns the filter of --unique, or nil without the flag.
func (r *oneShot) newFilter() pipeline.Filter {
	if r.set.asked != nil {
		return r.set.asked.filter()
	}
	if r.set.unique == "" {
		return nil
	}
	r.out.unique = unique.NewFirst(keyset.Options{MaxMemory: r.set.maxMemory, Dir: r.set.tempDir})
	return r.out.unique
}

// duplicateName is the name of the count of records that the filter left out.
func (o *outcome) duplicateName() string {
	if o.set.asked != nil {
		return "left out"
	}
	return "duplicates"
}

// duplicateRemark says what --unique compared.
func (o *outcome) duplicateRemark() string {
	if o.set.asked != nil {
		return o.set.asked.remark()
	}
	by := o.set.by
	if by == "key" {
		by += " (" + o.set.record.Level.String() + ")"
	}
	return "same " + by + " as an earlier record"
}
