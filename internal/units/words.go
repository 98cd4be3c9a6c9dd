package units

import (
	"fmt"
	"strconv"
)

// Plural writes "1 port", "3 ports".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(float64(n)) + " " + noun + "s"
}

// Times writes "once", "3 times".
func Times(n int) string {
	if n == 1 {
		return "once"
	}
	return Count(float64(n)) + " times"
}

// OfAll writes "2,874 of 9,000", or the first alone where the whole is unknown.
func OfAll(n, of float64) string {
	if of <= 0 {
		return Count(n)
	}
	return Count(n) + " of " + Count(of)
}

// Lasting writes how long something lasted, in seconds, with no more digits than a sentence
// needs: 0.25 ms, 41 ms, 3.6 s, 12 s.
func Lasting(seconds float64) string {
	switch {
	case seconds >= 10:
		return Count(float64(int(seconds+0.5))) + " s"
	case seconds >= 1:
		return fmt.Sprintf("%.1f s", seconds)
	case seconds >= 0.01:
		return fmt.Sprintf("%.0f ms", 1000*seconds)
	}
	return fmt.Sprintf("%.2g ms", 1000*seconds)
}

// Hundredths is Lasting with hundredths of a second: timeouts differ by so little.
func Hundredths(seconds float64) string {
	if seconds < 1 {
		return Lasting(seconds)
	}
	return fmt.Sprintf("%.2f s", seconds)
}

// LineRate writes bytes per second as the speed of a line: "9.6 Mbit/s".
func LineRate(bytesPerSecond float64) string {
	return strconv.FormatFloat(bytesPerSecond*8e-6, 'f', 1, 64) + " Mbit/s"
}
