package codec

import (
	"bytes"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec/internal/ip"
	"github.com/urlfold/urlfold/codec/params"
)

// A slowStep is one rule applied on the way to a canonical string, with the
// whole URL before and after it.
type slowStep struct {
	rule          Rule
	before, after string
}

// slowTraceKey is the slow twin of Result.TraceKey for K2 and K3.
func (r *Result) slowTraceKey(lv Level) []slowStep {
	var t keyTracer
	t.take(r.AppendKey(nil, lv-1))
	n := r.scratch.by
	if t.policy, t.keys = n.policy, n.keys; lv == LevelFetch {
		t.k2()
	} else {
		t.k3()
	}
	return t.steps
}

// A keyTracer collects the steps to one canonical string. It is the slow twin
// of a rewriter: it applies one rule after the other to the whole URL.
type keyTracer struct {
	policy  *Policy
	keys    Standard
	u       URL    // components of before
	before  []byte // the canonical string of the level before
	known   knownScheme
	has     [numComponents]bool
	text    [numComponents]string
	at      string // text at the last step
	scratch params.Scratch
	steps   []slowStep
}

// take parses a canonical string.
func (t *keyTracer) take(key []byte) {
	_, _ = split(key, &t.u) // cannot fail: every canonical string can be split
	t.before, t.at, t.known = key, string(key), lookupScheme(t.u.Bytes(key, Scheme))
	for c := range Component(numComponents) {
		t.text[c], t.has[c] = string(t.u.Bytes(key, c)), t.u.Has(c)
	}
}

// String recomposes the URL.
func (t *keyTracer) String() string {
	var b strings.Builder
	put := func(c Component, before, after string) {
		if t.has[c] {
			b.WriteString(before + t.text[c] + after)
		}
	}
	put(Scheme, "", ":")
	if t.u.HasAuthority() {
		b.WriteString("//")
		put(Username, "", "")
		put(Password, ":", "")
		if t.has[Username] {
			b.WriteByte('@')
		}
		put(Host, "", "")
		put(Port, ":", "")
	}
	put(Path, "", "")
	put(Query, "?", "")
	put(Fragment, "#", "")
	return b.String()
}

// to records that a rule changed the URL to after, unless they are equal.
func (t *keyTracer) to(rule Rule, after string) {
	if after != t.at {
		t.steps = append(t.steps, slowStep{rule, t.at, after})
		t.at = after
	}
}

// set records that a policy rule changed component c to text.
func (t *keyTracer) set(rule Rule, c Component, text []byte) {
	t.text[c] = string(text)
	t.to(rule, t.String())
}

// k2 traces appendK2.
func (t *keyTracer) k2() {
	if t.keys != RFC3986 || !strings.Contains(t.text[Username]+t.text[Password], string(escapedBackslash)) {
		t.has[Username], t.has[Password] = false, false
	}
	t.to(RuleDropUserinfo, t.String())
	fragment := cutDirective([]byte(t.text[Fragment]))
	t.has[Fragment] = t.policy.keepsFragment([]byte(t.text[Host]), fragment)
	t.set(RuleDropFragment, Fragment, fragment)
	t.hostK2()
	t.pathK2()
	t.query(t.policy.Params)
	if !t.policy.KeepHTTPS && (t.known == schemeHTTPS || t.known == schemeWSS) {
		t.set(ruleHTTPS, Scheme, []byte(strings.TrimSuffix(t.text[Scheme], "s")))
	}
}

func (t *keyTracer) hostK2() {
	host := []byte(t.text[Host])
	if n := len(host); n > 1 && host[n-1] == '.' {
		host = host[:n-1]
		t.set(ruleRootDot, Host, host)
	}
	if t.known == schemeOther || t.u.kind != HostRegName || !endsInNumber(host) {
		return
	}
	if addr, ok := ipv4Value(host); ok {
		t.text[Host] = string(ip.AppendV4(nil, addr))
		t.to(ruleIPv4, t.String())
	}
}

func (t *keyTracer) pathK2() {
	path, _ := params.CutPathSession(nil, []byte(t.text[Path]))
	if !t.u.HasAuthority() && bytes.HasPrefix(path, slashes) {
		path = append([]byte("/."), path...)
	}
	t.set(rulePathSession, Path, path)
}

// k3 traces appendK3.
func (t *keyTracer) k3() {
	if t.u.HasAuthority() {
		t.set(ruleWWW, Host, cutWWW([]byte(t.text[Host])))
	}
	t.set(ruleSlashes, Path, appendSingleSlashes(nil, []byte(t.text[Path])))
	t.set(ruleIndexFile, Path, cutIndexFile(nil, []byte(t.text[Path])))
	path := []byte(t.text[Path])
	for len(path) > 1 && path[len(path)-1] == '/' {
		path = path[:len(path)-1]
	}
	t.set(ruleTrail, Path, path)
	t.fold(Path, ruleLowerPath, t.policy.LowerPath)
	if t.policy.SiteParams != nil {
		t.query(t.policy.SiteParams)
	}
	if q := []byte(t.text[Query]); !params.Signed(q) {
		t.fold(Query, ruleLowerQuery, t.policy.LowerQuery)
		t.again(ruleOnce, t.policy.Once)
		t.again(ruleSort, t.policy.NFC || t.policy.LowerQuery)
	}
	t.fragmentK3()
	if t.known == schemeHTTP || t.known == schemeHTTPS || !t.has[Scheme] {
		t.has[Scheme] = false
		t.to(ruleHTTPS, strings.TrimPrefix(t.String(), t.slashes()))
	}
}

// fold traces the options that change the spelling of component c.
func (t *keyTracer) fold(c Component, rule Rule, lower bool) {
	if t.policy.NFC {
		var s scratch
		text, _ := appendNFC(nil, []byte(t.text[c]), &s)
		t.set(ruleNFC, c, text)
	}
	if text := []byte(t.text[c]); lower {
		lowerInPlace(text)
		t.set(rule, c, text)
	}
}

// again traces params.AppendSorted on the query, where it is called. q-once
// keeps the remaining fields in place.
func (t *keyTracer) again(rule Rule, on bool) {
	if !on || !t.has[Query] {
		return
	}
	if rule == ruleSort {
		out, _ := params.AppendSorted(nil, []byte(t.text[Query]), false, &t.scratch)
		t.set(rule, Query, out)
		return
	}
	var fields []string
	for f := range strings.SplitSeq(t.text[Query], "&") {
		if !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	t.set(rule, Query, []byte(strings.Join(fields, "&")))
}

// slashes returns the text before the host.
func (t *keyTracer) slashes() string {
	if t.u.HasAuthority() {
		return "//"
	}
	return ""
}

func (t *keyTracer) fragmentK3() {
	page, query, ok := strings.Cut(t.text[Fragment], "?")
	if !ok {
		return
	}
	m := t.policy.Params
	raw := []byte(query)
	out, present, _ := params.AppendFiltered(nil, raw, m, t.site(m), &t.scratch)
	text := page
	if present {
		text += "?" + string(out)
	}
	t.set(ruleDrop, Fragment, []byte(text))
}

// site restricts m to the host and path of the level before.
func (t *keyTracer) site(m *params.Matcher) params.Site {
	return m.Site(t.u.Bytes(t.before, Host), t.u.Bytes(t.before, Path), &t.scratch)
}

// A keyField is a field of a query that is being rewritten for a key.
type keyField struct {
	params.Pair        // its position in the query
	text        string // its current text
}

// query traces params.AppendChanged with m.
func (t *keyTracer) query(m *params.Matcher) {
	if !t.has[Query] {
		return
	}
	t.text[Query] = string(appendEscaped(nil, []byte(t.text[Query]), '\''))
	t.to(RuleEncodeIllegal, t.String())
	q := []byte(t.text[Query])
	site := t.site(m)
	out, present, why := params.AppendChanged(nil, q, m, site, &t.scratch)
	if why&params.WhySigned != 0 {
		return
	}
	if present && why == 0 {
		out = q
	}
	var fields []keyField
	for _, p := range params.AppendPairs(nil, q) {
		fields = append(fields, keyField{p, string(q[p.Start:p.End])})
	}
	t.fields(ruleForm, fields)
	fields = t.drop(fields)
	fields = t.clean(fields)
	t.has[Query] = present
	t.to(ruleNoEmpty, t.String())
	t.form(fields, q, out)
	t.set(ruleSort, Query, out)
}

// fields records that a rule produced these fields.
func (t *keyTracer) fields(rule Rule, fields []keyField) {
	var texts []string
	for _, f := range fields {
		texts = append(texts, f.text)
	}
	t.set(rule, Query, []byte(strings.Join(texts, "&")))
}

// drop removes the fields that the last AppendChanged dropped: first session
// ids, then those that the rules of m drop.
func (t *keyTracer) drop(fields []keyField) []keyField {
	dropped := t.scratch.Dropped()
	for _, rule := range []Rule{ruleSession, ruleDrop} {
		for _, d := range dropped {
			if d.Rule < 0 != (rule == ruleSession) {
				continue
			}
			fields = slices.DeleteFunc(fields, func(f keyField) bool { return f.Start == d.Pair.Start })
			t.has[Query] = len(fields) > 0
			t.fields(rule, fields)
		}
	}
	return fields
}

// clean traces the rules q-eq and q-noempty.
func (t *keyTracer) clean(fields []keyField) []keyField {
	for i, f := range fields {
		if f.Eq && f.NameEnd+1 == f.End {
			fields[i].text = f.text[:len(f.text)-1]
		}
	}
	t.fields(ruleEq, fields)
	fields = slices.DeleteFunc(fields, func(f keyField) bool { return f.text == "" })
	t.has[Query] = t.has[Query] && len(fields) > 0
	t.fields(ruleNoEmpty, fields)
	return fields
}

// form traces the rule q-form: it puts the fields of the result, which are
// sorted, back to their original positions.
func (t *keyTracer) form(fields []keyField, q, out []byte) {
	order := make([]int, len(fields))
	names := make([][]byte, len(fields))
	for i, f := range fields {
		order[i], names[i] = i, params.AppendName(nil, f.Name(q))
	}
	slices.SortStableFunc(order, func(a, b int) int { return bytes.Compare(names[a], names[b]) })
	for i, text := range strings.Split(string(out), "&")[:len(fields)] {
		fields[order[i]].text = text
	}
	t.fields(ruleForm, fields)
}
