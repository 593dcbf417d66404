// Command runner normalizes URLs with purell. It reads a URL per line, as x and
// hexadecimal digits, and writes a line per URL: the results of the three sets
// of flags, separated by spaces, each as x and hexadecimal digits, or - for an
// error.
package main

import (
	"bufio"
	"encoding/hex"
	"log"
	"os"

	"github.com/PuerkitoBio/purell"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	out := bufio.NewWriter(os.Stdout)
	for in.Scan() {
		url, err := hex.DecodeString(in.Text()[1:])
		if err != nil {
			log.Fatal(err)
		}
		for i, flags := range []purell.NormalizationFlags{purell.FlagsSafe, purell.FlagsUsuallySafeGreedy, purell.FlagsAllGreedy} {
			if i > 0 {
				out.WriteByte(' ')
			}
			if norm, err := purell.NormalizeURLString(string(url), flags); err != nil {
				out.WriteByte('-')
			} else {
				out.WriteString("x" + hex.EncodeToString([]byte(norm)))
			}
		}
		out.WriteByte('\n')
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}
