package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestCompletion loads the completions into the shells that are installed, and
// completes a value of a flag and a topic.
func TestCompletion(t *testing.T) {
	f := func(shell, needs, script string) {
		t.Helper()
		path, err := exec.LookPath(shell)
		if _, missing := os.Stat(needs); err != nil || needs != "" && missing != nil {
			t.Logf("not checked in %s, which is not installed, or lacks %q", shell, needs)
			return
		}
		cmd := exec.Command(path, "-c", script)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		out, err := cmd.Output() // outside of a completion, bash complains about compopt
		if got := strings.Fields(string(out)); err != nil || len(got) < 2 || got[0] != "jsonl" || got[1] != "first-log" {
			t.Errorf("%s: %q, %v", shell, out, err)
		}
	}
	const library = "/usr/share/bash-completion/bash_completion"
	f("bash", library, "source "+library+`
source <(urlfold completion bash)
complete_line() { COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9; __start_urlfold; echo "${COMPREPLY[@]}"; }
complete_line urlfold --to js
complete_line urlfold help first-l`)
	f("fish", "", "urlfold completion fish | source; complete -C 'urlfold --to js'; complete -C 'urlfold help first-l'")
}
