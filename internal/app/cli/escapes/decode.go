package escapes

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/app/cli/command"
)

// newDecode returns the command that decodes percent-encoded text.
func newDecode() *cobra.Command {
	var d decodeFlags
	cmd := &cobra.Command{
		Use:   "decode [flags] [TEXT]...",
		Short: "Decode percent-encoded text",
		Long: `Decode each TEXT, or each line of standard input. Decode each escape exactly once, so %2541 becomes %41. Keep a "%" that
does not start an escape. The output may contain any bytes, including newlines.

Split a URL at its delimiters before you decode its parts, because an encoded delimiter is data.

With --strict, fail on a malformed escape, and print its offset in bytes. With --strict and --component, also fail on a
raw byte that the component cannot contain. Such a text was never encoded, or it is already decoded.`,
		Example: `  urlfold decode my%20document.pdf                  # my document.pdf
  urlfold decode --form 'Tom+%26+Jerry'             # Tom & Jerry
  urlfold decode --strict '100%'                    # error: malformed percent-encoding at offset 3: truncated
  urlfold decode --strict --component path 'a b'    # error: raw byte 0x20 at offset 1
  urlfold decode < escaped > names`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := d.init(cmd); err != nil {
				return err
			}
			return eachText(cmd, args, d.appendText)
		},
	}
	d.escapeTarget.register(cmd, "")
	cmd.Flags().BoolVar(&d.form, "form", false, `decode "+" as a space (same as --standard form)`)
	cmd.Flags().BoolVar(&d.strict, "strict", false, "fail on a malformed escape, and on a raw byte that --component cannot contain")
	return cmd
}

// decodeFlags holds the options of the command.
type decodeFlags struct {
	escapeTarget
	form, strict bool
	raw          percent.ByteSet // bytes that --strict rejects unless encoded
}

// init validates the options and sets the fields that follow from them.
func (d *decodeFlags) init(cmd *cobra.Command) (err error) {
	if d.form {
		if cmd.Flags().Changed("standard") && d.standard != "form" {
			return command.Usagef("--form: cannot be combined with --standard %s", d.standard)
		}
		d.standard = "form"
	}
	d.form = d.standard == "form"
	if cmd.Flags().Changed("component") {
		d.raw, err = d.set(cmd)
		return err
	}
	if percent.Components(d.standard) == nil {
		_, err = d.set(cmd) // returns the error that lists the standards
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

// check returns the first error that --strict finds in src.
func (d *decodeFlags) check(src []byte) error {
	raw, malformed := d.raw.Index(src), percent.IndexMalformed(src)
	if raw < 0 || malformed >= 0 && malformed < raw {
		return percent.Check(src)
	}
	return fmt.Errorf("raw byte 0x%02X at offset %d is not allowed in %s (%s): the text was never encoded, or it is already decoded", src[raw], raw, d.name, d.standard)
}
