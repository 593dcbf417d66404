// Package escapes has the commands about percent-encoding: encode and decode.
package escapes

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// Commands returns the commands.
func Commands() []command.Sub {
	return []command.Sub{{Name: "encode", Create: newEncode}, {Name: "decode", Create: newDecode}}
}

// newEncode returns the command that percent-encodes data for one component
// of a URL.
func newEncode() *cobra.Command {
	var c escapeTarget
	var allReserved, chart bool
	cmd := &cobra.Command{
		Use:   "encode [flags] [TEXT]...",
		Short: "Percent-encode data for one component of a URL",
		Long: `Percent-encode each TEXT, or each line of standard input, for use in one component of a URL. Encode only the bytes that
the component cannot contain raw. Always encode "%" as %25, because TEXT is data. If you encode a text twice, you must
decode it twice. A line ends at LF; a CR is data.

Components:
  path-segment               encode "/"
  path                       keep "/"
  query                      keep the delimiters of name=value pairs
  query-name, query-value    encode the delimiters of name=value pairs
  fragment
  userinfo                   user:password; keep ":" with rfc3986 and rfc1738
  host

Standards:
  rfc3986
  whatwg     encode as browsers do; encode a query as in http URLs
  rfc1738    has no component host
  form       application/x-www-form-urlencoded: has only query-name and query-value; write a space as "+"

With --all-reserved, also encode the reserved characters of RFC 3986 (! # $ & ' ( ) * + , / : ; = ? @ [ ]) that the
component may contain raw. Keep only the delimiters of the component: "/" in path, ":" in userinfo, and "&", "=" and "+"
in query.

With --chart, encode nothing: for each byte and each component, print whether the standard requires percent-encoding, or,
with --all-reserved, what becomes of each reserved character. The charts of rfc3986 and whatwg mark where they differ.`,
		Example: `  urlfold encode 'my document.pdf'                    # my%20document.pdf
  urlfold encode --component path '/a b/c?'           # /a%20b/c%3F
  urlfold encode --component query-value 'Tom&Jerry'  # Tom%26Jerry
  urlfold encode --standard form 'Tom & Jerry'        # Tom+%26+Jerry
  urlfold encode --all-reserved 'Wow! (5*5)'          # Wow%21%20%285%2A5%29
  urlfold encode --component query-value < names > escaped
  urlfold encode --chart --standard whatwg            # print the rules of browsers`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case chart && (len(args) > 0 || cmd.Flags().Changed("component")):
				return command.Usagef("--chart: takes no TEXT and no --component")
			case chart && allReserved:
				return writeReservedChart(cmd.OutOrStdout(), c.standard)
			case chart:
				return writeChart(cmd.OutOrStdout(), c.standard)
			}
			set, err := c.set(cmd)
			if err != nil {
				return err
			}
			return eachText(cmd, args, func(dst, src []byte) ([]byte, error) {
				if allReserved {
					return percent.AppendEncodeReserved(dst, src, set, percent.Delimiters(c.name)), nil
				}
				return percent.AppendEncode(dst, src, set), nil
			})
		},
	}
	c.register(cmd, "path-segment")
	cmd.Flags().BoolVar(&allReserved, "all-reserved", false, "encode every reserved character except the delimiters of the component")
	cmd.Flags().BoolVar(&chart, "chart", false, "print which characters are percent-encoded in which component")
	return cmd
}

// escapeTarget holds the options that name a component and a standard.
type escapeTarget struct{ name, standard string }

func (c *escapeTarget) register(cmd *cobra.Command, name string) {
	cmd.Flags().StringVar(&c.name, "component", name, "use the rules of this `component`, for example query-value. Accepted: "+strings.Join(percent.Components("rfc3986"), ", "))
	cmd.Flags().StringVar(&c.standard, "standard", "rfc3986", "follow this `standard`: "+strings.Join(percent.Standards(), ", "))
	command.CompleteFrom(cmd, "component", percent.Components("rfc3986"))
	command.CompleteFrom(cmd, "standard", percent.Standards())
}

// set returns the set of bytes to encode. The standard form has only query-name
// and query-value, so its default component is query-value.
func (c *escapeTarget) set(cmd *cobra.Command) (percent.ByteSet, error) {
	name := c.name
	if c.standard == "form" && !cmd.Flags().Changed("component") {
		name = "query-value"
	}
	set, err := percent.Lookup(c.standard, name)
	switch {
	case err == nil:
		return set, nil
	case slices.Contains(percent.Standards(), c.standard):
		return set, command.Usagef("--component: %w", err)
	}
	return set, command.Usagef("--standard: %w", err)
}

// An appendFunc converts src, appends the result to dst and returns the
// extended slice. Its error reports invalid input.
type appendFunc func(dst, src []byte) ([]byte, error)

// eachText applies f to each argument, or to each line of standard input if
// there are no arguments, and writes one line for each.
func eachText(cmd *cobra.Command, args []string, f appendFunc) (err error) {
	w := bufio.NewWriterSize(terminal.Writer(cmd.OutOrStdout()), 64<<10)
	// Write the results before an error, too.
	defer func() { err = errors.Join(err, w.Flush()) }()
	if len(args) == 0 {
		return eachLine(w, cmd.InOrStdin(), f)
	}
	var buf []byte
	for i, a := range args {
		if buf, err = f(buf[:0], []byte(a)); err != nil {
			return command.Usagef("argument %d: %w", i+1, err)
		}
		if _, err = w.Write(append(buf, '\n')); err != nil {
			return command.Wrote(err)
		}
	}
	return nil
}

// eachLine copies r to w line by line through f. It holds one line in memory,
// of any length. The last line ends with a newline in w only if it does in r.
func eachLine(w io.Writer, r io.Reader, f appendFunc) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var line, out []byte
	for n := 1; ; n++ {
		var end bool
		var err error
		if line, end, err = readRawLine(line[:0], br); err != nil {
			return fmt.Errorf("read input: %w", err)
		}
		text, newline := line, len(line) > 0 && line[len(line)-1] == '\n'
		if newline {
			text = line[:len(line)-1]
		}
		if out, err = f(out[:0], text); err != nil {
			return command.Usagef("line %d: %w", n, err)
		}
		if newline {
			out = append(out, '\n')
		}
		if _, err = w.Write(out); err != nil {
			return command.Wrote(err)
		}
		if end {
			return nil
		}
	}
}

// readRawLine appends the next line to dst, including its newline. end reports
// whether it is the last line.
func readRawLine(dst []byte, br *bufio.Reader) (line []byte, end bool, err error) {
	for {
		part, err := br.ReadSlice('\n')
		dst = append(dst, part...)
		switch {
		case err == nil:
			return dst, false, nil
		case errors.Is(err, io.EOF):
			return dst, true, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return dst, false, err
		}
	}
}
