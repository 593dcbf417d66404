package main

import (
	"fmt"
	"html"
	"os"
	"slices"
	"strings"
)

// A bar is one row of a chart.
type bar struct {
	name  string
	value float64
	text  string // shown after the bar
}

// Sizes of a chart, in pixels.
const (
	barHeight  = 22
	nameWidth  = 250
	chartWidth = 760
	textWidth  = 80
)

// writeChart writes horizontal bars as SVG, the shortest first. Bars of
// urlfold have a separate color. The colors follow the color scheme of the
// reader.
func writeChart(path, title string, bars []bar) error {
	bars = slices.Clone(bars)
	slices.SortStableFunc(bars, func(a, b bar) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	longest := bars[len(bars)-1].value
	height := barHeight*(len(bars)+1) + 10
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n", chartWidth, height, html.EscapeString(title))
	b.WriteString(`<style>text{font:13px system-ui,sans-serif;fill:#1f2328}.n{text-anchor:end}.t{font-weight:600}.b{fill:#9aa4af}.u{fill:#0969da}` +
		`@media(prefers-color-scheme:dark){text{fill:#e6edf3}.b{fill:#6e7681}.u{fill:#4493f8}}</style>` + "\n")
	fmt.Fprintf(&b, `<text class="t" x="0" y="15">%s</text>`+"\n", html.EscapeString(title))
	for i, r := range bars {
		y := barHeight * (i + 1)
		class := "b"
		if strings.HasPrefix(r.name, "urlfold") {
			class = "u"
		}
		width := max(1, r.value/longest*float64(chartWidth-nameWidth-textWidth))
		fmt.Fprintf(&b, `<text class="n" x="%d" y="%d">%s</text><rect class="%s" x="%d" y="%d" width="%.0f" height="%d"/><text x="%.0f" y="%d">%s</text>`+"\n",
			nameWidth-8, y+20, html.EscapeString(r.name), class, nameWidth, y+7, width, barHeight-6, nameWidth+width+6, y+20, html.EscapeString(r.text))
	}
	b.WriteString("</svg>\n")
	return os.WriteFile(path, []byte(b.String()), 0o666)
}
