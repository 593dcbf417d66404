package web

import (
	"bytes"
	"encoding/json"
	"flag"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/pipeline/engine"
)

var update = flag.Bool("update", false, "update the golden files")

// TestGolden compares the pages of fixed views with those in testdata.
func TestGolden(t *testing.T) {
	for name, v := range map[string]View{"green": green(), "red": red(), "empty": {}} {
		s := newServer(func() View { return v })
		for path, ext := range map[string]string{"/": ".html", "/status.json": ".json", "/readyz": ".readyz.json"} {
			got := get(t, s, path).Body.Bytes()
			file := filepath.Join("testdata", name+ext)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s of the %s view is not %s: look at the difference, then run with -update", path, name, file)
			}
		}
	}
}

// No name becomes markup, and no secret is shown.
func TestHostileNames(t *testing.T) {
	s := newServer(red)
	for _, path := range []string{"/", "/status.json", "/readyz"} {
		body := get(t, s, path).Body.String()
		for _, bad := range []string{"<script", "<b>x", "hunter2", "pass@", `"'&`} {
			if strings.Contains(body, bad) {
				t.Errorf("%s contains %q", path, bad)
			}
		}
	}
	page := get(t, s, "/").Body.String()
	if !strings.Contains(html.UnescapeString(page), `/log/<script>alert(59)</script>"'&`) {
		t.Error("the page does not show the lane with the hostile name")
	}
}

// The page asks for nothing but itself: no script, no style sheet, no picture. Its
// links lead to this server.
func TestSelfContained(t *testing.T) {
	page := get(t, newServer(red), "/").Body.String()
	for _, m := range regexp.MustCompile(`(?i)(?:src|href|action|url)\s*[=(]\s*["']?([^"'>)\s]*)`).FindAllStringSubmatch(page, -1) {
		if !regexp.MustCompile(`^/[a-z.]*$`).MatchString(m[1]) {
			t.Errorf("the page leads to %q", m[0])
		}
	}
	for _, tag := range []string{"<script", "<link", "<img", "<iframe", "<object", "@import", " style="} {
		if strings.Contains(page, tag) {
			t.Errorf("the page contains %q", tag)
		}
	}
}

// TestWarnings: what does not affect readiness makes the page amber.
func TestWarnings(t *testing.T) {
	f := func(badge string, warnings int, change func(*View)) {
		t.Helper()
		v := green()
		v.Snapshot.Sinks = v.Snapshot.Sinks[:1]
		change(&v)
		s := newServer(func() View { return v })
		if st := s.status(); len(st.Warnings) != warnings || !st.Ready {
			t.Errorf("ready %v, warnings %q", st.Ready, st.Warnings)
		}
		if page := get(t, s, "/").Body.String(); !strings.Contains(page, badge) {
			t.Errorf("the page lacks %q", badge)
		}
	}
	f(`<span class="badge good">ready<`, 0, func(*View) {})
	f(`<span class="badge warn">ready, with warnings<`, 1, func(v *View) { v.DamagedFiles = 1 })
	f("previous configuration remains active: hm", 1, func(v *View) { v.ReloadErr = "hm" })
	f("file-2 permanently refused records in 2 answers", 1, func(v *View) { v.Snapshot.Sinks[0].Refused = 2 })
}

func TestBoundedPage(t *testing.T) {
	v := green()
	for range 10_000 {
		v.Snapshot.Lanes = append(v.Snapshot.Lanes, engine.LaneSnapshot{Name: "a lane", Oldest: now.Add(-1e12)})
	}
	for i := range v.Snapshot.Stats.Flags {
		v.Snapshot.Stats.Flags[i] = int64(i + 1)
	}
	s := newServer(func() View { return v })
	var st Status
	if err := json.Unmarshal(get(t, s, "/status.json").Body.Bytes(), &st); err != nil {
		t.Fatal(err)
	}
	if len(st.Lanes) != maxLanes || st.LanesOpen != 10_003 || len(st.Flags) != maxFlags {
		t.Errorf("%d lanes of %d, %d flags", len(st.Lanes), st.LanesOpen, len(st.Flags))
	}
	for _, c := range st.Checks {
		if len(c.Lanes) > maxWaiting {
			t.Errorf("check %s names %d lanes", c.Name, len(c.Lanes))
		}
	}
	if n := get(t, s, "/").Body.Len(); n > 64<<10 {
		t.Errorf("a page of %d bytes", n)
	}
}

func TestFormats(t *testing.T) {
	f := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(group("0"), "0")
	f(group("999"), "999")
	f(group("1000"), "1,000")
	f(group("-100"), "-100")
	f(group("-1234567"), "-1,234,567")
	f(byteSize(0), "0 B")
	f(byteSize(1023), "1023 B")
	f(byteSize(1536), "1.5 KiB")
	f(byteSize(1<<62), "4.0 EiB")
	f(seconds(0), "0s")
	f(seconds(0.0042), "4.2ms")
	f(seconds(0.7), "700ms")
	f(seconds(1.25), "1.2s")
	f(seconds(59), "59s")
	f(seconds(61), "1m 1s")
	f(seconds(3661), "1h 1m")
	f(seconds(49*3600), "2d 1h")
	f(p99(-1), "> 30s")
	f(p99(0), "none")
	f(p99(0.025), "≤ 25ms")
}

// A page is served as what it is.
func TestTypes(t *testing.T) {
	s := newServer(green)
	f := func(path, want string) {
		t.Helper()
		w := get(t, s, path)
		if got := w.Header().Get("Content-Type"); got != want || w.Code != http.StatusOK {
			t.Errorf("%s: %d %s, want %s", path, w.Code, got, want)
		}
	}
	f("/", "text/html; charset=utf-8")
	f("/status.json", "application/json")
	f("/readyz", "application/json")
	f("/healthz", "text/plain; charset=utf-8")
}
