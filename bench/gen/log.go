package main

import (
	"fmt"
	"strconv"
	"time"
)

const (
	clientCount  = 60_000
	browserCount = 500
	botCount     = 59
	botShare     = 0.12
)

// A log is one day of a combined log. Its targets are in absolute form, as in the
// log of a proxy, or in origin form.
type log struct {
	web     *web
	limit   size
	origin  bool // targets in origin form
	visit   func() address
	clients []string
	client  zipf
	agents  []string // browsers, then bots
	browser zipf
	bot     zipf
}

// lineBytes is the average length of a line, for the time of a line in a set
// that is limited by bytes.
const lineBytes = 350

func newLog(w *web, limit size, origin bool, visit func() address) *log {
	l := &log{
		web: w, limit: limit, origin: origin, visit: visit,
		client: newZipf(clientCount, 1.0), browser: newZipf(browserCount, 1.2), bot: newZipf(botCount, 0.9),
	}
	for range clientCount {
		l.clients = append(l.clients, fmt.Sprintf("%d.%d.%d.%d", 1+w.IntN(222), w.IntN(256), w.IntN(256), 1+w.IntN(254)))
	}
	for i := range browserCount {
		l.agents = append(l.agents, browser(w, i))
	}
	for i := range botCount {
		l.agents = append(l.agents, fmt.Sprintf("Mozilla/5.0 (compatible; %sBot/%d.%d; +https://www.%s%d.example/bot.html)", w.word(), 1+i%7, w.IntN(10), w.word(), i))
	}
	return l
}

func browser(w *web, i int) string {
	platform := [...]string{
		"Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64", "Linux; Android 14; Pixel 8",
		"Linux; Android 13; SM-G991B", "iPhone; CPU iPhone OS 17_5 like Mac OS X",
	}[i%6]
	major := 90 + w.IntN(50)
	switch i % 5 {
	case 0:
		return fmt.Sprintf("Mozilla/5.0 (%s; rv:%d.0) Gecko/20100101 Firefox/%d.0", platform, major, major)
	case 1:
		return fmt.Sprintf("Mozilla/5.0 (%s) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/%d.%d Safari/605.1.15", platform, 14+i%5, w.IntN(8))
	}
	return fmt.Sprintf("Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.%d.%d Safari/537.36", platform, major, 4000+w.IntN(3000), w.IntN(200))
}

// line is the nextLine of the log.
func (l *log) line(dst []byte, before size) []byte {
	w, a := l.web, l.visit()
	dst = append(dst, l.clients[l.client.draw(w.Rand)]...)
	dst = append(dst, " - "...)
	if w.chance(0.03) {
		dst = append(dst, w.word()...)
	} else {
		dst = append(dst, '-')
	}
	dst = append(dst, " ["...)
	dst = l.time(before).AppendFormat(dst, "02/Jan/2006:15:04:05 -0700")
	dst = append(dst, `] "`...)
	dst = append(dst, method(w)...)
	dst = append(dst, ' ')
	if l.origin {
		dst = a.appendTarget(dst)
	} else {
		dst = a.appendTo(dst)
	}
	dst = append(dst, [...]string{` HTTP/1.1" `, ` HTTP/2.0" `}[w.IntN(2)]...)
	status := [...]string{"200", "200", "200", "200", "200", "200", "200", "304", "304", "301", "302", "404", "404", "206", "403", "500"}[w.IntN(16)]
	dst = append(dst, status...)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, 100+int64(w.ExpFloat64()*20_000), 10)
	dst = append(dst, ` "`...)
	if w.chance(0.2) {
		dst = append(dst, '-')
	} else {
		dst = w.visitClean().appendTo(dst)
	}
	dst = append(dst, `" "`...)
	dst = append(dst, l.agent()...)
	return append(dst, '"')
}

// time returns the time of the line that follows lines of the given size.
func (l *log) time(before size) time.Time {
	part, whole := before.lines, l.limit.lines
	if whole == 0 {
		whole = l.limit.bytes / lineBytes
	}
	seconds := min(part*86_400/max(whole, 1), 86_399)
	return time.Date(2026, 5, 4, 0, 0, int(seconds), 0, time.UTC)
}

func (l *log) agent() string {
	if l.web.chance(botShare) {
		return l.agents[browserCount+l.bot.draw(l.web.Rand)]
	}
	return l.agents[l.browser.draw(l.web.Rand)]
}

func method(w *web) string {
	switch n := w.IntN(100); {
	case n < 91:
		return "GET"
	case n < 97:
		return "POST"
	case n < 99:
		return "HEAD"
	}
	return "OPTIONS"
}
