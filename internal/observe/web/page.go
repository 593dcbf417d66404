package web

import (
	"bytes"
	_ "embed" // the page
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"
)

//go:embed page.html
var pageText string

// page is the status page. The template escapes all that it is given.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"int": func(n any) string { return group(fmt.Sprint(n)) }, "position": func(n int64) string { return group(fmt.Sprint(n)) },
	"bytes": byteSize, "seconds": seconds, "p99": p99,
}).Parse(pageText))

func (s *Server) servePage(w http.ResponseWriter, _ *http.Request) {
	var b bytes.Buffer
	if err := page.Execute(&b, s.status()); err != nil {
		s.o.Logger.Error("the status page cannot be shown", "error", err)
		http.Error(w, "the page cannot be shown", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}

// group puts a comma between groups of three digits.
func group(digits string) string {
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// byteSize writes n bytes with three digits or so.
func byteSize(n int64) string {
	f, unit := float64(n), 0
	for f >= 1024 && unit < 6 {
		f /= 1024
		unit++
	}
	if unit == 0 || f >= 100 {
		return fmt.Sprintf("%.0f %s", f, [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}[unit])
	}
	return fmt.Sprintf("%.1f %s", f, [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}[unit])
}

// seconds writes a time in the largest two units that it has.
func seconds(s float64) string {
	switch d := time.Duration(s * float64(time.Second)); {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd %dh", d/(24*time.Hour), d/time.Hour%24)
	case d >= time.Hour:
		return fmt.Sprintf("%dh %dm", d/time.Hour, d/time.Minute%60)
	case d >= time.Minute:
		return fmt.Sprintf("%dm %ds", d/time.Minute, d/time.Second%60)
	case d >= 10*time.Second:
		return fmt.Sprintf("%ds", d/time.Second)
	case d >= time.Second:
		return strconv.FormatFloat(s, 'f', 1, 64) + "s"
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%dms", d/time.Millisecond)
	case d == 0:
		return "0s"
	}
	return strconv.FormatFloat(s*1000, 'f', 1, 64) + "ms"
}

// p99 writes the bound of a percentile.
func p99(s float64) string {
	if s < 0 {
		return "> 30s"
	}
	if s == 0 {
		return "none"
	}
	return "≤ " + seconds(s)
}
