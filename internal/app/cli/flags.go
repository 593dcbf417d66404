package cli

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/app/charset"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/cli/help"
	"github.com/urlfold/urlfold/internal/app/recordconf"
	"github.com/urlfold/urlfold/internal/ground/comments"
	"github.com/urlfold/urlfold/internal/ground/redact"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/report/insight"
	"github.com/urlfold/urlfold/internal/report/logreport"
	"github.com/urlfold/urlfold/sources/file"
)

// This file makes options of the fields of structs, among them the
// configuration's. The value of a field is the default of its option. The tags
// are:
//
//	flag    the name and, after a comma, the letter
//	for     which commands have the option besides the one-shot
//	group   the group in the help of the one-shot; default: the enclosing struct's
//	arg     the word of the help text for the value
//	help    the help text, in which {} becomes the accepted values; default: the doc comment
//	enum    the accepted values, if valuesOf does not know them
//	noun    the word for a value in the error about any other value
//	alone   the value of the option without a value
//	split   the separator of a list; default: the option is repeated
//	bounds  the least and the largest size
//	job     the field of record.Config that the option sets, if it has another name

// register adds to cmd the options of all, a pointer to o or to a struct that
// contains o: the options for the given uses, or all options if no use is given.
func (o *options) register(cmd *cobra.Command, all any, uses ...string) {
	o.add(cmd, reflect.ValueOf(all).Elem(), "", uses)
}

// add adds the options of a struct whose enclosing struct has this group.
func (o *options) add(cmd *cobra.Command, structure reflect.Value, group string, uses []string) {
	flags := cmd.Flags()
	flags.SortFlags = false
	for f, v := range structure.Fields() {
		group := cmp.Or(f.Tag.Get("group"), group)
		name, letter, _ := strings.Cut(f.Tag.Get("flag"), ",")
		if f.Anonymous {
			o.add(cmd, v, group, uses)
		}
		if name == "" || len(uses) > 0 && !slices.ContainsFunc(strings.Split(f.Tag.Get("for"), ","), func(use string) bool { return slices.Contains(uses, use) }) {
			continue
		}
		values := o.valuesOf(f, name)
		shown := values
		if name == "from" && len(uses) > 0 { // all names take 10 lines, which only the help of urlfold itself shows
			shown = []string{"a name that 'urlfold help formats' lists"}
		}
		text := helpOf(f, structure.Type(), shown)
		switch p := v.Addr().Interface().(type) {
		case *string:
			flags.StringVarP(p, name, letter, *p, text)
		case *config.Render:
			flags.StringVarP(&p.Form, name, letter, p.Form, text)
		case *bool:
			flags.BoolVarP(p, name, letter, *p, text)
		case *int:
			flags.IntVarP(p, name, letter, *p, text)
		case *int64:
			flags.Int64VarP(p, name, letter, *p, text)
		case *field.Size:
			flags.VarP(newSizeValue(p, f, name, o.late), name, letter, text)
		case *[]string:
			list := flags.StringArrayVarP
			if f.Tag.Get("split") != "" {
				list = flags.StringSliceVarP
			}
			list(p, name, letter, *p, text)
		default:
			panic("BUG: no flag can have the type of " + f.Name)
		}
		flag := flags.Lookup(name)
		flag.Annotations = map[string][]string{help.GroupKey: {group}}
		if f.Tag.Get("split") != "" {
			flag.Value = listValue{flag.Value, flag.Value.(pflag.SliceValue)}
		}
		if alone := f.Tag.Get("alone"); alone != "" {
			flag.NoOptDefVal = alone
		}
		switch {
		case name == "profile", name == "against":
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(config.ProfileNames(), cobra.ShellCompDirectiveDefault)) // the shell also completes the names of YAML files
		case name == "rule":
			command.CompleteFrom(cmd, name, signedRuleNames())
		case name == "fields", f.Name == "As", f.Name == "Counted":
			command.CompleteList(cmd, name, values)
		case values != nil && name != "redact":
			command.CompleteFrom(cmd, name, values)
		}
	}
}

// A listValue is the value of an option for a list. Unlike a list of package
// pflag, it takes quotes within an element: param("q") is the same as param(q).
type listValue struct {
	pflag.Value
	pflag.SliceValue
}

// Set implements [pflag.Value].
func (l listValue) Set(text string) error {
	return l.Value.Set(strings.NewReplacer(`("`, "(", `")`, ")").Replace(text))
}

// valuesOf returns the accepted values of an option, or nil if there is no list of them.
func (o *options) valuesOf(f reflect.StructField, name string) []string {
	switch name {
	case "from":
		names := record.Formats()
		for _, f := range o.formats {
			if name := f.Name(); !slices.Contains(names, name) { // avro is in the list twice: for messages and for files
				names = append(names, name)
			}
		}
		return names
	case "to":
		if f.Name == "Form" {
			return insight.Forms()
		}
		if f.Name == "As" {
			return logreport.Forms()
		}
		return recordconf.Renders()
	case "per":
		return insight.PerNames()
	case "query-encoding":
		return charset.Names()
	case "rule":
		return ruleNames()
	case "fields":
		return record.FieldNames()
	case "redact":
		return redact.Names()
	case "by":
		if f.Name == "Counted" {
			return insight.Names()
		}
		return record.IdentityNames()
	case "shard-by":
		return shardByNames
	case "on-damage":
		return file.OnDamageNames()
	}
	if enum := f.Tag.Get("enum"); enum != "" {
		return strings.Split(enum, ",")
	}
	return nil
}

// checkValues reports the values of options with a noun that are not accepted.
func (o *options) checkValues(bad *command.Mistakes) {
	all := reflect.ValueOf(o).Elem()
	for _, f := range reflect.VisibleFields(all.Type()) {
		noun, name := f.Tag.Get("noun"), f.Tag.Get("flag")
		if value := all.FieldByIndex(f.Index); noun != "" && !value.IsZero() {
			_, err := suggest.Index(noun, o.valuesOf(f, name), value.String())
			bad.Add("--"+name, err)
		}
	}
}

// helpOf returns the help text of the option of a field of a struct.
func helpOf(f reflect.StructField, of reflect.Type, values []string) string {
	list := strings.Join(values, ", ")
	text := f.Tag.Get("help")
	if text == "" {
		name := of.PkgPath() + "." + of.Name() + "." + f.Name
		if text = strings.TrimSuffix(comments.Of(name), "."); text == "" {
			panic("BUG: no comment of " + name + ": run go generate ./config ./internal/app/cli")
		}
		text = strings.ReplaceAll(terminal.LowerFirst(text), "url_field", "--url-field")
		missing := func(value string) bool { return !strings.Contains(text, value) }
		if f.Tag.Get("enum") != "" && missing("{}") && slices.ContainsFunc(values, missing) {
			first, rest, more := strings.Cut(text, ". ")
			if text = first + ": {}"; more {
				text += ". " + rest
			}
		}
	}
	text = strings.ReplaceAll(text, "{}", list)
	if arg := f.Tag.Get("arg"); arg != "" {
		text = strings.Replace(text, arg, "`"+arg+"`", 1)
	}
	return text
}

// flagsByField holds the options that set the fields of record.Config.
var flagsByField = sync.OnceValue(func() map[string]string {
	return recordconf.Names(reflect.TypeFor[options](), "flag", "--")
})

// A sizeValue is the value of an option for a size. Set keeps its error for resolve,
// which reports the errors of all options.
type sizeValue struct {
	to          *field.Size
	least, most field.Size
	text, name  string
	late        map[string]error
}

func newSizeValue(to *field.Size, f reflect.StructField, name string, late map[string]error) *sizeValue {
	v := &sizeValue{to: to, name: name, late: late, most: 1 << 60}
	least, most, _ := strings.Cut(f.Tag.Get("bounds"), ",")
	_ = v.least.UnmarshalText([]byte(least)) // a test registers all options, so this cannot fail
	if most != "" {
		_ = v.most.UnmarshalText([]byte(most))
	}
	if *to != 0 {
		v.text = to.String()
	}
	return v
}

// Set implements [pflag.Value].
func (v *sizeValue) Set(text string) error {
	n, err := field.ParseSize(text)
	switch {
	case err != nil:
	case n < 1 && v.least == 1:
		err = errors.New("must be greater than 0")
	case n < v.least:
		err = fmt.Errorf("must be at least %s", terminal.FormatSize(int64(v.least)))
	case n > v.most:
		err = fmt.Errorf("must be at most %s", terminal.FormatSize(int64(v.most)))
	default:
		*v.to = n
	}
	v.text, v.late[v.name] = text, err
	return nil
}

// String implements [pflag.Value].
func (v *sizeValue) String() string { return v.text }

// Type implements [pflag.Value].
func (v *sizeValue) Type() string { return "string" }
