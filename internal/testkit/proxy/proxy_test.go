package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// echo returns the address of a server that echoes its input.
func echo(t *testing.T) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return ln.Addr().String()
}

// ask sends a line and returns the answer.
func ask(c net.Conn, line string) (string, error) {
	if _, err := fmt.Fprintln(c, line); err != nil {
		return "", err
	}
	got, err := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSuffix(got, "\n"), err
}

func dial(t *testing.T, p *Proxy) net.Conn {
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestCut(t *testing.T) {
	p := New(t, echo(t))
	c := dial(t, p)
	if got, err := ask(c, "a"); got != "a" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	p.Cut()
	if got, err := ask(c, "b"); err == nil {
		t.Errorf("after Cut: %q", got)
	}
	if got, err := ask(dial(t, p), "c"); got != "c" || err != nil || p.Cuts() != 1 {
		t.Errorf("the next connection: %q, %v, %d cuts", got, err, p.Cuts())
	}
	p.Refuse(true)
	if got, err := ask(dial(t, p), "d"); err == nil {
		t.Errorf("refused: %q", got)
	}
}

func TestFreeze(t *testing.T) {
	p := New(t, echo(t))
	c := dial(t, p)
	p.Freeze(true)
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	if got, err := ask(c, "a"); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("frozen: %q, %v", got, err)
	}
	p.Freeze(false)
	p.Delay(time.Millisecond)
	_ = c.SetReadDeadline(time.Time{})
	if got, err := bufio.NewReader(c).ReadString('\n'); got != "a\n" || err != nil {
		t.Errorf("after that: %q, %v", got, err)
	}
}

func TestFilter(t *testing.T) {
	p := New(t, echo(t))
	p.Filter(func(w io.Writer, r io.Reader) error {
		for lines := bufio.NewScanner(r); lines.Scan(); {
			if lines.Text() != "drop" {
				if _, err := fmt.Fprintln(w, lines.Text()); err != nil {
					return err
				}
			}
		}
		return nil
	}, nil)
	c := dial(t, p)
	if _, err := fmt.Fprintln(c, "drop"); err != nil {
		t.Fatal(err)
	}
	if got, err := ask(c, "keep"); got != "keep" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
