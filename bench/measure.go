package bench

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Machine describes the machine that the figures of a run are from.
func Machine() string {
	return fmt.Sprintf("%s, %d processors, %s, %s/%s", processor(), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Ratios divides a by b, element by element.
func Ratios(a, b []float64) []float64 {
	r := make([]float64, len(a))
	for i := range a {
		r[i] = a[i] / b[i]
	}
	return r
}

// Median returns the median of x.
func Median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// processor returns the model name of the processor. It works only on Linux.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	defer f.Close()
	for scan := bufio.NewScanner(f); scan.Scan(); {
		if name, ok := strings.CutPrefix(scan.Text(), "model name"); ok {
			return strings.TrimLeft(name, "\t :")
		}
	}
	return "unknown processor"
}
