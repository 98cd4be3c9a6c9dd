package live

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"snag/probes/streams/figures"
	"snag/probes/streams/watch"
)

// stateWord is how a state is written: what a person must look at stands out by
// its capitals, not by its colour alone.
func stateWord(s watch.State) string {
	switch s {
	case watch.Frozen:
		return "FROZEN"
	case watch.Down:
		return "DOWN"
	case watch.NoAnswer:
		return "no answer"
	case watch.NoAudio:
		return "no audio"
	case watch.GarbledPicture:
		return "garbled"
	case watch.BlackPicture:
		return "black"
	case watch.PlainPicture:
		return "plain"
	case watch.StillPicture:
		return "still"
	case watch.SilentAudio:
		return "silent"
	case watch.RateFell:
		return "low FPS"
	case watch.BitsFell:
		return "low kb/s"
	case watch.Connecting:
		return "asking"
	}
	return s.String()
}

// span is a length in few characters: 3.2 s, 48 s, 12 m, 3 h, 5 d.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", math.Floor(d.Seconds()*10)/10)
	case d < 100*time.Second:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 100*time.Minute:
		return fmt.Sprintf("%d m", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

// millis is a short length: 2 ms, 1.4 s.
func millis(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return span(d)
}

func stateAndTime(s *watch.Snapshot, r *watch.Row) string {
	if r.Since == 0 {
		return stateWord(r.State)
	}
	return stateWord(r.State) + " " + span(s.T.Sub(r.Since))
}

// number is a figure in few characters; a dash where it was not measured.
func number(v figures.Value, format string) string {
	if !v.OK || math.IsNaN(v.V) || math.IsInf(v.V, 0) {
		return "–"
	}
	return fmt.Sprintf(format, v.V)
}

// rateOf is rate of a figure; a dash where it was not measured.
func rateOf(v figures.Value) string {
	if !v.OK {
		return "–"
	}
	return rate(v.V)
}

// rate writes frames per second: 25, 29.97 as 30, 7.5, 0.
func rate(v float64) string {
	if v > 0 && v < 10 && v != math.Trunc(v) {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// kilobits writes a bit rate in kb/s, in at most five characters; a dash where it was
// not measured.
func kilobits(v figures.Value) string {
	switch k := v.V / 1000; {
	case !v.OK:
		return "–"
	case k >= 99950:
		return fmt.Sprintf("%.0fM", k/1000)
	case k > 0 && k < 10:
		return fmt.Sprintf("%.1f", k)
	default:
		return fmt.Sprintf("%.0f", k)
	}
}

// signed writes seconds with their sign: +0.04, -1.2, +12.
func signed(v figures.Value) string {
	switch {
	case !v.OK:
		return "–"
	case math.Abs(v.V) < 0.005:
		return "0"
	case math.Abs(v.V) < 10:
		return fmt.Sprintf("%+.2f", v.V)
	case math.Abs(v.V) < 1000:
		return fmt.Sprintf("%+.0f", v.V)
	}
	return fmt.Sprintf("%+.0fk", v.V/1000)
}

// bytes writes a size in MiB.
func mebibytes(n int64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
}

// fit makes a text exactly so many columns wide: it is filled up with blanks, or
// cut in its middle, for names that differ do so at their ends.
func fit(s string, columns int) string {
	w := ansi.StringWidth(s)
	if w <= columns {
		return s + strings.Repeat(" ", columns-w)
	}
	if columns < 8 {
		return fill(ansi.Truncate(s, columns, "…"), columns)
	}
	tail := columns / 2
	head := columns - tail - 1
	return fill(ansi.Truncate(s, head, "")+"…"+ansi.TruncateLeft(s, w-tail, ""), columns)
}

// cut makes a text at most so many columns wide.
func cut(s string, columns int) string { return ansi.Truncate(s, columns, "…") }

func fill(s string, columns int) string {
	return s + strings.Repeat(" ", max(0, columns-ansi.StringWidth(s)))
}

// right puts a text at the right of its columns.
func right(s string, columns int) string {
	if w := ansi.StringWidth(s); w < columns {
		return strings.Repeat(" ", columns-w) + s
	}
	return cut(s, columns)
}
