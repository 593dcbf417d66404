package safebrowsing

import (
	"slices"
	"strings"
	"testing"
)

// TestSpecification has the examples of the specifications.
func TestSpecification(t *testing.T) {
	for _, c := range []struct {
		url  string
		v    Version
		want string
	}{
		{"http://a.b.com/1/2.html?param=1", V4, "a.b.com/1/2.html?param=1 a.b.com/1/2.html a.b.com/ a.b.com/1/ b.com/1/2.html?param=1 b.com/1/2.html b.com/ b.com/1/"},
		{"http://a.b.com/1/2.html?param=1", V5, "a.b.com/1/2.html?param=1 a.b.com/1/2.html a.b.com/ a.b.com/1/ b.com/1/2.html?param=1 b.com/1/2.html b.com/ b.com/1/"},
		{"http://a.b.c.d.e.f.com/1.html", V4, "a.b.c.d.e.f.com/1.html a.b.c.d.e.f.com/ c.d.e.f.com/1.html c.d.e.f.com/ d.e.f.com/1.html d.e.f.com/ e.f.com/1.html e.f.com/ f.com/1.html f.com/"},
		{"http://a.b.c.d.e.f.com/1.html", V5, "a.b.c.d.e.f.com/1.html a.b.c.d.e.f.com/ c.d.e.f.com/1.html c.d.e.f.com/ d.e.f.com/1.html d.e.f.com/ e.f.com/1.html e.f.com/ f.com/1.html f.com/"},
		{"http://1.2.3.4/1/", V4, "1.2.3.4/1/ 1.2.3.4/"},
		{"http://1.2.3.4/1/", V5, "1.2.3.4/1/ 1.2.3.4/"},
		{"http://[2001:db8::1]/1/", V5, "[2001:db8::1]/1/ [2001:db8::1]/"},
		// the two versions
		{"http://a.b.example.co.uk/", V4, "a.b.example.co.uk/ b.example.co.uk/ example.co.uk/ co.uk/"},
		{"http://a.b.example.co.uk/", V5, "a.b.example.co.uk/ b.example.co.uk/ example.co.uk/"},
		{"http://co.uk/", V5, "co.uk/"},
		{"http://user.github.io/", V5, "user.github.io/"},
		{"http://localhost/", V4, "localhost/"},
		// the limits
		{"http://h/1/2/3/4/5/6?", V4, "h/1/2/3/4/5/6 h/ h/1/ h/1/2/ h/1/2/3/"},
		{"http://h/", V4, "h/"},
		{"h/", V4, ""},
		{"http:///", V4, ""},
	} {
		if got := Expressions([]byte(c.url), c.v); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("version %d of %s: %q, want %s", c.v, c.url, got, c.want)
		}
	}
}

// TestLimit checks that no URL has more than 30 expressions.
func TestLimit(t *testing.T) {
	for _, v := range []Version{V4, V5} {
		got := Expressions([]byte("http://a.b.c.d.e.f.g.com/1/2/3/4/5?q"), v)
		slices.Sort(got)
		if len(got) != 30 || len(slices.Compact(got)) != 30 {
			t.Errorf("version %d: %d expressions, want 30 different ones", v, len(got))
		}
	}
}
