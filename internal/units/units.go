// Package units writes numbers for people: thousands apart, three digits that
// matter, the unit after a space.
package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Count writes a count with thousands apart: 2,874.
func Count(n float64) string {
	s := strconv.FormatFloat(math.Round(n), 'f', 0, 64)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		return "-" + s
	}
	return s
}

// Percent writes a ratio as a percentage: 0.034 is "3.4 %".
func Percent(ratio float64) string {
	p := 100 * ratio
	switch {
	case p != 0 && math.Abs(p) < 0.1:
		return fmt.Sprintf("%.2g %%", p)
	case math.Abs(p) < 10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", p), ".0") + " %"
	}
	return fmt.Sprintf("%.0f %%", p)
}

// Seconds writes a duration in the unit that fits: "820 µs", "44 ms", "3.6 s", "2 min 5 s".
func Seconds(d time.Duration) string {
	switch s := d.Seconds(); {
	case s == 0:
		return "0 s"
	case math.Abs(s) < 1e-3:
		return fmt.Sprintf("%.0f µs", s*1e6)
	case math.Abs(s) < 0.01:
		return fmt.Sprintf("%.1f ms", s*1e3)
	case math.Abs(s) < 1:
		return fmt.Sprintf("%.0f ms", s*1e3)
	case math.Abs(s) < 120:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", s), ".0") + " s"
	}
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days %d h", int(d.Hours())/24, int(d.Hours())%24)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// Bytes writes a size in binary units: "208 KiB".
func Bytes(n float64) string {
	for _, u := range []string{"B", "KiB", "MiB", "GiB"} {
		if math.Abs(n) < 1024 || u == "GiB" {
			if u == "B" {
				return fmt.Sprintf("%.0f B", n)
			}
			return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0") + " " + u
		}
		n /= 1024
	}
	return ""
}

// Rate writes a count per second: "410/s", "0.3/s".
func Rate(perSecond float64) string {
	if perSecond >= 10 || perSecond == math.Trunc(perSecond) {
		return Count(perSecond) + "/s"
	}
	return fmt.Sprintf("%.1f/s", perSecond)
}

// Short is a time in seconds with three digits and the unit that fits: 12.5 ms.
func Short(seconds float64) string {
	switch {
	case seconds >= 1:
		return fmt.Sprintf("%.2g s", seconds)
	case seconds >= 0.001:
		return fmt.Sprintf("%.3g ms", 1000*seconds)
	}
	return fmt.Sprintf("%.3g µs", 1e6*seconds)
}
