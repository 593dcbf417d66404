package service

import (
	"strings"
	"testing"
)

// TestAsk checks the questions of init, their defaults, and that without a terminal each
// thing that is missing is named.
func TestAsk(t *testing.T) {
	unknown := func() string { return "" }
	var asked strings.Builder
	p := plan{}
	if err := p.ask(strings.NewReader("a.log\n\nclean/\n\n"), &asked, true, unknown); err != nil {
		t.Fatal(err)
	}
	if want := (plan{input: "a.log", format: "combined", output: "clean/", dataDir: "/var/lib/urlfold"}); p != want {
		t.Errorf("%+v", p)
	}
	if n := strings.Count(asked.String(), "? "); n != 3 || !strings.Contains(asked.String(), "[combined]: ") {
		t.Errorf("asked %q", &asked)
	}
	p = plan{input: "a.log", format: "lines"}
	if err := p.ask(strings.NewReader(""), &asked, true, unknown); err == nil {
		t.Error("the end of the input is an answer")
	}
	for want, p := range map[string]plan{
		"argument: INPUT": {}, "option: -f/--from FORMAT": {input: "a"}, "option: -o/--output OUTPUT": {input: "a", format: "lines"},
	} {
		if err := p.ask(strings.NewReader("x\n"), &asked, false, unknown); err == nil || err.Error() != "missing required "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	p = plan{input: "a", format: "lines", output: "b"}
	if err := p.ask(strings.NewReader(""), &asked, false, unknown); err != nil || p.dataDir != "/var/lib/urlfold" {
		t.Errorf("%v, data_dir %q", err, p.dataDir)
	}
}
