package manual

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// sample has every kind of block and span.
const sample = "# Title\n\n<!-- not shown -->\n\nA paragraph with `code`, **bold** and *thin* text, a [link](other.md), a [page](https://h/page)\n" +
	"and 3 \\* 4 &lt; 13. It is wrapped. See <https://h/>.\n\n## Section\n- one\n  item `a b`\n- two\n\n1. first\n\n   | a | b |\n   |---|---|\n   | `x\\|y` | z |\n\n" +
	"2. second\n\n```sh\n$ run  'it'\n```\n\n    indented\n\n### Part\n\n| key | type | meaning |\n|---|---|---|\n" +
	"| `k` | string | the key of a record, which may be long enough to be wrapped |\n| `ll` (old) | | as `k` |\n"

func resolveSample(target string) string {
	if target == "other.md" {
		return "urlfold help other"
	}
	return target
}

// TestRender compares the text of a page with what it should be.
func TestRender(t *testing.T) {
	const want = `Title
=====

A paragraph with 'code', bold and thin text, a
link (urlfold help other), a https://h/page and
3 * 4 < 13. It is wrapped. See https://h/.

Section
-------

- one item 'a b'
- two

1. first

   a    b
   ---  -
   x|y  z

2. second

    $ run  'it'

    indented

Part

key       type    meaning
--------  ------  ------------------------------
k         string  the key of a record, which may
                  be long enough to be wrapped
ll (old)          as 'k'
`
	if got := render(parse(sample, resolveSample), terminal.Style{Width: 48}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestColors checks the text for a terminal with colors: the same words, and no
// quotes around code.
func TestColors(t *testing.T) {
	got := render(parse("## Section\n\nThe `code` is **bold**.\n\n| a | b |\n|---|---|\n| `long-name` | c `d` |\n", resolveSample), terminal.Style{Width: 80, Color: true})
	const want = "\x1b[1mSection\x1b[0m\n\nThe \x1b[36mcode\x1b[0m is \x1b[1mbold\x1b[0m.\n\n" +
		"a          b\n---------  ---\n\x1b[36mlong-name\x1b[0m  c \x1b[36md\x1b[0m\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestParagraphs checks a table whose columns do not fit: a paragraph for each
// row.
func TestParagraphs(t *testing.T) {
	name := strings.Repeat("n", 30)
	table := "| name | type | default | meaning |\n|---|---|---|---|\n| `" + name + "` | string | `abcdefghijklmnop` | a text |\n| b | int | | |\n"
	const want = "\n    type: string; default: abcdefghijklmnop\n    a text\n\nb\n    type: int\n"
	if got := render(parse(table, resolveSample), terminal.Style{Width: 60}); got != name+want {
		t.Errorf("got\n%s", got)
	}
	// Too much for one line: a line for each cell.
	table = "| a | b | c | d |\n|---|---|---|---|\n| " + strings.Repeat("| some words that are many ", 3) + "|\n"
	const apart = "\n    b: some words that are many\n    c: some words that are many\n    d: some words that are many\n"
	if got := render(parse(strings.Replace(table, "| | some", "| x | some", 1), resolveSample), terminal.Style{Width: 40}); got != "x"+apart {
		t.Errorf("got\n%s", got)
	}
}

// TestMan compares a man page with what it should be.
func TestMan(t *testing.T) {
	m := NewMan("urlfold-x", 7, "2026-11-23", "v1.2.3", `say "it's"`)
	m.Section("DESCRIPTION")
	for _, b := range parse("# T\n\n.x `-a` é\n\n'y\n\n## S\n\n- i\n\n```sh\n.x ~^`\\\n```\n\n| a |\n|---|\n| b |\n", resolveSample) {
		m.block(b)
	}
	m.Item("-f", "t")
	const want = `.TH "URLFOLD\-X" 7 "2026-11-23" "urlfold v1.2.3" "urlfold manual"
.nr HY 0
.ad l
.nh
.SH "NAME"
urlfold\-x \- say "it\(aqs"
.SH "DESCRIPTION"
\&.x \fB\-a\fR \[u00E9]
.PP
\(aqy
.SH "S"
.IP \(bu 2
i
.PP
.RS 4
.EX
\&.x \(ti\(ha\(ga\(rs
.EE
.RE
.PP
.EX
a
\-
b
.EE
.TP
\fB\-f\fR
t
`
	if got := string(m.Bytes()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
