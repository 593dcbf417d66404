package urlcanon

import (
	"github.com/urlfold/urlfold/codec/internal/peer"
)

// A step reproduces the function called name of the Python module
// urlcanon.canon. Where the Python function raises an error, apply sets
// canonicalizer.failed.
type step struct {
	name  string
	apply func(*canonicalizer)
}

// The canonicalizers of urlcanon.canon, as lists of steps.
var (
	whatwgSteps = []step{
		{"remove_leading_trailing_junk", removeJunk}, {"remove_tabs_and_newlines", removeTabs}, {"lowercase_scheme", lowerScheme},
		{"elide_default_port", elidePort}, {"clean_up_userinfo", cleanUserinfo}, {"two_slashes", twoSlashesStep},
		{"pct_decode_host", decodeHost}, {"reparse_host", reparseHost}, {"normalize_ip_address", normalizeIP},
		{"punycode_special_host", punycodeHost}, {"pct_encode_host", encodeHost}, {"fix_backslashes", fixBackslashes},
		{"pct_encode_path", encodePath}, {"leading_slash", leadingSlash}, {"normalize_path_dots", removeDots},
		{"empty_path_to_slash", emptyPath}, {"pct_encode_userinfo", encodeUserinfo}, {"pct_encode_query", encodeQuery},
		{"pct_encode_fragment", encodeFragment},
	}
	googleSteps = []step{
		{"remove_leading_trailing_junk", removeJunk}, {"default_scheme_http", defaultScheme}, {"remove_tabs_and_newlines", removeTabs},
		{"lowercase_scheme", lowerScheme}, {"fix_backslashes", fixBackslashes}, {"pct_encode_path", encodePath},
		{"empty_path_to_slash", emptyPath}, {"elide_default_port", elidePort}, {"clean_up_userinfo", cleanUserinfo},
		{"leading_slash", leadingSlash}, {"two_slashes", twoSlashesStep}, {"remove_fragment", removeFragment},
		{"pct_decode_repeatedly", decodeAll}, {"normalize_path_dots", removeDots}, {"fix_host_dots", fixHostDots},
		{"collapse_consecutive_slashes", collapseSlashes}, {"punycode_special_host", punycodeHost}, {"reparse_host", reparseHost},
		{"normalize_ip_address", normalizeIP}, {"google_pct_encode", googleEncode},
	}
	preciseSteps = []step{
		{"remove_leading_trailing_junk", removeJunk}, {"default_scheme_http", defaultScheme}, {"remove_tabs_and_newlines", removeTabs},
		{"lowercase_scheme", lowerScheme}, {"elide_default_port", elidePort}, {"clean_up_userinfo", cleanUserinfo},
		{"two_slashes", twoSlashesStep}, {"pct_decode_repeatedly_except_query", decodeExceptQuery}, {"reparse_host", reparseHost},
		{"normalize_ip_address", normalizeIP}, {"fix_host_dots", fixHostDots}, {"punycode_special_host", punycodeHost},
		{"remove_userinfo", removeUserinfo}, {"less_dumb_pct_encode", lessDumbEncode}, {"less_dumb_pct_recode_query", recodeQuery},
		{"fix_backslashes", fixBackslashes}, {"leading_slash", leadingSlash}, {"normalize_path_dots", removeDots},
		{"collapse_consecutive_slashes", collapseSlashes}, {"empty_path_to_slash", emptyPath}, {"alpha_reorder_query", sortQuery},
	}
	semanticSteps   = join(preciseSteps, step{"remove_fragment", removeFragment})
	aggressiveSteps = join(semanticSteps,
		step{"https_to_http", httpsToHTTP}, step{"strip_www", stripWWW}, step{"lowercase_path", lowerPath},
		step{"lowercase_query", lowerQuery}, step{"strip_session_ids_from_query", stripQuerySessions},
		step{"strip_session_ids_from_path", stripPathSessions}, step{"strip_trailing_slash_unless_empty", stripSlash},
		step{"remove_redundant_ampersands_from_query", removeAmpersands},
		step{"omit_question_mark_if_query_empty", omitQuestionMark}, step{"alpha_reorder_query", sortQuery})
)

func join(steps []step, more ...step) []step {
	return append(append([]step(nil), steps...), more...)
}

// NewWHATWG returns a canonicalizer that reproduces urlcanon.whatwg.
func NewWHATWG() peer.Canonicalizer { return &canonicalizer{steps: whatwgSteps} }

// NewGoogle returns a canonicalizer that reproduces urlcanon.google.
func NewGoogle() peer.Canonicalizer { return &canonicalizer{steps: googleSteps} }

// NewSemanticPrecise returns a canonicalizer that reproduces
// urlcanon.semantic_precise.
func NewSemanticPrecise() peer.Canonicalizer { return &canonicalizer{steps: preciseSteps} }

// NewSemantic returns a canonicalizer that reproduces urlcanon.semantic.
func NewSemantic() peer.Canonicalizer { return &canonicalizer{steps: semanticSteps} }

// NewAggressive returns a canonicalizer that reproduces urlcanon.aggressive.
func NewAggressive() peer.Canonicalizer { return &canonicalizer{steps: aggressiveSteps} }

// A canonicalizer applies steps to a URL.
type canonicalizer struct {
	steps  []step
	failed bool // a step has raised an error
	url    parsed
	arena  []byte   // changed parts of the current URL
	stack  [][]byte // stack of one step
}

// Append implements [peer.Canonicalizer].
func (c *canonicalizer) Append(dst, src []byte, t peer.Trace) ([]byte, bool) {
	c.arena, c.failed = c.arena[:0], false
	c.url.parse(src)
	chain := t.From(src)
	for _, s := range c.steps {
		if s.apply(c); c.failed {
			return dst, false
		}
		if chain.Active() {
			chain.Step(s.name, c.url.appendTo(nil))
		}
	}
	return c.url.appendTo(dst), true
}

// since returns what was appended to the arena since it had the given length.
func (c *canonicalizer) since(start int) []byte { return c.arena[start:len(c.arena):len(c.arena)] }
