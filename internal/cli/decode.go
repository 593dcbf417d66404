package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec/percent"
)

// newDecodeCmd returns the command that turns escaped text into the data that it stands for.
func newDecodeCmd() *cobra.Command {
	var d decodeFlags
	cmd := &cobra.Command{
		Use:   "decode [flags] [TEXT]...",
		Short: "Decode percent-encoded text, once",
		Long: `Decode writes the bytes that each TEXT, or each line of the standard input, stands for. Each escape is decoded exactly
once, so %2541 gives %41; a "%" that begins no escape stays as it is. What comes out may be any bytes, newlines too.
Split a URL at its delimiters first, and decode the parts: an escaped delimiter is data.

With --strict a bad escape is an error that tells its offset, in bytes. With --strict and --component a raw byte that the
component cannot hold is an error too: such text was never encoded, or is decoded already.`,
		Example: `  urlfold decode my%20document.pdf                               my document.pdf
  urlfold decode --form 'Tom+%26+Jerry'                          Tom & Jerry
  urlfold decode --strict '100%'                                 error: malformed percent-encoding at offset 3: truncated
  urlfold decode --strict --component path-segment 'a b%20c'     error: raw byte 20h at offset 1
  urlfold decode < escaped > names`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := d.init(cmd); err != nil {
				return err
			}
			return eachText(cmd, args, d.appendText)
		},
	}
	d.escapeTarget.register(cmd, "")
	cmd.Flags().BoolVar(&d.form, "form", false, `read "+" as a space (the same as --standard form)`)
	cmd.Flags().BoolVar(&d.strict, "strict", false, "fail at the first bad escape, and at a byte that --component cannot hold")
	return cmd
}

// decodeFlags is the flags of the command.
type decodeFlags struct {
	escapeTarget
	form, strict bool
	raw          percent.Set // what may not stand raw, with --strict
}

// init checks the flags and completes them.
func (d *decodeFlags) init(cmd *cobra.Command) (err error) {
	if d.form {
		if cmd.Flags().Changed("standard") && d.standard != "form" {
			return usage(fmt.Errorf("--form contradicts --standard %s", d.standard))
		}
		d.standard = "form"
	}
	d.form = d.standard == "form"
	if cmd.Flags().Changed("component") {
		d.raw, err = d.set(cmd)
		return err
	}
	if percent.Components(d.standard) == nil {
		_, err = d.set(cmd) // says which standards there are
	}
	return err
}

func (d *decodeFlags) appendText(dst, src []byte) ([]byte, error) {
	if d.strict {
		if err := d.check(src); err != nil {
			return dst, err
		}
	}
	if d.form {
		return percent.AppendDecodeForm(dst, src), nil
	}
	return percent.AppendDecode(dst, src), nil
}

// check returns what --strict finds first in src.
func (d *decodeFlags) check(src []byte) error {
	raw, malformed := d.raw.Index(src), percent.IndexMalformed(src)
	if raw < 0 || malformed >= 0 && malformed < raw {
		return percent.Check(src)
	}
	return fmt.Errorf("raw byte %02Xh at offset %d cannot stand in a %s (%s): never encoded, or decoded already", src[raw], raw, d.name, d.standard)
}
