package keydiff

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// Columns of the table of counts.
const (
	nameColumn  = 24
	countColumn = 14
)

// A textWriter formats a report as human-readable text.
type textWriter struct {
	terminal.Style
	w *bufio.Writer
}

// WriteText writes a report as human-readable text.
func WriteText(w io.Writer, s terminal.Style, r *Report) error {
	t := &textWriter{s, bufio.NewWriter(w)}
	t.line("%s", t.Paint(terminal.Bold, "A "+r.A.String()))
	t.line("%s", t.Paint(terminal.Bold, "B "+r.B.String()))
	t.count("URLs", r.URLs, "with keys under both profiles; format "+r.Format)
	t.count("groups under A", int64(r.GroupsA), "")
	t.count("groups under B", int64(r.GroupsB), "")
	t.count("unchanged groups", int64(r.Unchanged), r.rekeyed())
	t.count("merges", int64(r.Merges.Groups), r.Merges.remark("from %s groups of A", r.Merges.Parts))
	t.count("splits", int64(r.Splits.Groups), r.Splits.remark("into %s groups of B", r.Splits.Parts))
	for _, x := range r.rejections() {
		if x.URLs > 0 {
			t.count("rejected by "+x.by, x.URLs, "")
		}
	}
	if r.BadRecords > 0 {
		t.count("records without URL", r.BadRecords, "do not match the format, or too long")
	}
	t.groups("merges: groups of A that become one group under B", r.Merges)
	t.groups("splits: groups of A that become several groups under B", r.Splits)
	for _, x := range r.rejections() {
		t.rejected(x)
	}
	if r.WithoutExample {
		t.line("\nSome groups have no example, because the memory limit for examples was reached.")
	}
	return t.flush()
}

// flush returns the first error of all writes.
func (t *textWriter) flush() error {
	if err := t.w.Flush(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

func (t *textWriter) line(format string, args ...any) { _, _ = fmt.Fprintf(t.w, format+"\n", args...) } // Flush returns the error

// count writes a line of the table.
func (t *textWriter) count(name string, n int64, remark string) {
	line := fmt.Sprintf("  %-*s%*s", nameColumn, name, countColumn, terminal.FormatCount(n))
	if remark != "" {
		line += "  " + t.Paint(terminal.Dim, remark)
	}
	t.line("%s", t.Folded(line, 2+nameColumn+countColumn+2))
}

// String returns the description of a side for the heading.
func (s reportSide) String() string {
	text := s.Profile + ", keys " + s.KeyFunction
	if s.Policy != "" {
		text += ", " + s.Policy
	}
	return text
}

// rekeyed returns how many of the unchanged groups have a different key.
func (r *Report) rekeyed() string {
	switch {
	case r.A.KeyFunction != r.B.KeyFunction:
		return "same URLs; all keys differ, because the key functions differ"
	case r.Rekeyed > 0:
		return "same URLs; " + terminal.FormatCount(int64(r.Rekeyed)) + " with a different key"
	}
	return "same URLs and keys"
}

func (e *reportEffect) remark(format string, parts int) string {
	if e.Groups == 0 {
		return ""
	}
	return fmt.Sprintf(format, terminal.FormatCount(int64(parts))) + ", " + terminal.Plural(e.URLs, "URL", "URLs")
}

// A namedReject is a rejection with the profiles that reject.
type namedReject struct {
	by string
	reportReject
}

func (r *Report) rejections() []namedReject {
	return []namedReject{{"A only", r.Rejected.A}, {"B only", r.Rejected.B}, {"both", r.Rejected.Both}}
}

func (t *textWriter) groups(title string, e reportEffect) {
	if e.Groups == 0 {
		return
	}
	t.line("\n%s", t.Paint(terminal.Bold, title))
	for _, g := range e.Top {
		by := ""
		if len(g.Rules) > 0 {
			by = ", by " + strings.Join(g.Rules, ", ")
		}
		t.line("  %s, %s%s", terminal.Plural(g.URLs, "URL", "URLs"), terminal.Plural(int64(g.Parts), "group", "groups"), t.Paint(terminal.Cyan, by))
		t.examples(g.Examples, int64(g.Parts))
	}
	if more := e.Groups - len(e.Top); more > 0 {
		t.line("  and %s more", terminal.FormatCount(int64(more)))
	}
}

// examples writes the examples of a group, which has the given number of URLs or groups.
func (t *textWriter) examples(list []reportExample, all int64) {
	for i := range list {
		t.line("  %*s  %s", countColumn, terminal.FormatCount(list[i].URLs), t.Escape(list[i].raw))
	}
	if more := all - int64(len(list)); more > 0 {
		t.line("  %*s  and %s more", countColumn, "", terminal.FormatCount(more))
	}
}

func (t *textWriter) rejected(x namedReject) {
	if x.URLs == 0 || len(x.Examples) == 0 {
		return
	}
	t.line("\n%s", t.Paint(terminal.Bold, "rejected by "+x.by))
	for i := range x.Examples {
		t.line("  %s", t.Escape(x.Examples[i].raw))
	}
}

// WriteCollisionText writes a report of collisions for people.
func WriteCollisionText(w io.Writer, s terminal.Style, r *CollisionReport) error {
	t := &textWriter{s, bufio.NewWriter(w)}
	t.line("%s", t.Paint(terminal.Bold, r.Keys.String()))
	t.count("URLs", r.URLs, "with a key; format "+r.Format)
	if r.Without > 0 {
		t.count("URLs without key", r.Without, "rejected, or the log may have cut their end")
	}
	t.count("different URLs", r.Spellings, "")
	t.count("different keys", r.Distinct, "")
	t.count("groups", r.Groups, "of several URLs with the same key; together "+terminal.Plural(r.Merged, "URL", "URLs"))
	if len(r.Rules) > 0 {
		t.line("\n%s", t.Paint(terminal.Bold, "groups by rule"))
	}
	for _, x := range r.Rules {
		t.count(x.Rule, x.Groups, "")
	}
	if len(r.Top) > 0 {
		t.line("\n%s", t.Paint(terminal.Bold, "the groups with the most URLs"))
	}
	for i := range r.Top {
		g := &r.Top[i]
		t.line("%s", t.Folded(fmt.Sprintf("  %s in %s%s", terminal.Plural(g.Spellings, "URL", "URLs"), terminal.Plural(g.URLs, "record", "records"), t.Paint(terminal.Cyan, ", by "+strings.Join(g.Rules, ", "))), 4))
		t.examples(g.Examples, g.Spellings)
	}
	if more := r.Groups - int64(len(r.Top)); more > 0 {
		t.line("  and %s more", terminal.FormatCount(more))
	}
	return t.flush()
}
