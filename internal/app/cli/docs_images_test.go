package cli

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/report/explain"
)

// TestDocsImages draws the pictures of docs/img from what the program prints, and
// checks that they are up to date. With -update it writes them.
func TestDocsImages(t *testing.T) {
	f := func(name, command, output string) {
		t.Helper()
		path := filepath.Join("..", "..", "..", "docs", "img", name)
		picture := drawSVG(command, output)
		old, err := os.ReadFile(path)
		if err == nil && string(old) == picture {
			return
		}
		if !*update {
			t.Errorf("%s is out of date (%v): go generate ./internal/app/cli", path, err)
			return
		}
		if err := os.WriteFile(path, []byte(picture), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const url = `http://evil.example\@good.example/a/../%7euser?q=100%`
	head, _, _ := strings.Cut(explained(t, url), "\n\n"+bold("what changed"))
	f("explain.svg", "urlfold explain '"+url+"'", head+"\n\n…")

	cmd := exec.Command("urlfold", "access.log.gz", "-o", filepath.Join(t.TempDir(), "clean.log"))
	cmd.Dir = filepath.Join("..", "..", "..", "testdata", "sample")
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "COLUMNS=100")
	var summary bytes.Buffer
	cmd.Stderr = &summary
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	text := elapsed.ReplaceAllString(summary.String(), "12ms, 16,000 records/s, 2.3 MiB/s")
	f("summary.svg", "urlfold access.log.gz -o clean.log", rareFlags.ReplaceAllString(text, "      …\n"))
}

// bold returns the beginning of a bold text on a terminal.
func bold(text string) string { return "\x1b[" + terminal.Bold + "m" + text }

// rareFlags matches the lines of a summary about flags of one or two URLs, which the
// picture leaves out.
var rareFlags = regexp.MustCompile(`(?:      \S+ +[12]\n)+`)

// elapsed matches the time and the rates of a summary, which differ from run to run,
// and so would the width of the picture.
var elapsed = regexp.MustCompile(`[\d.]+(µs|ms|s), [\d,]+ records/s, [\d.]+ [kKMG]?i?B/s`)

// explained returns what explain prints about a URL on a terminal.
func explained(t *testing.T, url string) string {
	t.Helper()
	o := explainOptions{options: newOptions(nil)}
	x, err := o.explainer()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := explain.NewTextWriter(&b, terminal.Style{Color: true, Unicode: true, Width: 96}, x)
	w.Write(x.Explain([]byte(url)))
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Measures of a picture, in pixels.
const (
	svgColumn = 7.8
	svgLine   = 18
	svgMargin = 16
)

// svgColors are the colors of a picture for the codes of package terminal.
var svgColors = map[string]string{
	terminal.Bold:   `font-weight="bold"`,
	terminal.Dim:    `fill="#8b949e"`,
	terminal.Red:    `fill="#ff7b72"`,
	terminal.Green:  `fill="#7ee787"`,
	terminal.Yellow: `fill="#e3b341"`,
	terminal.Cyan:   `fill="#79c0ff"`,
}

// drawSVG draws a terminal in which a command was typed.
func drawSVG(command, output string) string {
	lines := append([]string{"$ " + command}, strings.Split(strings.TrimRight(output, "\n"), "\n")...)
	var body strings.Builder
	columns := 0
	for i, line := range lines {
		columns = max(columns, utf8.RuneCountInString(plainText(line)))
		fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\">%s</text>\n", svgMargin, svgMargin+svgLine*(i+1)-4, svgSpans(line))
	}
	width, height := svgMargin*2+int(float64(columns)*svgColumn), svgMargin*2+svgLine*len(lines)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">
<title>%s</title>
<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>
<g fill="#e6edf3" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="13">
%s</g>
</svg>
`, width, height, html.EscapeString(command), body.String())
}

// cutStyle cuts line at its first escape sequence: the text before it, its code,
// and the rest.
func cutStyle(line string) (text, code, rest string) {
	text, rest, ok := strings.Cut(line, "\x1b[")
	if ok {
		code, rest, _ = strings.Cut(rest, "m")
	}
	return text, code, rest
}

// plainText returns a line without its escape sequences.
func plainText(line string) string {
	var b strings.Builder
	for line != "" {
		text, _, rest := cutStyle(line)
		b.WriteString(text)
		line = rest
	}
	return b.String()
}

// keepSpaces makes spaces ones that no viewer joins: some ignore the attribute xml:space.
var keepSpaces = strings.NewReplacer(" ", "\u00a0")

// svgSpans returns a line of a terminal as spans. Each has the width of its
// columns, whatever the font.
func svgSpans(line string) string {
	var b strings.Builder
	style, column := "", 0
	for line != "" {
		text, code, rest := cutStyle(line)
		if n := utf8.RuneCountInString(text); n > 0 {
			fmt.Fprintf(&b, `<tspan x="%.4g" textLength="%.4g" lengthAdjust="spacingAndGlyphs" %s>%s</tspan>`,
				svgMargin+float64(column)*svgColumn, float64(n)*svgColumn, style, html.EscapeString(keepSpaces.Replace(text)))
			column += n
		}
		style = svgColors[code]
		line = rest
	}
	return b.String()
}

// TestSVGKeepsSpaces checks that the text of a picture has no spaces that a viewer may
// join.
func TestSVGKeepsSpaces(t *testing.T) {
	for part := range strings.SplitSeq(svgSpans("  a  "+bold("b")+"   c"), "</tspan>") {
		if _, text, _ := strings.Cut(part, ">"); strings.Contains(text, " ") {
			t.Errorf("span %q contains a space", part)
		}
	}
}
