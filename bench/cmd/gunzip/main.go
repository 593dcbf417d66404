// Gunzip decompresses all members of a gzip file with the library that urlfold
// uses, and discards the result. peers.sh compares urlfold with it.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gunzip FILE")
		os.Exit(2)
	}
	n, err := inflate(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "gunzip:", err)
		os.Exit(1)
	}
	fmt.Println(n)
}

// inflate returns the decompressed size of the named file.
func inflate(name string) (int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReaderSize(f, 256<<10))
	if err != nil {
		return 0, err
	}
	return io.Copy(io.Discard, z)
}
