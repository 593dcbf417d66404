package main

import (
	"bufio"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
)

// This file sets the two readings of a URL side by side: that of RFC 3986 and
// that of browsers, whatever the profile.

// Both readings, and what makes them comparable.
var (
	rfcNormalizer     = mustNormalizer("rfc3986-scheme")
	browserNormalizer = mustNormalizer("whatwg")
)

func mustNormalizer(name string) *codec.Normalizer {
	p, _ := codec.Lookup(name)
	n, err := codec.New(p)
	if err != nil {
		panic("BUG: the profile " + name + " does not exist") // every test would see it
	}
	return n
}

// A standing says what a standard makes of a URL.
type standing string

// The standings, as they appear in output.
const (
	valid   standing = "valid"
	invalid standing = "invalid" // it can be read, but holds what the standard does not allow
	failure standing = "failure" // it cannot
)

// A view is what one standard sees in a URL.
type view struct {
	standing standing
	faults   codec.Flags // why it is not valid
	err      error       // why it has no reading
	raw      string      // a text with the components as the standard sees them
	k0, k1   string      // what it means by RFC 3986, to compare with the other view
}

// rfcView returns what RFC 3986 sees in src.
func (x *explainer) rfcView(src []byte) view {
	var r codec.Result
	v := view{raw: string(src)}
	if v.err = codec.Parse(src, &r); v.err == nil {
		v.faults = r.Flags.Intersect(codec.Violation.Flags())
		v.compare(x.base, src)
	}
	if len(x.base) > 0 {
		v.raw = v.k1 // the reference alone has no host to compare
	}
	return v
}

// browserView returns what browsers see in src.
func (x *explainer) browserView(src []byte) view {
	var r codec.Result
	href, err := browserNormalizer.AppendRef(nil, x.base, src, &r)
	v := view{raw: string(href), err: err}
	if err == nil {
		v.faults = r.Flags.Intersect(codec.ValidationError.Flags())
		v.compare(nil, href)
	}
	return v
}

// compare finds the keys of url, which is how the standard sees it.
func (v *view) compare(base, url []byte) {
	var r codec.Result
	norm, err := rfcNormalizer.AppendRef(nil, base, url, &r)
	if v.err = err; err != nil {
		return
	}
	v.k0 = string(rfcNormalizer.AppendKey(nil, codec.K0, url, norm, &r))
	v.k1 = string(norm)
}

// rate sets the standing.
func (v view) rate() view {
	switch {
	case v.err != nil:
		v.standing = failure
	case !v.faults.IsZero():
		v.standing = invalid
	default:
		v.standing = valid
	}
	return v
}

// text tells the standing of a URL that is called kind where it is valid.
func (v view) text(kind string) string {
	switch v.standing {
	case failure:
		return "no reading: " + v.err.Error()
	case invalid:
		return "the input is no valid " + kind + ": " + strings.ReplaceAll(string(v.faults.AppendTo(nil)), ",", ", ")
	}
	return "the input is a valid " + kind
}

// writeStandings tells what the standards say of the input.
func (x *explainer) writeStandings(w *bufio.Writer, e *explanation) {
	kind := "URI"
	var r codec.Result
	if _ = codec.Parse(e.src, &r); !r.In.Has(codec.Scheme) {
		kind = "relative reference"
	}
	x.named(w, "RFC 3986", e.rfc.text(kind))
	x.named(w, "browsers", e.whatwg.text("URL"))
}

// writeStandards sets both readings side by side where they differ.
func (x *explainer) writeStandards(w *bufio.Writer, e *explanation) {
	if e.rfc.standing == failure || e.whatwg.standing == failure {
		return
	}
	apart := differences(e.rfc.k1, e.whatwg.k1)
	if len(apart) == 0 {
		return
	}
	x.head(w, "two standards")
	const nameColumn = 10
	column := (x.width - len(indent) - nameColumn) / 2
	row := func(name, a, b string) {
		gap := max(2, column-utf8.RuneCountInString(a))
		x.line(w, fmt.Sprintf("%-*s%s%s%s", nameColumn, name, a, strings.Repeat(" ", gap), b))
	}
	row("", "RFC 3986", "browsers")
	hosts := false
	for _, d := range x.hideDifferences(x.inViews(e, apart)) {
		a, b := shorten(x.escapeText(d.before), x.escapeText(d.after), column-2, x.pick("…", "..."))
		row(d.component, a, b)
		hosts = hosts || d.component == codec.Host.String() && d.before != absent && d.after != absent
	}
	if hosts {
		x.emit(w, "\n")
		x.line(w, x.paint(red, x.twoHosts(e)))
	}
}

// inViews returns the components of both readings as the standards see them,
// for those that differ in what they mean.
func (x *explainer) inViews(e *explanation, apart []difference) []difference {
	var ra, rb codec.Result
	a, b := e.rfc.raw, e.whatwg.raw
	_ = codec.Parse([]byte(a), &ra) // both have a reading
	_ = codec.Parse([]byte(b), &rb)
	var out []difference
	for _, d := range apart {
		for c := range codec.Component(codec.NumComponents) {
			if c.String() == d.component {
				out = append(out, difference{d.component, componentText(a, &ra.In, c), componentText(b, &rb.In, c)})
			}
		}
	}
	return out
}

// twoHosts says that a URL leads to different hosts.
func (x *explainer) twoHosts(e *explanation) string {
	host := func(url string) string { return x.escapeText(x.hideSecrets(hostOf(url))) }
	return fmt.Sprintf("Browsers go to %s, RFC 3986 says %s.", host(e.whatwg.k1), host(e.rfc.k1))
}

// hostOf returns the host of a URL, or that there is none.
func hostOf(url string) string {
	var r codec.Result
	_ = codec.Parse([]byte(url), &r) // it has a reading
	if r.In.Span(codec.Host).Len() == 0 {
		return "no host"
	}
	return string(r.In.Bytes([]byte(url), codec.Host))
}
