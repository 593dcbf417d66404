// Package tablegen makes the tables that package codec/internal/table reads. Only the tests
// that write them use it.
package tablegen

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"go/format"
	"os"
	"slices"
	"testing"
)

// File collects tables, the content of tables.bin, and a variable for each, the content of
// tables.go.
type File struct {
	data  []byte
	decls bytes.Buffer
}

// Add adds a table. goType is the type of its variable, such as "string".
func (f *File) Add(name, goType, doc string, data []byte) {
	fmt.Fprintf(&f.decls, "\t// %s %s\n\t%s = %s\n", name, doc, name, f.part(goType, data))
}

// part stores data and returns the expression for it.
func (f *File) part(goType string, data []byte) string {
	start := len(f.data)
	f.data = append(f.data, data...)
	text := fmt.Sprintf("tables[%d:%d]", start, len(f.data))
	if goType == "string" {
		return text
	}
	return goType + "(" + text + ")"
}

// AddTrie adds a Trie in which code point c has the value values[c], or 0 if
// values is shorter.
func (f *File) AddTrie(name, doc string, values []uint16) error {
	top, middle, leaves, err := Trie(values)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Fprintf(&f.decls, "\t// %s %s\n\t%s = &table.Trie{\n\t\tTop: %s,\n\t\tMiddle: %s,\n\t\tLeaves: %s,\n\t}\n", name, doc, name,
		f.part("string", top), f.part("table.Uint16s", middle), f.part("table.Uint16s", leaves))
	return nil
}

// Sizes of the blocks of a trie, as powers of 2: the sizes that table.Trie
// reads.
const (
	leafBits   = 4
	middleBits = 5
)

// Trie returns the parts of a table.Trie.
func Trie(values []uint16) (top, middle, leaves []byte, err error) {
	values = slices.Clone(values)
	for len(values) > 0 && values[len(values)-1] == 0 {
		values = values[:len(values)-1]
	}
	const whole = 1 << (leafBits + middleBits)
	values = append(values, make([]uint16, -len(values)&(whole-1))...)
	blocks, lists := unique(values, 1<<leafBits)
	listed, tops := unique(lists, 1<<middleBits)
	for _, n := range tops {
		if n > 0xFF {
			return nil, nil, nil, errors.New("more than 256 different lists of blocks")
		}
		top = append(top, byte(n))
	}
	return top, Little(listed), Little(blocks), nil
}

// unique cuts values into blocks. It returns the different blocks, and the number of each.
func unique(values []uint16, size int) (blocks, numbers []uint16) {
	seen := map[string]uint16{}
	for ; len(values) > 0; values = values[size:] {
		key := string(Little(values[:size]))
		n, ok := seen[key]
		if !ok {
			n = uint16(len(seen))
			seen[key] = n
			blocks = append(blocks, values[:size]...)
		}
		numbers = append(numbers, n)
	}
	return blocks, numbers
}

// Little returns integers in little-endian order.
func Little[T uint16 | uint64](list []T) (out []byte) {
	for _, n := range list {
		for range binary.Size(n) {
			out = append(out, byte(n))
			n >>= 8
		}
	}
	return out
}

// Check compares tables.bin and tables.go of the current folder with the tables, or writes
// them if update is set. head is the text of tables.go up to the declarations.
func (f *File) Check(t *testing.T, head string, update bool) {
	t.Helper()
	text := head + "\n//go:embed tables.bin\nvar tables string\n\n// The parts of tables.\nvar (\n" + f.decls.String() + ")\n"
	src, err := format.Source([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"tables.bin": f.data, "tables.go": src} {
		if update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the data gives (%v): run go generate", name, err)
		}
	}
}
