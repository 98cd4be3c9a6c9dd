package readers

import (
	"fmt"
	"time"

	"snag/recording"
)

// written is what is known of the times of a file before it is read: as it has
// them, taken as UTC where they have no zone.
type written struct {
	zoneless    bool
	first, last recording.Time // last is 0 where the file's end was not seen
	modified    recording.Time // when it was last written; 0: not known
	host        string         // that its beginning names; "": none, or several
}

// Zones are whole quarters of an hour from UTC−12 to UTC+14.
const (
	quarter  = 15 * time.Minute
	westmost = -12 * time.Hour
	eastmost = 14 * time.Hour
)

// A file's last line is written when the file is: a logger that holds lines back
// does so for some seconds. A copied file's last change falls so near a quarter
// of an hour behind its last line in 1 of 75 cases.
const (
	writtenAfter  = 10 * time.Second
	writtenBefore = 2 * time.Second // the clock's own grain, and a line's rounding
)

// guess is in which zone the times of a file are, and by what it is told.
type guess struct {
	zone *time.Location
	// why is a sentence; "" where nothing had to be guessed.
	why string
	// sure: something told it; else it is this host's for want of anything better.
	sure bool
}

// zoneOf finds the zone of times that have none: by when the file was last
// written, and by files whose times are known. local is what is taken where
// nothing tells.
func zoneOf(f written, known []recording.Interval, local *time.Location) guess {
	if !f.zoneless || f.first == 0 {
		return guess{zone: local, sure: true}
	}
	_, east := f.first.Wall().In(local).Zone()
	here := time.Duration(east) * time.Second
	byChange, changed := offsetOfChange(f)
	byOthers, others := offsetOfOthers(f, known, here)
	switch {
	case changed && others && byChange != byOthers && overlapAt(f, known, byChange) == 0:
		return guess{fixed(byOthers), fmt.Sprintf("its times have no zone: taken as %s, in which they overlap with the other files' (its last change would say %s)", zoneName(byOthers), zoneName(byChange)), true}
	case changed && byChange == here:
		return guess{local, fmt.Sprintf("its times have no zone: taken as this host's, %s, as its last change says", zoneName(here)), true}
	case changed:
		return guess{fixed(byChange), fmt.Sprintf("its times have no zone: taken as %s, as its last change says", zoneName(byChange)), true}
	case others && byOthers == here:
		return guess{local, fmt.Sprintf("its times have no zone: taken as this host's, %s, in which they overlap with the other files'", zoneName(here)), true}
	case others:
		return guess{fixed(byOthers), fmt.Sprintf("its times have no zone: taken as %s, in which they overlap with the other files' (in %s, this host's, they do not)", zoneName(byOthers), zoneName(here)), true}
	}
	return guess{local, fmt.Sprintf("its times have no zone, and nothing shows it: taken as this host's, %s", zoneName(here)), false}
}

// offsetOfChange is the zone in which the file's last line was written when the
// file was.
func offsetOfChange(f written) (time.Duration, bool) {
	if f.last == 0 || f.modified == 0 {
		return 0, false
	}
	// A zone east of UTC shows later times.
	ahead := f.last.Sub(f.modified)
	east := ahead.Round(quarter)
	late := east - ahead // of the change behind the line
	return east, late <= writtenAfter && late >= -writtenBefore && east >= westmost && east <= eastmost
}

// offsetOfOthers is the zone in which the file overlaps best with what is known:
// this host's where it does at all, else the whole hour, or where none does the
// quarter of one, that alone is best.
func offsetOfOthers(f written, known []recording.Interval, here time.Duration) (time.Duration, bool) {
	if len(known) == 0 {
		return 0, false
	}
	if overlapAt(f, known, here) > 0 {
		return here, true
	}
	for _, step := range []time.Duration{time.Hour, quarter} {
		var best, most time.Duration
		alone := false
		for o := westmost; o <= eastmost; o += step {
			switch n := overlapAt(f, known, o); {
			case n > most:
				best, most, alone = o, n, true
			case n == most:
				alone = false
			}
		}
		if most > 0 {
			return best, alone
		}
	}
	return 0, false
}

// overlapAt is how long the file's times and those known overlap, were it of a zone
// that far east of UTC.
func overlapAt(f written, known []recording.Interval, east time.Duration) time.Duration {
	first, last := f.first.Add(-east), max(f.last, f.first.Add(time.Second)).Add(-east)
	var most time.Duration
	for _, k := range known {
		most = max(most, min(last, max(k.End, k.Start.Add(time.Second))).Sub(max(first, k.Start)))
	}
	return most
}

// in is when the file was written, its times read in a zone and moved.
func (f written) in(zone *time.Location, offset time.Duration) recording.Interval {
	_, east := f.first.Wall().In(zone).Zone()
	by := offset - time.Duration(east)*time.Second
	return recording.Interval{Start: f.first.Add(by), End: max(f.last, f.first).Add(by)}
}

func fixed(east time.Duration) *time.Location {
	if east == 0 {
		return time.UTC
	}
	return time.FixedZone(zoneName(east), int(east.Seconds()))
}

// zoneName writes UTC, UTC+1, UTC−3:30.
func zoneName(east time.Duration) string {
	if east == 0 {
		return "UTC"
	}
	sign := "+"
	if east < 0 {
		sign, east = "−", -east
	}
	name := fmt.Sprintf("UTC%s%d", sign, int(east.Hours()))
	if m := int(east.Minutes()) % 60; m != 0 {
		name += fmt.Sprintf(":%02d", m)
	}
	return name
}
