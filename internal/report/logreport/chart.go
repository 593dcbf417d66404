package logreport

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The charts are drawn in units of their data and stretched to the width of the
// page. Their labels are text of the page, so that they are readable at every
// width.

// A class is a class of status codes in the chart of traffic.
type class struct {
	Name, CSS string
	codes     []int // indexes in Bucket.Status
}

// classes are stacked from the bottom.
var classes = []class{{"2xx success", "c2", []int{2}}, {"3xx redirect", "c3", []int{3}}, {"4xx client error", "c4", []int{4}}, {"5xx server error", "c5", []int{5}}, {"other or none", "c0", []int{0, 1}}}

// A bar is a rectangle of a chart, in units of the view box.
type bar struct {
	X, Y, W, H float64
	CSS        string
}

// A column is a period of the chart: its bars, and the text that a pointer
// shows.
type column struct {
	Bars  []bar
	Title string
	X, W  float64
}

// A tick is a label of an axis, at a percentage of its length.
type tick struct {
	At       float64
	Label    string
	Optional bool // left out on narrow screens
}

// A chart is the chart of traffic. Its view box is 1000 by 100.
type chart struct {
	Columns []column
	Y, X    []tick
	Classes []class // classes that occur
	Summary string
	Peak    string
}

const chartWidth = 1000

// trafficChart returns the chart, or nil if there is nothing to draw.
func (r *Report) trafficChart() *chart {
	n := len(r.Traffic)
	if n == 0 {
		return nil
	}
	c := &chart{}
	peak := 0
	used := make([]bool, len(classes))
	for i, b := range r.Traffic {
		if b.URLs > r.Traffic[peak].URLs {
			peak = i
		}
		for k := range classes {
			used[k] = used[k] || classes[k].of(&b) > 0
		}
	}
	for k := range classes {
		if used[k] {
			c.Classes = append(c.Classes, classes[k])
		}
	}
	top := c.scale(r.Traffic[peak].URLs)
	step := chartWidth / float64(n)
	gap := min(step*0.18, 4)
	for i, b := range r.Traffic {
		col := column{X: float64(i) * step, W: step, Title: r.label(b.Start) + ": " + plural(b.URLs, "URL", "URLs")}
		y := 100.0
		for _, k := range c.Classes {
			h := float64(k.of(&b)) * 100 / top
			if h > 0 {
				y -= h
				col.Bars = append(col.Bars, bar{X: float64(i)*step + gap/2, Y: y, W: step - gap, H: h, CSS: k.CSS})
				col.Title += "\n" + k.Name + ": " + number(k.of(&b))
			}
		}
		c.Columns = append(c.Columns, col)
	}
	c.X = r.timeTicks()
	c.Peak = r.label(r.Traffic[peak].Start)
	c.Summary = fmt.Sprintf("Stacked bars of URLs per %s, by class of status, from %s to %s. The highest bar is %s with %s.",
		r.Unit, r.label(r.From), r.label(r.To), c.Peak, plural(r.Traffic[peak].URLs, "URL", "URLs"))
	return c
}

// of returns the URLs of b in the class.
func (k class) of(b *Bucket) (n int64) {
	for _, i := range k.codes {
		n += b.Status[i]
	}
	return n
}

// scale sets the ticks of the vertical axis and returns the axis's maximum,
// which is just above most.
func (c *chart) scale(most int64) float64 {
	step := niceStep(float64(most) / 5)
	top := 1.03 * float64(max(most, 1))
	for v := 0.0; v <= top; v += step {
		c.Y = append(c.Y, tick{At: v * 100 / top, Label: short(v)})
	}
	return top
}

// niceStep returns the least of 1, 2 and 5 times a power of ten that is not less
// than v, and at least 1.
func niceStep(v float64) float64 {
	if v <= 1 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if v <= m*power {
			return m * power
		}
	}
	return 10 * power
}

// short formats a number for an axis.
func short(v float64) string {
	switch {
	case v >= 1e9:
		return strconv.FormatFloat(v/1e9, 'f', -1, 64) + "G"
	case v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'f', -1, 64) + "M"
	case v >= 1e4:
		return strconv.FormatFloat(v/1e3, 'f', -1, 64) + "k"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// timeTicks returns at most eight ticks, at round times.
func (r *Report) timeTicks() (list []tick) {
	n, size := len(r.Traffic), r.size()
	step := size
	for _, u := range units {
		if step = max(size, u.size); time.Duration(n)*size <= 7*step {
			break
		}
	}
	for i, b := range r.Traffic {
		at, err := time.Parse(time.RFC3339, b.Start)
		if err != nil || step <= day && sinceMidnight(at)%step != 0 || step > day && i%int(step/size) != 0 {
			continue
		}
		list = append(list, tick{At: float64(i) * 100 / float64(n), Label: r.short(at), Optional: len(list)%2 == 1})
	}
	if last := len(list) - 1; last > 0 && list[last].At > 88 {
		list = list[:last] // the label would leave the page
	}
	return list
}

// size returns the length of the periods of Traffic.
func (r *Report) size() time.Duration {
	for _, u := range units {
		if u.name == r.Unit {
			return u.size
		}
	}
	return day
}

// short formats the beginning of a period for the axis.
func (r *Report) short(t time.Time) string {
	switch size := r.size(); {
	case size >= 7*day:
		return t.Format("Jan 2006")
	case size < day && sinceMidnight(t) > 0:
		return t.Format("15:04")
	}
	return t.Format("2 Jan")
}

// label formats the beginning of a period in full.
func (r *Report) label(start string) string {
	t, err := time.Parse(time.RFC3339, start)
	switch {
	case err != nil:
		return start
	case r.size() < day:
		return t.Format("2 January 2006, 15:04")
	}
	return t.Format("2 January 2006")
}

// spark returns the path of a line through values, filled to the ground, in a
// view box of 100 by 24.
func spark(values []int64) string {
	most := int64(1)
	for _, v := range values {
		most = max(most, v)
	}
	var b strings.Builder
	b.WriteString("M0 24")
	for i, v := range values {
		x0, x1 := float64(i)*100/float64(len(values)), float64(i+1)*100/float64(len(values))
		y := 24 - float64(v)*22/float64(most)
		fmt.Fprintf(&b, "L%.2f %.2fL%.2f %.2f", x0, y, x1, y)
	}
	b.WriteString("L100 24Z")
	return b.String()
}
