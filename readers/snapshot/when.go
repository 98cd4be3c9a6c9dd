package snapshot

import (
	"bytes"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"snag/readers/reader"
	"snag/recording"
)

// when gives each output its time: of a date that was printed before it in the same
// file, or in a file of its own in the same folder; else of the file's name; else of
// when the file was last written.
func (l *look) when(items []item, o []reader.Options) {
	options := map[string]reader.Options{}
	if len(o) > 0 {
		l.zone = o[0].Zone
	}
	printed := map[string]recording.Time{} // by folder
	for _, it := range items {
		if !isDate(it.data) {
			continue
		}
		t, told := parseDate(it.data, l.zone)
		if t == 0 {
			continue
		}
		if !told {
			l.doubt("%s: its time has no zone that is known: taken as %s", it.path, l.zone)
		}
		// One of a file that holds other outputs is of that file alone.
		if alone(items, it.path) {
			printed[rootOf(it.path)] = t
		}
	}
	for i, in := range o {
		if i < len(o) {
			options[in.Root] = in
		}
	}
	at := map[string]recording.Time{} // the date that was printed last, by file
	for i := range items {
		it := &items[i]
		if isDate(it.data) {
			if t, _ := parseDate(it.data, l.zone); t != 0 {
				at[it.path] = t
			}
		}
		switch {
		case at[it.path] != 0:
			it.t = at[it.path]
		case printed[rootOf(it.path)] != 0:
			it.t = printed[rootOf(it.path)]
		case len(printed) == 1 && onlyRoot(printed, it.path) != 0:
			it.t = onlyRoot(printed, it.path)
		default:
			it.t = l.byName(it.path)
		}
	}
	again := map[string]recording.Time{} // of outputs of the same kind, by last change
	for i := range items {
		it := &items[i]
		if it.t != 0 {
			continue
		}
		it.t = modified(it.path, items, o)
		l.guessed = true
		what := it.same()
		if before, ok := again[what]; ok && what != "" && it.t < before.Add(time.Second) && it.t > before.Add(-time.Second) {
			it.t = before.Add(time.Second)
			l.doubt("%s: its last change is that of one before it of the same kind: taken as a second later", it.path)
		}
		again[what] = it.t
	}
	if l.guessed {
		l.doubt("no output shows when it was made (date): the files' last change is taken")
	}
}

// same is what two outputs have in common of which the second is of another moment; ""
// where it is nothing that is known.
func (it item) same() string {
	k := kindOf(it.data, it.command)
	if k == nil || k.read == nil {
		return ""
	}
	what := k.name + " " + deviceOf(it.command)
	if k.is == nil || k.name == "/proc/pressure" || strings.Contains(k.name, "of a node") { // one of many of its kind
		what += " " + it.path
	}
	if k.name == "ss" {
		what += strings.TrimLeft(path.Base(it.command), "0123456789") // -t and -u beside each other
	}
	return what
}

// modified is when the file that an output is of was last written. Files and options
// come in the same order.
func modified(file string, items []item, o []reader.Options) recording.Time {
	n, last := -1, ""
	for _, it := range items {
		if it.path != last {
			n, last = n+1, it.path
		}
		if it.path == file {
			break
		}
	}
	if n < 0 || n >= len(o) {
		return 0
	}
	return recording.Time(o[n].Modified.UnixNano())
}

// alone reports whether a file holds one output only.
func alone(items []item, file string) bool {
	n := 0
	for _, it := range items {
		if it.path == file {
			n++
		}
	}
	return n == 1
}

// rootOf is the folder that an output's date counts for: that of a sosreport, of the
// files beside it otherwise, and of copies of /proc and /sys the folder above.
func rootOf(file string) string {
	for _, mark := range []string{"/sos_commands/", "/proc/", "/sys/"} {
		if i := strings.Index(file, mark); i >= 0 {
			return file[:i]
		}
	}
	return path.Dir(file)
}

// onlyRoot is the one date that there is, for files below its folder.
func onlyRoot(printed map[string]recording.Time, file string) recording.Time {
	for root, t := range printed {
		if strings.HasPrefix(file, strings.TrimSuffix(root, "/")+"/") {
			return t
		}
	}
	return 0
}

var (
	// C locale, with and without AM and PM, and those with the day first.
	dateText  = regexp.MustCompile(`^(?:[A-Z][a-z]{2},? )?(?:([A-Z][a-z]{2}) {1,2}(\d{1,2})|(\d{1,2}) ([A-Z][a-z]{2}))(?: (\d{4}))? (\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?: ([AP]M))?(?: ([A-Z]{2,5}|[+-]\d{2}(?::?\d{2})?))?(?: (\d{4}))?\s*$`)
	dateISO   = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})? ?(?:Z|UTC|[+-]\d{2}:?\d{2})?\s*$`)
	dateEpoch = regexp.MustCompile(`^1\d{9}(?:\.\d{1,9})?\s*$`)
	dateLocal = regexp.MustCompile(`^\s+Local time: `) // timedatectl
)

func isDate(data []byte) bool {
	if dateLocal.Match(data[:min(len(data), 64)]) {
		return true
	}
	line, rest, _ := bytes.Cut(bytes.TrimSpace(data), []byte("\n"))
	return len(bytes.TrimSpace(rest)) == 0 && len(line) < 80 && (dateText.Match(line) || dateISO.Match(line) || dateEpoch.Match(line))
}

// parseDate reads what date printed; told says whether its zone is known.
func parseDate(data []byte, zone *time.Location) (t recording.Time, told bool) {
	if zone == nil {
		zone = time.UTC
	}
	if dateLocal.Match(data[:min(len(data), 64)]) {
		_, rest, ok := bytes.Cut(data, []byte("Universal time: "))
		if line, _, _ := bytes.Cut(rest, []byte("\n")); ok {
			data = line
		}
	}
	text := string(bytes.TrimSpace(data))
	if dateEpoch.MatchString(text) {
		s, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, false
		}
		return recording.Time(s * 1e9), true
	}
	if dateISO.MatchString(text) {
		text = strings.Replace(strings.Replace(text, ",", ".", 1), " ", "T", 1)
		text = strings.Replace(strings.TrimSuffix(strings.ReplaceAll(text, " ", ""), "UTC"), "ZZ", "Z", 1)
		if strings.HasSuffix(string(bytes.TrimSpace(data)), "UTC") {
			text += "Z"
		}
		for _, layout := range []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700"} {
			if at, err := time.Parse(layout, text); err == nil {
				return recording.Time(at.UnixNano()), true
			}
		}
		at, err := time.ParseInLocation("2006-01-02T15:04:05", text, zone)
		if err != nil {
			return 0, false
		}
		return recording.Time(at.UnixNano()), false
	}
	return parseDateText(text, zone)
}

func parseDateText(text string, zone *time.Location) (recording.Time, bool) {
	m := dateText.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	month, err := time.Parse("Jan", m[1]+m[4])
	year := m[5] + m[12]
	if err != nil || year == "" {
		return 0, false
	}
	n := func(s string) int { v, _ := strconv.Atoi(s); return v } // digits by the pattern
	hour := n(m[6])
	switch {
	case m[10] == "PM" && hour < 12:
		hour += 12
	case m[10] == "AM" && hour == 12:
		hour = 0
	}
	nanos := n((m[9] + "000000000")[:9])
	at, told := zoneNamed(m[11], zone)
	return recording.Time(time.Date(n(year), month.Month(), n(m[2]+m[3]), hour, n(m[7]), n(m[8]), nanos, at).UnixNano()), told
}

// hoursEast are zones by the names that date prints, where a name means one zone
// nearly everywhere. IST, CST and BST are not among them: each means several.
var hoursEast = map[string]int{
	"UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3,
	"EST": -5, "EDT": -4, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "JST": 9, "KST": 9,
	"SGT": 8, "HKT": 8, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
}

func zoneNamed(name string, zone *time.Location) (*time.Location, bool) {
	if h, ok := hoursEast[name]; ok {
		return time.FixedZone(name, h*3600), true
	}
	if name != "" && (name[0] == '+' || name[0] == '-') {
		digits := strings.ReplaceAll(name[1:], ":", "")
		if len(digits) == 2 {
			digits += "00"
		}
		if v, err := strconv.Atoi(digits); err == nil && v < 1500 {
			east := v/100*3600 + v%100*60
			if name[0] == '-' {
				east = -east
			}
			return time.FixedZone(name, east), true
		}
	}
	return zone, false
}

var (
	nameTime  = regexp.MustCompile(`(20\d{2})-?([01]\d)-?([0-3]\d)[T_.-]?([0-2]\d)[-_:.]?([0-5]\d)[-_:.]?([0-5]\d)(Z|UTC)?`)
	nameEpoch = regexp.MustCompile(`(?:^|[^0-9])(1[5-9]\d{8})(?:[^0-9]|$)`)
)

// byName is the time in a file's name, or in that of its folder; 0: there is none.
func (l *look) byName(file string) recording.Time {
	base := path.Base(path.Dir(file)) + "/" + path.Base(file)
	if m := nameTime.FindStringSubmatch(base); m != nil {
		zone := l.zone
		if m[7] != "" || zone == nil {
			zone = time.UTC
		}
		at, err := time.ParseInLocation("20060102150405", strings.Join(m[1:7], ""), zone)
		if err == nil {
			if m[7] == "" {
				l.doubt("times in names of files have no zone: taken as %s", zone)
			}
			return recording.Time(at.UnixNano())
		}
	}
	if m := nameEpoch.FindStringSubmatch(base); m != nil {
		s, err := strconv.ParseInt(m[1], 10, 64)
		if err == nil {
			return recording.Time(s * 1e9)
		}
	}
	return 0
}
