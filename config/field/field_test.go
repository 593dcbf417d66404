package field

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"
)

func TestParseSize(t *testing.T) {
	pattern := regexp.MustCompile(SizePattern)
	f := func(text string, want Size) {
		t.Helper()
		got, err := ParseSize(text)
		if err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
		if !pattern.MatchString(text) {
			t.Errorf("the pattern refuses %q", text)
		}
	}
	f("0", 0)
	f("17", 17)
	f("64Ki", 64<<10)
	f("64ki", 64<<10)
	f("64KiB", 64<<10)
	f("64kB", 64000)
	f("1.5 MiB", 3<<19)
	f("2gi", 2<<30)
	f("10GB", 10e9)
	f("1ti", 1<<40)
	f("5b", 5)
	for _, text := range []string{"", "k", "64k", "2G", "1q", "-1", "1e400", "NaN", "inf", "1kk", "0x10", "9999999999ti"} {
		if n, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, n)
		}
	}
	for _, text := range []string{"", "k", "64k", "2G", "1q", "-1", "NaN", "inf", "1kk", "0x10", "1 i"} {
		if pattern.MatchString(text) {
			t.Errorf("the pattern takes %q", text)
		}
	}
}

func TestSizeString(t *testing.T) {
	f := func(s Size, want string) {
		t.Helper()
		if s.String() != want {
			t.Errorf("%d: %s, want %s", int64(s), s, want)
		}
		var back Size
		if err := back.UnmarshalText([]byte(want)); err != nil || back != s {
			t.Errorf("%s: back to %d, %v", want, int64(back), err)
		}
	}
	f(0, "0")
	f(1000, "1000")
	f(1025, "1025")
	f(128*KiB, "128KiB")
	f(1536*KiB, "1536KiB")
	f(64*MiB, "64MiB")
	f(2*TiB, "2TiB")
	f(2048*TiB, "2048TiB")
	was := Size(7)
	if err := was.UnmarshalText([]byte("x")); err == nil || was != 7 {
		t.Errorf("%v, %d", err, int64(was))
	}
}

// TestSecret shows a secret in every way that there is.
func TestSecret(t *testing.T) {
	const hidden = "hunter2"
	type config struct {
		Password Secret            `json:"password"`
		Map      map[string]Secret `json:"map"`
	}
	c := config{hidden, map[string]Secret{"a": hidden}}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%10s", "%!"} {
		_, _ = fmt.Fprintf(&out, verb+" "+verb+" "+verb+"\n", c, &c, c.Password)
	}
	data, err := json.Marshal(c)
	if err != nil || string(data) != `{"password":"***","map":{"a":"***"}}` {
		t.Errorf("JSON %s, %v", data, err)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "secret", c.Password, "config", c)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "secret", c.Password, "config", c)
	_, _ = io.WriteString(&out, fmt.Errorf("no %w", errors.New(c.Password.String())).Error())
	for _, shown := range []string{hidden, fmt.Sprintf("%x", hidden), fmt.Sprintf("%X", hidden)} {
		if strings.Contains(out.String(), shown) {
			t.Errorf("the secret is shown as %s:\n%s", shown, &out)
		}
	}
	if c.Password.Reveal() != hidden || Secret("").String() != "" {
		t.Error("a secret is lost, or one is shown where none is")
	}
}

func TestError(t *testing.T) {
	cause := errors.New("is not there")
	err := error(&Error{Field: "tls.ca_file", Err: cause})
	if !errors.Is(err, cause) || err.Error() != "tls.ca_file: is not there" {
		t.Errorf("%v", err)
	}
}
