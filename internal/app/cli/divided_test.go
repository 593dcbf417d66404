package cli

import (
	"fmt"
	"strings"
	"testing"
)

// TestHostTable: the path of an output stays in its folder, whatever the host.
func TestHostTable(t *testing.T) {
	for _, test := range []struct{ output, host, want string }{
		{"out/{vhost}.log", "WWW.Example.org", "out/www.example.org.log"},
		{"out/{vhost}.log", "example.org.", "out/example.org.log"},
		{"out/{vhost}.log", "", "out/unknown.log"},
		{"out/{vhost}.log", "-", "out/unknown.log"},
		{"out/{vhost}", "../../etc/passwd", "out/_.._etc_passwd"},
		{"out/{vhost}", "..", "out/unknown"},
		{"out/{vhost}", "-rf", "out/rf"},
		{"out/{vhost}", "a\x00\n\\b", "out/a___b"},
		{"out/{vhost}", "::1", "out/__1"},
		{"out/{vhost}", strings.Repeat("a", 300), "out/" + strings.Repeat("a", 180) + "-89971909"},
		{"{site}", "a.b.example.co.uk", "example.co.uk"},
		{"{site}", "me.github.io", "me.github.io"},
		{"{site}", "192.0.2.1", "192.0.2.1"},
		{"{site}", "localhost", "localhost"},
		{"{site}/{vhost}.log", "a.example.org", "example.org/a.example.org.log"},
	} {
		s := &settings{options: &options{}}
		s.Output = test.output
		s.resolveDivided()
		if got := s.hosts.path(s.record.Route[0].ToHost([]byte(test.host))); got != test.want {
			t.Errorf("%s of %q: %q, want %q", test.output, test.host, got, test.want)
		}
	}
	s := &settings{options: &options{}}
	s.Output = "{vhost}"
	s.resolveDivided()
	for i := range mostHosts + 10 {
		s.hosts.to(fmt.Append(nil, "h", i))
	}
	if got := s.hosts.path(s.hosts.to([]byte("further"))); got != "other" || len(s.hosts.paths) != mostHosts {
		t.Errorf("a host too many: %s, %d paths", got, len(s.hosts.paths))
	}
}
