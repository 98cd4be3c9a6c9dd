// Package ffprobe reads the numbers that ffprobe writes, of a stream that is watched and
// of a file that others wrote.
package ffprobe

import "bytes"

// Number reads up to nine digits; -1 is none.
func Number(b []byte) int {
	if len(b) == 0 || len(b) > 9 {
		return -1
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// Seconds reads "12.345678", and epoch times of -use_wallclock_as_timestamps, to ns
// without rounding by floats; "N/A" is none.
func Seconds(b []byte) (ns int64, ok bool) {
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	whole, part, _ := bytes.Cut(b, []byte{'.'})
	if len(whole) == 0 || len(whole) > 10 || len(part) > 9 {
		return 0, false
	}
	for _, c := range whole {
		if c < '0' || c > '9' {
			return 0, false
		}
		ns = 10*ns + int64(c-'0')
	}
	if ns > 1<<32 {
		return 0, false
	}
	ns *= 1e9
	if len(part) > 0 {
		f := int64(Number(part))
		if f < 0 {
			return 0, false
		}
		for range 9 - len(part) {
			f *= 10
		}
		ns += f
	}
	if negative {
		ns = -ns
	}
	return ns, true
}
