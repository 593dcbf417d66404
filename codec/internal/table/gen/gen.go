// Package gen writes tables for package table. Only generators use it.
package gen

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"go/format"
	"os"
	"slices"

	"github.com/urlfold/urlfold/codec/internal/table"
)

// File collects tables and writes them to tables.bin, and to tables.go a variable for each.
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

// AddTrie adds a Trie with a value for each code point, or for the first ones: the others
// are 0.
func (f *File) AddTrie(name, doc string, values []uint16) error {
	top, middle, leaves, err := trie(values)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Fprintf(&f.decls, "\t// %s %s\n\t%s = &table.Trie{\n\t\tTop: %s,\n\t\tMiddle: %s,\n\t\tLeaves: %s,\n\t}\n", name, doc, name,
		f.part("string", top), f.part("table.Uint16s", middle), f.part("table.Uint16s", leaves))
	return nil
}

// trie returns the parts of a Trie.
func trie(values []uint16) (top, middle, leaves []byte, err error) {
	values = slices.Clone(values)
	for len(values) > 0 && values[len(values)-1] == 0 {
		values = values[:len(values)-1]
	}
	const whole = 1 << (table.LeafBits + table.MiddleBits)
	values = append(values, make([]uint16, -len(values)&(whole-1))...)
	blocks, lists := unique(values, 1<<table.LeafBits)
	listed, tops := unique(lists, 1<<table.MiddleBits)
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

// Write writes both files to the current folder. head is the text of tables.go up to the
// declarations.
func (f *File) Write(head string) error {
	text := head + "\n//go:embed tables.bin\nvar tables string\n\n// The parts of tables.\nvar (\n" + f.decls.String() + ")\n"
	src, err := format.Source([]byte(text))
	if err != nil {
		return err
	}
	if err := os.WriteFile("tables.bin", f.data, 0o644); err != nil {
		return err
	}
	return os.WriteFile("tables.go", src, 0o644)
}
