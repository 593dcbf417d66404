package record

import "testing"

// TestHide checks that the password that WHATWG finds is hidden, whatever the
// profile.
func TestHide(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		for _, profile := range []string{"rfc3986", "equiv", "logclean"} {
			w := newJob(t, Config{Format: "lines", Redact: []string{"passwords"}, Normalizer: newNormalizer(t, profile)}).NewWorker()
			if got := string(w.red.hide([]byte(in))); got != want {
				t.Errorf("%s: %q became %q, want %q", profile, in, got, want)
			}
		}
	}
	f("http://u:p@h/@:", "http://u:***@h/@:")
	f("http://u@h", "http://u@h")
	f("http://u:@h", "http://u:***@h")
	f("http://u:p@q@h", "http://u:***@h")
	f(`http:\\u:p@h`, `http:\\u:***@h`)
	f("http:u:p@h", "http:u:***@h")
	f("http:///u:p@h", "http:///u:***@h")
	f(" ht\ttp:/\t/u\t:p q\n@h", " ht\ttp:/\t/u\t:***@h")
	f("//u:p@h/", "//u:***@h/")
	f("mailto:a:b@c", "mailto:a:b@c")
	f("a/b:c@d", "a/b:c@d")
	// URLs that cannot be parsed.
	f("http://u:p q@[", "http://u:***@[")
	f("http:/ /u:p@h:99999", "http:/ /u:***@h:99999")
	// The backslash is kept: without it the host would be good.example.
	f(`http://u:p\q@good.example`, `http://u:***\***@good.example`)
	f(`http://u\x:p@h`, `http://u\x:***@h`)
}

func TestRedactRewrite(t *testing.T) {
	c := Config{Format: "combined", Target: TargetAll, Redact: []string{"passwords"}, Normalizer: newNormalizer(t, "equiv")}
	const a, b, z = `::1 - - [t] "GET `, ` HTTP/1.1" 200 1 "`, `" "see http://a:b@c"` + "\n"
	check(t, c, a+`/?u=http://x:y@z`+b+`http:u:p@H`+z, a+`/?u=http://x:***@z`+b+`http://u:***@h/`+`" "see http://a:***@c"`+"\n")
	check(t, c, a+`http://u:p\x5Cq@good.example/`+b+z, a+`http://u:***\x5C***@good.example/`+b+`" "see http://a:***@c"`+"\n")
}
