package where

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

var python = flag.Bool("python", false, "compare with python3: make expressions")

// A question is a line for pythonAnswers. It is about the first member that is set.
type question struct {
	Pattern string   `json:"pattern,omitempty"`
	Network string   `json:"network,omitempty"`
	Bots    []string `json:"bots,omitempty"`
	Not     []string `json:"not,omitempty"`
	Text    string   `json:"text"`
	ours    bool
}

const pythonAnswers = `
import ipaddress, json, re, sys
for line in sys.stdin:
    q = json.loads(line)
    text = q["text"]
    if "pattern" in q:
        yes = bool(re.search(q["pattern"], text))
    elif "network" in q:
        try:
            yes = ipaddress.ip_address(text) in ipaddress.ip_network(q["network"])
        except ValueError:
            yes = False
    else:
        text = text.lower()
        for word in q["not"]:
            text = text.replace(word, " ")
        yes = any(word in text for word in q["bots"])
    print(int(yes))
`

// TestPython compares answers about 10,000 random expressions with those of python3:
// 7,000 regular expressions, 2,000 networks, and bot on 1,000 agents.
func TestPython(t *testing.T) {
	if !*python {
		t.Skip("needs python3: make expressions")
	}
	r := regexps{rand.New(rand.NewPCG(38, 5)), true}
	var list []question
	for range 7000 {
		q := question{Pattern: r.whole()}
		p, err := newPattern(q.Pattern)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			q.Text = r.text()
			q.ours = p.match([]byte(q.Text))
			list = append(list, q)
		}
	}
	for range 2000 {
		q := question{Network: r.of(fmt.Sprintf("192.0.%d.0/%d", r.IntN(4), 24+r.IntN(2)), fmt.Sprintf("2001:db8:%x::/%d", r.IntN(3), 48+r.IntN(20)), "0.0.0.0/0", "::/0", "::ffff:192.0.2.0/120", "192.0.2.7", "fe80::/10")}
		net, err := parseNetwork(q.Network)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			q.Text = r.of(fmt.Sprintf("192.0.%d.%d", r.IntN(4), r.IntN(300)), fmt.Sprintf("2001:DB8:%x::%x", r.IntN(3), r.IntN(9)), "::ffff:192.0.2.1", "fe80::1%eth0", "-", "h.example", "192.0.2.07", "1")
			addr, ok := addressOf([]byte(q.Text))
			q.ours = ok && net.Contains(addr)
			list = append(list, q)
		}
	}
	for range 1000 {
		q := question{Bots: botWords, Not: notBots, Text: "Mozilla/5.0 "}
		for range 2 {
			word := r.of(r.of(botWords...), r.of(notBots...), "Chrome/139.0", "")
			q.Text += r.of(word, strings.ToUpper(word), word[:len(word)/2]) + r.of(" ", "", "x")
		}
		q.ours = isBotName([]byte(q.Text))
		list = append(list, q)
	}
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, q := range list {
		if err := enc.Encode(q); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("python3", "-c", pythonAnswers)
	cmd.Stdin = &in
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	answers := strings.Fields(string(out))
	if len(answers) != len(list) {
		t.Fatalf("%d answers to %d questions", len(answers), len(list))
	}
	yes := 0
	for i, q := range list {
		if (answers[i] == "1") != q.ours {
			t.Errorf("%q %q %q: %v", q.Pattern, q.Network, q.Text, q.ours)
		}
		if q.ours {
			yes++
		}
	}
	t.Logf("%d answers, %d of them yes", len(list), yes)
}

// TestBots checks agents of each kind.
func TestBots(t *testing.T) {
	for _, agent := range []string{
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "curl/8.9.1", "WGET/1.21", "python-requests/2.32.3", "Mozilla/5.0 (compatible; Bytespider)",
		"Mozilla/5.0 (Linux; Android 10; CUBOT NOTE 20) crawler", "cubotbot",
	} {
		if !isBotName([]byte(agent)) {
			t.Errorf("%s is no bot", agent)
		}
	}
	for _, agent := range []string{
		"", "-", "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0", "Mozilla/5.0 (Linux; Android 10; CUBOT NOTE 20) Chrome/120.0 Mobile Safari/537.36", "Cubot_cubot",
	} {
		if isBotName([]byte(agent)) {
			t.Errorf("%s is a bot", agent)
		}
	}
	seen := map[string]bool{}
	for _, word := range botWords {
		for other := range seen {
			if strings.Contains(word, other) {
				t.Errorf("%s has %s in it", word, other)
			}
		}
		if seen[word] = true; word != strings.ToLower(word) || len(word) < 3 {
			t.Errorf("%s has upper case, or is too short", word)
		}
	}
}
