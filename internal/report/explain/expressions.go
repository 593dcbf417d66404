package explain

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/urlfold/urlfold/codec/safebrowsing"
)

// An expressionJSON is what a client of Safe Browsing looks up for the URL.
type expressionJSON struct {
	Expression string `json:"expression"`
	SHA256     string `json:"sha256"`
}

// expressions returns the expressions of the URL if the profile matches Safe
// Browsing. If a password is masked in one, its hash is omitted, because it
// would help to guess the password.
func (x *Explainer) expressions(e *Explanation) (list []expressionJSON) {
	versions := map[string]safebrowsing.Version{"gsb-v4": safebrowsing.V4, "gsb-v5": safebrowsing.V5}
	v, ok := versions[x.norm.Profile().Match]
	if !ok {
		return nil
	}
	for _, text := range safebrowsing.Expressions(e.norm, v) {
		shown := expressionJSON{Expression: x.hideSecrets(text)}
		if shown.Expression == text {
			sum := sha256.Sum256([]byte(text))
			shown.SHA256 = hex.EncodeToString(sum[:])
		}
		list = append(list, shown)
	}
	return list
}

// writeExpressions writes a line for each expression, with its hash.
func (t *TextWriter) writeExpressions(e *Explanation) {
	list := t.expressions(e)
	if len(list) == 0 {
		return
	}
	t.head("Safe Browsing expressions, with SHA-256")
	for _, x := range list {
		t.line(x.SHA256 + "  " + t.Escape(x.Expression))
	}
}
