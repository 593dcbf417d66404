// Gunzip inflates a gzip file, all members, with the library that urlfold
// uses, and throws the result away. It is what log.sh measures urlfold against.
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

// inflate returns the number of bytes that name holds.
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
