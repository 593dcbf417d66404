package escapes

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/percent"
)

// chartLine returns the fields of the line of a chart that begins with name.
func chartLine(chart, name string) string {
	for line := range strings.Lines(chart) {
		if f := strings.Fields(line); len(f) > 0 && f[0] == name {
			return strings.Join(f, " ")
		}
	}
	return ""
}

func TestChartCommand(t *testing.T) {
	f := func(standard string, want ...string) {
		t.Helper()
		out, err := execEscape(newEncode(), strings.NewReader(""), "--chart", "--standard", standard)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if got := chartLine(out, strings.Fields(w)[0]); got != w {
				t.Errorf("%s: %q, want %q", standard, got, w)
			}
		}
	}
	f("rfc3986", "rfc3986 scheme auth path query fragment class note", "SPACE - Y Y Y Y", "A N N N N N unreserved",
		"| - Y Y Y Y 2,3,4", "' - m m m m sub-delim 5", "00-1F - Y Y Y Y control", "80-FF - Y Y Y Y not ASCII")
	f("whatwg", "| - Y N N N 2,3,4", `\ - m m N N 1,3,4`)
	f("rfc1738", "~ - Y Y Y Y unsafe", "7F - Y Y Y Y control")
	f("form", "form name or value class note", "* N", "~ Y")
}

// TestChartAllReserved: the chart of reserved characters shows what encode --all-reserved writes.
func TestChartAllReserved(t *testing.T) {
	for _, standard := range percent.Standards() {
		out, err := execEscape(newEncode(), strings.NewReader(""), "--chart", "--all-reserved", "--standard", standard)
		if err != nil {
			t.Fatal(err)
		}
		columns := percent.Components(standard)
		if got, want := chartLine(out, standard), standard+" "+strings.Join(columns, " ")+" class"; got != want {
			t.Errorf("the head is %q, want %q", got, want)
		}
		for _, c := range "!#$&'()*+,/:;=?@[]" {
			fields := strings.Fields(chartLine(out, string(c)))
			if len(fields) != len(columns)+2 {
				t.Errorf("%s: the row of %c is %q", standard, c, fields)
				continue
			}
			for i, component := range columns {
				got, err := execEscape(newEncode(), strings.NewReader(""), "--all-reserved", "--standard", standard, "--component", component, string(c))
				if err != nil || got != fields[i+1]+"\n" {
					t.Errorf("%s, %s: the chart says %s, encode writes %q (%v)", standard, component, fields[i+1], got, err)
				}
			}
		}
	}
	if _, err := execEscape(newEncode(), strings.NewReader(""), "--chart", "--all-reserved", "--standard", "rfc2396"); err == nil {
		t.Error("there is a chart of rfc2396")
	}
}

// TestChartDefault checks that the chart of RFC 3986 is the default, and its shape: a head, 95 characters and three ranges,
// in columns that stand under each other.
func TestChartDefault(t *testing.T) {
	named, err := execEscape(newEncode(), strings.NewReader(""), "--chart", "--standard", "rfc3986")
	out, err2 := execEscape(newEncode(), strings.NewReader(""), "--chart")
	if err != nil || err2 != nil || out != named {
		t.Fatalf("the default is another chart: %v, %v", err, err2)
	}
	table, legend, _ := strings.Cut(out, "\n\n")
	for _, want := range []string{"Y  always encode\n", "\n-  not allowed, not even encoded\n", "\n2  WHATWG: not encoded in a path\n"} {
		if !strings.Contains(legend, want) {
			t.Errorf("the legend lacks %q:\n%s", want, legend)
		}
	}
	lines := strings.Split(table, "\n")
	if strings.Contains(table, " \n") {
		t.Error("a line ends in a space")
	}
	if len(lines) != 1+95+3 {
		t.Errorf("%d lines", len(lines))
	}
	at := strings.Index(lines[0], "fragment")
	if i := slices.IndexFunc(lines[1:], func(l string) bool { return len(l) <= at || !strings.Contains("YNm-", l[at:at+1]) }); i >= 0 {
		t.Errorf("no cell under the column in %q", lines[i+1])
	}
}

func TestChartErrors(t *testing.T) {
	for want, args := range map[string][]string{`unknown standard "x"`: {"--standard", "x"}, "takes no TEXT": {"extra"}} {
		if _, err := execEscape(newEncode(), strings.NewReader(""), append(args, "--chart")...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("chart %q: %v", args, err)
		}
	}
	cmd := newEncode()
	cmd.SetArgs([]string{"--chart"})
	cmd.SetOut(brokenWriter{})
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	if err := cmd.Execute(); !errors.Is(err, errClosed) {
		t.Errorf("a failed write gives %v", err)
	}
}
