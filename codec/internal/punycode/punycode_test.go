package punycode

import (
	"slices"
	"strings"
	"testing"
)

// TestSamples checks sample strings of RFC 3492, section 7.1.
func TestSamples(t *testing.T) {
	for text, want := range map[string]string{
		"他们为什么不说中文":              "ihqwcrb4cv8a8dqg056pqjye",
		"Pročprostěnemluvíčesky": "Proprostnemluvesky-uyb24dma41a",
		"3年b組金八先生":               "3b-ww4c5e180e575a65lsy2b",
		"-> $1.00 <-":            "-> $1.00 <--",
	} {
		got, ok := Append(nil, []rune(text), MaxDelta)
		if !ok || string(got) != want {
			t.Errorf("Append(%q) = %q, %v; want %q", text, got, ok, want)
		}
		back, ok := AppendDecoded(nil, []rune(strings.ToLower(string(got))))
		if !ok || !strings.EqualFold(string(back), text) {
			t.Errorf("AppendDecoded(%q) = %q, %v; want %q", got, string(back), ok, text)
		}
	}
}

// TestLimit shows that a delta between the limits is refused by one of them.
func TestLimit(t *testing.T) {
	label := append(slices.Repeat([]rune{'a'}, 2000), 0x10FFFF)
	if _, ok := Append(nil, label, MaxDelta); !ok {
		t.Error("a delta below 1<<32 was refused")
	}
	if _, ok := Append(nil, label, MaxSignedDelta); ok {
		t.Error("a delta above 1<<31 was accepted")
	}
}
