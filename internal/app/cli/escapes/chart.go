package escapes

// This file writes the charts of encode --chart: which bytes are percent-encoded in which
// component.

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/report/escapechart"
)

const chartLegend = `
Y  always encode
N  never encode
m  encode unless used as a delimiter
-  not allowed, not even encoded
`

// writeChart writes the chart of a standard as a table and its legend.
func writeChart(w io.Writer, standard string) error {
	ch, err := escapechart.New(standard)
	if err != nil {
		return command.Usagef("--standard: %w", err)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	// Cells come first, so that classes and notes of different widths do not
	// shift the columns.
	_, _ = fmt.Fprintf(tw, "%s\t%s\tclass\tnote\n", ch.Standard, strings.Join(ch.Columns, "\t"))
	var used []escapechart.Note
	for _, r := range ch.Rows {
		_, _ = fmt.Fprintln(tw, rowText(r))
		used = append(used, r.Notes...)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	var legend strings.Builder
	legend.WriteString(chartLegend)
	slices.Sort(used)
	for i, n := range slices.Compact(used) {
		if i == 0 {
			legend.WriteString("\n")
		}
		fmt.Fprintf(&legend, "%d  %s\n", n, n)
	}
	_, err = io.WriteString(w, legend.String())
	return err
}

// writeReservedChart is writeChart for the reserved characters.
func writeReservedChart(w io.Writer, standard string) error {
	ch, err := escapechart.NewReserved(standard)
	if err != nil {
		return command.Usagef("--standard: %w", err)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(tw, "%s\t%s\tclass\n", ch.Standard, strings.Join(ch.Columns, "\t"))
	for _, r := range ch.Rows {
		_, _ = fmt.Fprintf(tw, "%c\t%s\t%s\n", r.Char, strings.Join(r.Cells, "\t"), r.Class)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err = io.WriteString(w, "\nCharacters shown raw are delimiters of that component.\n")
	return err
}

func rowText(r escapechart.Row) string {
	fields := []string{rowName(r)}
	for _, c := range r.Cells {
		fields = append(fields, string(c))
	}
	var notes []string
	for _, n := range r.Notes {
		notes = append(notes, strconv.Itoa(int(n)))
	}
	fields = append(fields, r.Class, strings.Join(notes, ","))
	// Drop the empty fields at the end, which would become trailing spaces.
	return strings.TrimRight(strings.Join(fields, "\t"), "\t")
}

// rowName returns the label of a row: the character, or its hexadecimal code if
// it is not printable.
func rowName(r escapechart.Row) string {
	switch {
	case r.First != r.Last:
		return fmt.Sprintf("%02X-%02X", r.First, r.Last)
	case r.First == ' ':
		return "SPACE"
	case r.First == 0x7F:
		return "7F"
	}
	return string(rune(r.First))
}
