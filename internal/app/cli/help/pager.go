package help

import (
	"errors"
	"io"
	"os/exec"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// showPage writes text to w, through the program that PAGER names if w is a
// terminal. Without PAGER, or if that program cannot be started, the text is
// written directly.
func showPage(w io.Writer, text string, getenv func(string) string) error {
	pager := getenv("PAGER")
	if pager != "" && terminal.Is(w) {
		cmd := exec.Command("sh", "-c", pager)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), terminal.File(w), terminal.File(w)
		if getenv("LESS") == "" {
			cmd.Env = append(cmd.Environ(), "LESS=FRX") // colors, and no wait for a key on short pages
		}
		// Leaving the pager early is not an error. A shell that cannot start a
		// program exits with 126 or 127.
		var exit *exec.ExitError
		err := cmd.Run()
		if err == nil || errors.As(err, &exit) && exit.ExitCode() != 126 && exit.ExitCode() != 127 {
			return nil
		}
	}
	_, err := io.WriteString(w, text)
	return err
}
