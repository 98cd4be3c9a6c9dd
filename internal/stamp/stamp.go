// Package stamp reads the times that lines of logs begin with, in the forms that
// loggers write them.
package stamp

import (
	"bytes"
	"time"
)

// Clock turns what lines say into Unix nanoseconds. It is used by one goroutine at a
// time.
type Clock struct {
	zone *time.Location // of times without one
	// newest is the latest that a line can be: the year of times that name none is
	// such that they are not after it. Unix s.
	newest int64

	hour   int64 // for which east was looked up, since 1970, as the wall has it
	east   int64 // seconds
	looked bool

	last   [26]byte // a date of an access log as it was read last, and what it says, Unix ns
	lastNs int64
}

// New is a clock for a file that was changed last then; times without a zone are in zone.
func New(zone *time.Location, changed time.Time) Clock {
	return Clock{zone: zone, newest: changed.Unix() + 24*3600}
}

// Reader reads a time at a text's beginning; n is how long it is, 0: there is none.
type Reader func(c *Clock, b []byte) (ns int64, n int)

// wall is a time of day on the wall of a zone, as seconds since 1970 there.
func wall(year, month, day, hour, minute, second int) int64 {
	return days(year, month, day)*86400 + int64(hour)*3600 + int64(minute)*60 + int64(second)
}

// days since 1970-01-01 of the proleptic Gregorian calendar: years begin in March, so
// that the leap day is the last.
func days(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	return int64(365*year+year/4-year/100+year/400+(153*(month-3)+2)/5+day) - 719469
}

// utc takes the zone off a wall clock. In the hour that comes twice it is the first.
func (c *Clock) utc(wall int64) int64 {
	if h := wall / 3600; !c.looked || h != c.hour {
		_, east := time.Unix(wall, 0).In(c.zone).Zone()
		_, east = time.Unix(wall-int64(east), 0).In(c.zone).Zone() // where it changes in between
		c.hour, c.east, c.looked = h, int64(east), true
	}
	return wall - c.east
}

// year is that of a time which names none: the latest in which it is not after the
// file's last change.
func (c *Clock) year(month, day, hour, minute, second int) int64 {
	y := time.Unix(c.newest, 0).In(c.zone).Year()
	if t := c.utc(wall(y, month, day, hour, minute, second)); t <= c.newest {
		return t
	}
	return c.utc(wall(y-1, month, day, hour, minute, second))
}

func two(b []byte) int {
	if b[0] < '0' || b[0] > '9' || b[1] < '0' || b[1] > '9' {
		return -1
	}
	return int(b[0]-'0')*10 + int(b[1]-'0')
}

// timeOfDay reads "12:00:00" at b; b has eight bytes at least.
func timeOfDay(b []byte) (hour, minute, second int, ok bool) {
	hour, minute, second = two(b), two(b[3:]), two(b[6:])
	ok = b[2] == ':' && b[5] == ':' && uint(hour) < 24 && uint(minute) < 60 && uint(second) <= 60
	return hour, minute, second, ok
}

// fraction reads ".123" or ",123456" as nanoseconds.
func fraction(b []byte) (ns int64, n int) {
	if len(b) < 2 || b[0] != '.' && b[0] != ',' || !digit(b[1]) {
		return 0, 0
	}
	unit := int64(1e8)
	for n = 1; n < len(b) && digit(b[n]); n++ {
		ns += int64(b[n]-'0') * unit
		unit /= 10
	}
	return ns, n
}

func digit(c byte) bool { return c-'0' < 10 }

// zoneAt reads "Z", "+01:00", "+0100", "+01", " UTC", " +0100", seconds east; n 0: none is
// there.
func zoneAt(b []byte) (east int64, n int) {
	if len(b) > 0 && b[0] == ' ' {
		if bytes.HasPrefix(b, []byte(" UTC")) || bytes.HasPrefix(b, []byte(" GMT")) {
			return 0, 4
		}
		// A space and a sign may begin the message: all four digits must be there.
		if len(b) < 6 || b[1] != '+' && b[1] != '-' || two(b[2:]) < 0 || two(b[4:]) < 0 {
			return 0, 0
		}
		east, n = zoneAt(b[1:6])
		return east, n + 1
	}
	switch {
	case len(b) > 0 && (b[0] == 'Z' || b[0] == 'z'):
		return 0, 1
	case len(b) < 3 || b[0] != '+' && b[0] != '-' || two(b[1:]) < 0:
		return 0, 0
	}
	east, n = int64(two(b[1:]))*3600, 3
	rest := b[3:]
	if len(rest) > 2 && rest[0] == ':' {
		rest, n = rest[1:], n+1
	}
	if len(rest) >= 2 && two(rest) >= 0 {
		east, n = east+int64(two(rest))*60, n+2
	} else if n == 4 {
		n = 3
	}
	if b[0] == '-' {
		east = -east
	}
	return east, n
}

// ISO reads "2026-03-01T12:00:00.123+01:00" (RFC 3339), and as the loggers of Java
// and Python have it, "2026-03-01 12:00:00,123", or nginx and Go, "2026/03/01 12:00:00".
func ISO(c *Clock, b []byte) (int64, int) {
	if len(b) < 19 || b[4] != b[7] || b[4] != '-' && b[4] != '/' || b[10] != 'T' && b[10] != ' ' && b[10] != '\t' && b[10] != '_' {
		return 0, 0
	}
	century, yy, month, day := two(b), two(b[2:]), two(b[5:]), two(b[8:])
	hour, minute, second, ok := timeOfDay(b[11:])
	if !ok || century < 19 || yy < 0 || month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, 0
	}
	n := 19
	ns, m := fraction(b[n:])
	n += m
	t := wall(century*100+yy, month, day, hour, minute, second)
	if east, m := zoneAt(b[n:]); m > 0 {
		return (t-east)*1e9 + ns, n + m
	}
	if n < len(b) && b[n] == '\t' { // Wowza has the zone in the next field
		if zone, _, _ := bytes.Cut(b[n+1:], []byte("\t")); string(zone) == "UTC" || string(zone) == "GMT" {
			return t*1e9 + ns, n
		}
	}
	return c.utc(t)*1e9 + ns, n
}

var months = [...]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}

func month(b []byte) int {
	for i, m := range months {
		if m == string(b[:3]) {
			return i + 1
		}
	}
	return 0
}

// CLF reads "01/Mar/2026:12:00:00 +0100", of the common log format.
func CLF(c *Clock, b []byte) (int64, int) {
	if len(b) < 20 || b[2] != '/' || b[6] != '/' || b[11] != ':' {
		return 0, 0
	}
	if len(b) >= len(c.last) && string(b[:len(c.last)]) == string(c.last[:]) { // most have that of the line above
		return c.lastNs, len(c.last)
	}
	day, m, century, yy := two(b), month(b[3:]), two(b[7:]), two(b[9:])
	hour, minute, second, ok := timeOfDay(b[12:])
	if !ok || day < 1 || day > 31 || m == 0 || century < 19 || yy < 0 {
		return 0, 0
	}
	t := wall(century*100+yy, m, day, hour, minute, second)
	ns, n := fraction(b[20:]) // Apache's %{…}t may have it
	n += 20
	if east, z := zoneAt(b[n:]); z > 0 {
		ns += (t - east) * 1e9
		if n += z; n == len(c.last) {
			copy(c.last[:], b)
			c.lastNs = ns
		}
		return ns, n
	}
	return c.utc(t)*1e9 + ns, n
}

// Syslog reads "Mar  1 12:00:00", of RFC 3164 and of journalctl's short forms
// ("Mar 01 12:00:00.123456").
func Syslog(c *Clock, b []byte) (int64, int) {
	if len(b) < 15 || b[3] != ' ' || b[6] != ' ' {
		return 0, 0
	}
	m, day := month(b), two(b[4:])
	if b[4] == ' ' && digit(b[5]) {
		day = int(b[5] - '0')
	}
	hour, minute, second, ok := timeOfDay(b[7:])
	if !ok || m == 0 || day < 1 || day > 31 {
		return 0, 0
	}
	ns, n := fraction(b[15:])
	return c.year(m, day, hour, minute, second)*1e9 + ns, 15 + n
}

// Glog reads "I0301 12:00:00.123456" of glog and klog: level, month, day.
func Glog(c *Clock, b []byte) (int64, int) {
	if len(b) < 17 || b[0] != 'I' && b[0] != 'W' && b[0] != 'E' && b[0] != 'F' || b[5] != ' ' {
		return 0, 0
	}
	m, day := two(b[1:]), two(b[3:])
	hour, minute, second, ok := timeOfDay(b[6:])
	if !ok || m < 1 || m > 12 || day < 1 || day > 31 {
		return 0, 0
	}
	ns, n := fraction(b[14:])
	return c.year(m, day, hour, minute, second)*1e9 + ns, 14 + n
}

// Asctime reads "Sun Mar  1 12:00:00 2026" and Apache's "Sun Mar 01 12:00:00.123456 2026".
func Asctime(c *Clock, b []byte) (int64, int) {
	if len(b) < 24 || b[3] != ' ' {
		return 0, 0
	}
	b = b[4:]
	m, day := month(b), two(b[4:])
	if b[4] == ' ' && digit(b[5]) {
		day = int(b[5] - '0')
	}
	hour, minute, second, ok := timeOfDay(b[7:])
	if !ok || m == 0 || day < 1 || day > 31 || b[3] != ' ' || b[6] != ' ' {
		return 0, 0
	}
	ns, n := fraction(b[15:])
	n += 15
	if len(b) < n+5 || b[n] != ' ' || two(b[n+1:]) < 0 || two(b[n+3:]) < 0 {
		return 0, 0
	}
	return c.utc(wall(two(b[n+1:])*100+two(b[n+3:]), m, day, hour, minute, second))*1e9 + ns, n + 9
}

// Of epoch times: from 2001 to 2096, by their number of digits.
const (
	leastEpoch = 1_000_000_000
	mostEpoch  = 4_000_000_000
)

// Epoch reads "1700000000.123", and milli-, micro- and nanoseconds by how many
// digits there are.
func Epoch(_ *Clock, b []byte) (int64, int) {
	v, n := int64(0), 0
	for n < len(b) && n < 19 && digit(b[n]) {
		v = v*10 + int64(b[n]-'0')
		n++
	}
	unit := int64(1)
	switch n {
	case 10:
		unit = 1e9
	case 13:
		unit = 1e6
	case 16:
		unit = 1e3
	case 19:
	default:
		return 0, 0
	}
	if n < len(b) && digit(b[n]) || v/(1e9/unit) < leastEpoch || v/(1e9/unit) > mostEpoch {
		return 0, 0
	}
	ns := v * unit
	if n == 10 || n == 13 {
		frac, m := fraction(b[n:])
		ns += frac / (1e9 / unit)
		n += m
	}
	return ns, n
}
