package web

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
)

// Size of a sparkline, in units of its picture.
const (
	sparkWidth  = 120
	sparkHeight = 24
)

// spark returns a line through the values as SVG. name says what the values
// are.
func spark(name string, values []float64) template.HTML {
	if len(values) < 2 {
		return ""
	}
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	var b strings.Builder
	label := template.HTMLEscapeString(fmt.Sprintf("%s, the last %d values: now %.3g, at most %.3g", name, len(values), values[len(values)-1], top))
	fmt.Fprintf(&b, `<svg class="spark" viewBox="0 0 %d %d" preserveAspectRatio="none" role="img" aria-label="%s"><polyline points="`, sparkWidth, sparkHeight, label)
	for i, v := range values {
		x := float64(i) * sparkWidth / float64(len(values)-1)
		y := sparkHeight - 1.0
		if top > 0 {
			y -= (sparkHeight - 2) * v / top
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.FormatFloat(x, 'f', 1, 64) + "," + strconv.FormatFloat(y, 'f', 1, 64))
	}
	b.WriteString(`"/></svg>`)
	return template.HTML(b.String()) // numbers, and an escaped name
}
