package escapes

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
)

// execEscape runs a command by itself on stdin and returns what it wrote.
func execEscape(cmd *cobra.Command, stdin io.Reader, args ...string) (stdout string, err error) {
	var out, other bytes.Buffer
	cmd.SetArgs(append([]string{}, args...)) // nil would mean the arguments of this process
	cmd.SetIn(stdin)
	cmd.SetOut(&out)
	cmd.SetErr(&other)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err = cmd.Execute()
	if err == nil && other.Len() > 0 {
		err = errors.New("without an error it wrote to stderr: " + other.String())
	}
	return out.String(), err
}

func TestEncodeCommand(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		got, err := execEscape(newEncode(), iotest.ErrReader(errors.New("stdin was read")), args...)
		if got != want || err != nil {
			t.Errorf("encode %q: %q, %v, want %q", args, got, err, want)
		}
	}
	f("my%20document.pdf\n", "my document.pdf")
	f("a%2Fb\n%25\n\n", "a/b", "%", "")
	f("/a%20b/c%3F\n", "--component", "path", "/a b/c?")
	f("Tom%26Jerry\n", "--component", "query-value", "Tom&Jerry")
	f("a%3Db\n", "--component=query-name", "a=b")
	f("a[b]%5E\n", "--standard", "whatwg", "a[b]^")
	f("%7Ea\n", "--standard", "rfc1738", "~a")
	f("Tom+%26+Jerry%7E\n", "--standard", "form", "Tom & Jerry~")
	f("-x\n", "--", "-x")
	// The table of reserved characters, RFC 3986 §2.2.
	const reserved = "!#$&'()*+,/:;=?@[]"
	f("%21%23%24%26%27%28%29%2A%2B%2C%2F%3A%3B%3D%3F%40%5B%5D\n", "--all-reserved", reserved)
	f("%21%23%24%26%27%28%29%2A%2B%2C/%3A%3B%3D%3F%40%5B%5D\n", "--all-reserved", "--component", "path", reserved)
	f("%21%23%24&%27%28%29%2A+%2C%2F%3A%3B=%3F%40%5B%5D\n", "--all-reserved", "--component", "query", reserved)
	f("%21%23%24%26%27%28%29%2A%2B%2C%2F:%3B%3D%3F%40%5B%5D\n", "--all-reserved", "--component", "userinfo", reserved)
	f("%21%23%24%26%27%28%29%2A%2B%2C%2F%3A%3B%3D%3F%40%5B%5D\n", "--all-reserved", "--standard", "form", reserved)
	f("a.b_c-d~%25%20\n", "--all-reserved", "a.b_c-d~% ")
}

func TestEncodeCommandErrors(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		out, err := execEscape(newEncode(), strings.NewReader(""), args...)
		if err == nil || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("encode %q: error %v, output %q, want an error with %q", args, err, out, want)
		}
	}
	_, err := execEscape(newEncode(), strings.NewReader(""), "--standard", "rfc2396", "x")
	if e := (*command.Error)(nil); !errors.As(err, &e) || e.Code != command.ExitUsage {
		t.Errorf("an unknown standard is no usage error: %v", err)
	}
	f(`unknown standard "rfc2396"`, "--standard", "rfc2396", "x")
	f(`component "port" for standard rfc3986: must be one of path-segment, path`, "--component", "port", "x")
	f(`unknown component "path" for standard form`, "--standard", "form", "--component", "path", "x")
	f(`component "host"`, "--standard", "rfc1738", "--component", "host", "x")
	f("unknown flag", "--nonsense")
}

func TestEncodeLines(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		for name, r := range map[string]io.Reader{
			"at once": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in)), "EOF with data": iotest.DataErrReader(strings.NewReader(in)),
		} {
			if got, err := execEscape(newEncode(), r); got != want || err != nil {
				t.Errorf("%.40q, %s: %.40q, %v, want %.40q", in, name, got, err, want)
			}
		}
	}
	f("", "")
	f("\n", "\n")
	f("a b\n\nc d\n", "a%20b\n\nc%20d\n")
	f("a b\nlast", "a%20b\nlast")          // no newline is made up
	f("a\r\n\xff\x00\n", "a%0D\n%FF%00\n") // bytes, not text
	big := strings.Repeat("x y", 100_000)  // longer than any buffer
	f(big+"\n"+big, strings.ReplaceAll(big, " ", "%20")+"\n"+strings.ReplaceAll(big, " ", "%20"))
}

// brokenWriter fails at the first byte, as a closed pipe does.
type brokenWriter struct{}

var errClosed = errors.New("closed")

func (brokenWriter) Write([]byte) (int, error) { return 0, errClosed }

func TestEncodeIOErrors(t *testing.T) {
	errRead := errors.New("read failed")
	out, err := execEscape(newEncode(), io.MultiReader(strings.NewReader("a b\nc"), iotest.ErrReader(errRead)))
	if !errors.Is(err, errRead) || out != "a%20b\n" {
		t.Errorf("got %q, %v", out, err)
	}
	for _, args := range [][]string{{"x"}, {strings.Repeat("x", 100_000)}, {}} {
		cmd := newEncode()
		cmd.SetArgs(args)
		cmd.SetIn(strings.NewReader("a\n" + strings.Repeat("b", 100_000)))
		cmd.SetOut(brokenWriter{})
		cmd.SetErr(io.Discard)
		if err := cmd.Execute(); !errors.Is(err, errClosed) {
			t.Errorf("%.10q: %v", args, err)
		}
	}
}

// TestEscapeHelp checks that each command explains itself, and that its examples do what they say.
func TestEscapeHelp(t *testing.T) {
	for _, cmd := range []*cobra.Command{newEncode(), newDecode()} {
		help, err := execEscape(cmd, strings.NewReader(""), "--help")
		if err != nil || !strings.Contains(help, cmd.Example) || !strings.Contains(help, "--standard") {
			t.Errorf("%s --help: %v\n%s", cmd.Name(), err, help)
		}
	}
	for _, mk := range []func() *cobra.Command{newEncode, newDecode} {
		for line := range strings.SplitSeq(mk().Example, "\n") {
			args, want, ok := splitExample(t, line)
			if !ok {
				continue
			}
			got, err := execEscape(mk(), strings.NewReader(""), args...)
			if err != nil {
				got = "error: " + strings.TrimPrefix(err.Error(), "argument 1: ")
			}
			if got = strings.TrimSuffix(got, "\n"); !strings.HasPrefix(got, want) || err == nil && got != want {
				t.Errorf("%s\ngives %q", line, got)
			}
		}
	}
}

// splitExample cuts "urlfold encode 'a b'   # result" into arguments and result; ok is false if the example reads a file or prints a chart.
func splitExample(t *testing.T, line string) (args []string, want string, ok bool) {
	t.Helper()
	if strings.Contains(line, "<") || strings.Contains(line, "--chart") {
		return nil, "", false
	}
	command, want, found := strings.Cut(strings.TrimSpace(line), " # ")
	if !found {
		t.Fatalf("no result in example %q", line)
	}
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			args = append(args, part)
		} else {
			args = append(args, strings.Fields(part)...)
		}
	}
	return args[2:], strings.TrimSpace(want), true
}
