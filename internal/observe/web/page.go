package web

import (
	"bytes"
	_ "embed" // the page
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"sync"
	"time"
)

//go:embed page.html
var pageText string

// page is the template of the status page. It escapes all values. It is parsed
// when it is needed, because most runs do not need it.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"int": func(n any) string { return group(fmt.Sprint(n)) }, "position": func(n int64) string { return group(fmt.Sprint(n)) },
		"bytes": byteSize, "seconds": seconds, "p99": p99, "spark": spark, "whole": func(f float64) string { return group(strconv.FormatInt(int64(f+0.5), 10)) },
		"size": func(f float64) string { return byteSize(int64(f)) },
	}).Parse(pageText))
})

// servePage serves the page. At /live it reloads itself, which disturbs those
// who read it with a screen reader (WCAG 2.2.1), so / does not.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	data := struct {
		*Status
		Live bool
	}{s.status(), r.URL.Path == "/live"}
	if err := page().Execute(&b, data); err != nil {
		s.o.Logger.Error("status page failed", "error", err)
		http.Error(w, "cannot render the status page", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}

// group inserts commas between groups of three digits.
func group(digits string) string {
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// byteSize formats n bytes with a binary unit and about three digits.
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

// seconds formats a duration in its largest two units.
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

// p99 formats the upper bound of a percentile.
func p99(s float64) string {
	if s < 0 {
		return "> 30s"
	}
	if s == 0 {
		return "none"
	}
	return "≤ " + seconds(s)
}
