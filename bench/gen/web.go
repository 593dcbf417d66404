package main

import (
	"math"
	"math/rand/v2"
	"sort"
	"strconv"
	"strings"
)

const (
	pageCount = 200_000
	hostCount = 5_000
)

// A web is a number of pages on hosts, both requested by a law of Zipf. A few
// hosts are internationalized domain names or IPv6 addresses.
type web struct {
	*rand.Rand
	pages []address
	page  zipf
}

func newWeb(seed uint64) *web {
	w := &web{Rand: rand.New(rand.NewPCG(seed, 0x75726c666f6c64)), page: newZipf(pageCount, 1.05)}
	hosts := make([]string, hostCount)
	for i := range hosts {
		hosts[i] = w.newHost(i)
	}
	byHost := newZipf(hostCount, 1.0)
	w.pages = make([]address, pageCount)
	for i := range w.pages {
		w.pages[i] = w.newPage(hosts[byHost.draw(w.Rand)])
		switch {
		case w.chance(0.0065):
			w.pages[i].host = "shop" + strconv.Itoa(i) + ".xn--bcher-kva.example"
		case w.chance(0.003):
			w.pages[i].host = "[2001:db8::" + strconv.Itoa(1+i%9999) + "]"
		}
	}
	return w
}

// newHost returns the i-th host.
func (w *web) newHost(i int) string {
	host := w.word() + strconv.Itoa(i) + "." + [...]string{"example", "example.com", "example.org", "co.uk.example"}[w.IntN(4)]
	if w.chance(0.5) {
		return "www." + host
	}
	return host
}

// newPage returns a page in normal form.
func (w *web) newPage(host string) address {
	a := address{scheme: "https", host: host, path: w.newPath()}
	if w.chance(0.15) {
		a.scheme = "http"
	}
	if w.chance(0.32) {
		for n := 1 + w.IntN(5); n > 0; n-- {
			a.query = append(a.query, w.word()+"="+w.newValue())
		}
	}
	return a
}

func (w *web) newPath() string {
	var b strings.Builder
	for n := 2 + w.IntN(4); n > 0; n-- {
		b.WriteString("/" + w.word())
		switch w.IntN(8) {
		case 0, 1:
			b.WriteString("-" + w.word() + "-" + w.word())
		case 2:
			b.WriteString(strconv.Itoa(w.IntN(1_000_000)))
		}
	}
	if w.chance(0.10) {
		b.WriteString([...]string{"%20", "%C3%A9", "%E4%B8%AD%E6%96%87", "%2F", "%D0%B6"}[w.IntN(5)] + w.word())
	}
	b.WriteString([...]string{"", "", "/", ".html", ".php", ".jpg"}[w.IntN(6)])
	return b.String()
}

// newValue returns the value of a parameter.
func (w *web) newValue() string {
	switch w.IntN(6) {
	case 0:
		return strconv.Itoa(w.IntN(100_000))
	case 1:
		return w.word() + "+" + w.word()
	case 2:
		return w.word() + [...]string{"%20", "%2C", "%3A", "%2F", "%C3%BC"}[w.IntN(5)] + w.word()
	case 3:
		return strconv.FormatUint(w.Uint64(), 36)
	}
	return w.word()
}

// chance reports true with probability p.
func (w *web) chance(p float64) bool { return w.Float64() < p }

func (w *web) word() string { return words[w.IntN(len(words))] }

var words = strings.Fields(`about account admin ajax api archive article assets author blog book brand
	cart catalog category chapter checkout city collection color comments compare contact content country
	course css data date day detail discount docs download edit en event export faq feed file filter forum
	gallery games group guide health help history home hotel id image images index info item job js lang
	language library limit list local login mail map market media member menu message mobile model month
	movie music name news newsletter offer offset old order page partner path photo play player popular post
	preview price privacy product products profile project promo public q query questions rating recent
	region report reports review sale search season section series service session shop show size sort
	source special sport stage start state static status store story style subject support tab table tag
	team terms test theme thread title token tool top topic tour travel type update upload user users video
	view weather week wiki widget work year`)

// A zipf draws numbers below its length: number i with a probability in
// proportion to 1/(i+1)^s.
type zipf []float64 // cumulative shares

func newZipf(n int, s float64) zipf {
	z, sum := make(zipf, n), 0.0
	for i := range z {
		sum += math.Pow(float64(i+1), -s)
		z[i] = sum
	}
	for i := range z {
		z[i] /= sum
	}
	return z
}

func (z zipf) draw(r *rand.Rand) int { return sort.SearchFloat64s(z, r.Float64()) }
