package gclog

import (
	"math"
	"time"
)

// decimal reads a number with a fraction: 0.384, or 0,384 where the JVM's locale has
// it so. frac is in billionths; n is how many bytes it has, 0 if it is none or is
// too long to be one of a log.
func decimal(b []byte) (whole, frac int64, n int) {
	for n < len(b) && isDigit(b[n]) {
		if n > 18 {
			return 0, 0, 0
		}
		whole = whole*10 + int64(b[n]-'0')
		n++
	}
	if n == 0 || n > 18 {
		return 0, 0, 0
	}
	if n+1 < len(b) && (b[n] == '.' || b[n] == ',') && isDigit(b[n+1]) {
		scale := int64(100_000_000)
		for n++; n < len(b) && isDigit(b[n]); n++ {
			frac += int64(b[n]-'0') * scale
			scale /= 10
		}
	}
	return whole, frac, n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// times is a decimal number of a unit as nanoseconds.
func times(whole, frac int64, unit time.Duration) (time.Duration, bool) {
	if whole > (math.MaxInt64-int64(unit))/int64(unit) {
		return 0, false
	}
	return time.Duration(whole)*unit + time.Duration(frac)*unit/time.Second, true
}

// duration reads "9.772ms", "0.105s" or "1634200 ns" and returns how many bytes it has.
func duration(b []byte) (d time.Duration, n int) {
	whole, frac, n := decimal(b)
	if n == 0 {
		return 0, 0
	}
	rest := b[n:]
	if len(rest) > 0 && rest[0] == ' ' {
		rest = rest[1:]
		n++
	}
	unit, letters := time.Duration(0), 0
	switch {
	case hasPrefix(rest, "ms"):
		unit, letters = time.Millisecond, 2
	case hasPrefix(rest, "ns"):
		unit, letters = time.Nanosecond, 2
	case hasPrefix(rest, "us"):
		unit, letters = time.Microsecond, 2
	case hasPrefix(rest, "s"):
		unit, letters = time.Second, 1
	default:
		return 0, 0
	}
	d, ok := times(whole, frac, unit)
	if !ok {
		return 0, 0
	}
	return d, n + letters
}

// size reads "14M", "7168.0K" or "0.0B" and returns bytes and how long it is.
func size(b []byte) (bytes int64, n int) {
	whole, frac, n := decimal(b)
	if n == 0 || n == len(b) {
		return 0, 0
	}
	shift := 0
	switch b[n] {
	case 'B':
	case 'K':
		shift = 10
	case 'M':
		shift = 20
	case 'G':
		shift = 30
	case 'T':
		shift = 40
	default:
		return 0, 0
	}
	if whole > math.MaxInt64>>(shift+1) {
		return 0, 0
	}
	return whole<<shift + int64(float64(frac)/1e9*float64(int64(1)<<shift)), n + 1
}

// heap reads "14M->12M(46M)", ZGC's "106M(0%)->88M(0%)", or what is in use alone,
// "18533K(31680K)".
func heap(b []byte) (before, after, total int64, ok bool) {
	before, after, total = Unknown, Unknown, Unknown
	first, n := size(b)
	if n == 0 {
		return before, after, total, false
	}
	b = b[n:]
	whole, n := ofHeap(b)
	b = b[n:]
	if !hasPrefix(b, "->") {
		return Unknown, first, whole, whole != Unknown && len(b) == 0
	}
	second, n := size(b[2:])
	if n == 0 {
		return before, after, total, false
	}
	b = b[2+n:]
	total, n = ofHeap(b)
	return first, second, total, n == len(b)
}

// ofHeap reads what stands in brackets after a size: the heap's, or a share of it.
func ofHeap(b []byte) (total int64, n int) {
	if len(b) == 0 || b[0] != '(' {
		return Unknown, 0
	}
	for n < len(b) && b[n] != ')' {
		n++
	}
	if n == len(b) {
		return Unknown, 0
	}
	if v, k := size(b[1:n]); k == n-1 && k > 0 {
		return v, n + 1
	}
	return Unknown, n + 1
}

// date reads "2014-04-09T15:26:52.201+0200" as nanoseconds since 1970.
func date(b []byte) (wall int64, n int) {
	if len(b) < 28 || b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[19] != '.' && b[19] != ',' || b[23] != '+' && b[23] != '-' {
		return 0, 0
	}
	var v [8]int
	for i, f := range [8][2]int{{0, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 16}, {17, 19}, {20, 23}, {24, 28}} {
		for _, c := range b[f[0]:f[1]] {
			if !isDigit(c) {
				return 0, 0
			}
			v[i] = v[i]*10 + int(c-'0')
		}
	}
	if v[0] < 1970 || v[0] > 2200 || v[1] < 1 || v[1] > 12 || v[2] < 1 || v[2] > 31 || v[3] > 23 || v[4] > 59 || v[5] > 60 {
		return 0, 0
	}
	east := v[7]/100*60 + v[7]%100
	if b[23] == '-' {
		east = -east
	}
	at := time.Date(v[0], time.Month(v[1]), v[2], v[3], v[4]-east, v[5], v[6]*int(time.Millisecond), time.UTC)
	return at.UnixNano(), 28
}

func hasPrefix(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }
