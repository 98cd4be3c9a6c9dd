package recording

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// moment is a time as people and logs write it: a time of day, with a date and a
// zone or without.
var moment = regexp.MustCompile(`(?i)(?:\b(\d{4}-\d{2}-\d{2})[T ]|\b)([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)([.,]\d{1,9})?)?(?: ?(Z|UTC|[+-]\d{2}:?\d{2}))?(?:$|[\s,;.!?)\]])`)

// FindMoment finds the first time of day in a text, and what it means to somebody
// who says it at now, in the zone that lies offset seconds east of UTC: the last
// such time that is not later than now by more than an hour. rest is the text
// without it. False where there is none.
func FindMoment(text string, now Time, offset int) (t Time, rest string, ok bool) {
	for _, m := range moment.FindAllStringSubmatchIndex(text, -1) {
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		if m[0] > 0 && strings.ContainsRune(":.", rune(text[m[0]-1])) {
			continue // the end of an address
		}
		zone := time.FixedZone("", offset)
		switch z := part(6); {
		case z == "":
		case strings.EqualFold(z, "Z") || strings.EqualFold(z, "UTC"):
			zone = time.UTC
		default:
			z = strings.Replace(z, ":", "", 1)
			h, _ := strconv.Atoi(z[1:3])
			minutes, _ := strconv.Atoi(z[3:5])
			east := 3600*h + 60*minutes
			if z[0] == '-' {
				east = -east
			}
			zone = time.FixedZone("", east)
		}
		hour, _ := strconv.Atoi(part(2))
		minute, _ := strconv.Atoi(part(3))
		second, _ := strconv.Atoi(part(4)) // "" is 0
		frac := 0.0
		if f := part(5); f != "" {
			frac, _ = strconv.ParseFloat("0."+f[1:], 64)
		}
		day := now.Wall().In(zone)
		if d := part(1); d != "" {
			parsed, err := time.ParseInLocation("2006-01-02", d, zone)
			if err != nil {
				continue
			}
			day = parsed
		}
		at := time.Date(day.Year(), day.Month(), day.Day(), hour, minute, second, int(frac*1e9), zone)
		if part(1) == "" && at.After(now.Wall().Add(time.Hour)) {
			at = at.AddDate(0, 0, -1) // yesterday's
		}
		rest := strings.Join(strings.Fields(text[:m[0]]+" "+text[m[1]:]), " ")
		return Time(at.UnixNano()), rest, true
	}
	return 0, text, false
}

// ParseSince reads what is given to --since: a time of day, a date and time, or
// how long ago it was ("90s", "5m", "2h").
func ParseSince(text string, now Time, offset int) (Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		if d < 0 {
			d = -d
		}
		return now.Add(-d), nil
	}
	t, rest, ok := FindMoment(text, now, offset)
	if !ok || rest != "" {
		return 0, fmt.Errorf("%q is not a time: give a time of day (14:17, 14:17:28), a date and time (2026-11-21T14:17:28Z), or how long ago it was (5m)", text)
	}
	if t > now {
		return 0, fmt.Errorf("%q is later than now", text)
	}
	return t, nil
}
