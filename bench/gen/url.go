package main

import (
	"slices"
	"strconv"
	"strings"
)

// An address is a URL in parts, as a request spells it.
type address struct {
	scheme, host, port, path string
	query                    []string // name=value
	fragment                 string
}

func (a address) appendTo(dst []byte) []byte {
	dst = append(dst, a.scheme...)
	dst = append(dst, "://"...)
	dst = append(dst, a.host...)
	dst = append(dst, a.port...)
	return a.appendTarget(dst)
}

// appendTarget appends the URL in origin form.
func (a address) appendTarget(dst []byte) []byte {
	dst = append(dst, a.path...)
	for i, p := range a.query {
		dst = append(dst, "?&"[min(i, 1)])
		dst = append(dst, p...)
	}
	if a.fragment != "" {
		dst = append(dst, '#')
		dst = append(dst, a.fragment...)
	}
	return dst
}

// A spelling changes how a URL is written, in a share of all URLs.
type spelling struct {
	share  float64
	change func(*web, *address)
}

// defects leave a URL that is not in normal form, except some malformed
// percent-encoding. In the day set, a URL has at most one, so 57 % of its targets
// are in normal form.
var defects = []spelling{
	{0.10, func(w *web, a *address) { a.host = upper(w, a.host) }},
	{0.04, func(_ *web, a *address) { a.port = map[string]string{"http": ":80", "https": ":443"}[a.scheme] }},
	{0.025, func(w *web, a *address) { a.path = strings.TrimSuffix(a.path, "/") + "/../" + w.word() }},
	{0.025, func(_ *web, a *address) { a.path = "/." + a.path }},
	{0.12, func(w *web, a *address) {
		addParam(a, w.word()+"="+w.word()+lowerEscapes[w.IntN(len(lowerEscapes))]+w.word())
	}},
	{0.035, func(w *web, a *address) { a.path += [...]string{"%7E", "%2D", "%5F"}[w.IntN(3)] + w.word() }},
	{0.035, func(w *web, a *address) { addParam(a, w.word()+"=%7E"+w.word()) }},
	{0.007, func(w *web, a *address) { a.path += [...]string{"%", "%zz", "%u0041", "%4"}[w.IntN(4)] }},
	{0.007, func(w *web, a *address) { addParam(a, "discount=100%"+w.word()[:1]+"z") }},
	{0.025, func(w *web, a *address) { a.path = strings.TrimSuffix(a.path, "/") + "/caf\u00e9-" + w.word() }},
	{0.025, func(w *web, a *address) {
		addParam(a, "q="+[...]string{"\u00fcber", "\u043c\u0438\u0440", "\u6771\u4eac"}[w.IntN(3)])
	}},
}

// habits leave a URL in normal form.
var habits = []spelling{
	{0.015, func(_ *web, a *address) { a.path = "/" + a.path }},
	{0.02, func(w *web, a *address) { addParam(a, "state="+strings.Repeat(strconv.FormatUint(w.Uint64(), 36), 13)) }},
	{0.15, addCampaign},
	{0.03, func(w *web, a *address) {
		addParam(a, [...]string{"gclid=", "fbclid=", "msclkid="}[w.IntN(3)]+strconv.FormatUint(w.Uint64(), 36)+strconv.FormatUint(w.Uint64(), 36))
	}},
	{0.06, func(w *web, a *address) { a.fragment = w.word() + "-" + w.word() }},
}

var lowerEscapes = []string{"%c3%a9", "%2f", "%3a", "%e4%b8%ad", "%2c", "%5b"}

func addParam(a *address, param string) { a.query = append(slices.Clip(a.query), param) }

func addCampaign(w *web, a *address) {
	addParam(a, "utm_source="+[...]string{"newsletter", "google", "facebook", "partner"}[w.IntN(4)])
	if w.chance(0.7) {
		addParam(a, "utm_medium="+[...]string{"email", "cpc", "social"}[w.IntN(3)])
	}
	if w.chance(0.5) {
		addParam(a, "utm_campaign="+w.word()+"_"+w.word())
	}
}

// upper returns host with capitals: the first letter of each label, or all.
func upper(w *web, host string) string {
	if w.chance(0.3) {
		return strings.ToUpper(host)
	}
	labels := strings.Split(host, ".")
	for i, label := range labels {
		labels[i] = strings.ToUpper(label[:1]) + label[1:]
	}
	return strings.Join(labels, ".")
}

// visit returns the URL of the next request as its client spells it.
func (w *web) visit() address {
	a := w.visitClean()
	for _, s := range habits {
		if w.chance(s.share) {
			s.change(w, &a)
		}
	}
	at := w.Float64()
	for _, s := range defects {
		if at < s.share {
			s.change(w, &a)
			break
		}
		at -= s.share
	}
	return a
}

// visitClean returns the URL of the next request in normal form.
func (w *web) visitClean() address { return w.pages[w.page.draw(w.Rand)] }

// visitDirty returns the URL of the next request with one to five defects.
func (w *web) visitDirty() address {
	a := w.visitClean()
	for n := 1 + w.IntN(5); n > 0; n-- {
		defects[w.IntN(len(defects))].change(w, &a)
	}
	return a
}

// found returns the next URL that a crawler finds: spelled by some page, with its
// parameters in any order.
func (w *web) found() address {
	a := w.visit()
	a.query = slices.Clone(a.query)
	w.Shuffle(len(a.query), func(i, j int) { a.query[i], a.query[j] = a.query[j], a.query[i] })
	if w.chance(0.5) { // most pages of a site are not popular
		a.path += "/" + strconv.Itoa(w.IntN(50_000_000))
	}
	return a
}
