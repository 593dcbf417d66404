package peer

import "github.com/urlfold/urlfold/codec/internal/ascii"

// Google has the bytes that a URL of Safe Browsing contains unescaped. Programs
// for web archives use the same set.
var Google = ascii.AllBut(" #%")

// AppendGoogle appends text with the bytes escaped that are not in [Google].
func AppendGoogle(dst, text []byte) []byte { return ascii.AppendEscaped(dst, text, Google) }
