package readers

import (
	"strings"
	"testing"
	"time"

	"snag/recording"
)

func at(text string) recording.Time {
	t, err := time.Parse("2006-01-02 15:04:05", "2026-11-21 "+text)
	if err != nil {
		panic(err)
	}
	return recording.Time(t.UnixNano())
}

func between(from, to string) recording.Interval {
	return recording.Interval{Start: at(from), End: at(to)}
}

func TestZoneIsToldByTheFiles(t *testing.T) {
	for _, x := range []struct {
		what  string
		file  written
		known []recording.Interval
		want  time.Duration // east of UTC
		sure  bool
		says  string
	}{
		{"its times have a zone", written{first: at("14:00:00")}, nil, 0, true, ""},
		{"its last change is 3 s behind its last line in UTC+1",
			written{zoneless: true, first: at("14:00:00"), last: at("15:17:28"), modified: at("14:17:31")}, nil, time.Hour, true, "as its last change says"},
		{"in UTC-3:30", written{zoneless: true, first: at("10:00:00"), last: at("10:17:28"), modified: at("13:47:29")}, nil, -210 * time.Minute, true, "UTC−3:30"},
		{"this host's, and the last change agrees", written{zoneless: true, first: at("10:00:00"), last: at("10:17:28"), modified: at("10:17:29")}, nil, 0, true, "this host's"},
		{"copied 5 minutes later: nothing shows", written{zoneless: true, first: at("14:00:00"), last: at("14:17:28"), modified: at("14:22:31")}, nil, 0, false, "nothing shows it"},
		{"written before its last line: the change shows nothing", written{zoneless: true, first: at("14:00:00"), last: at("14:17:28"), modified: at("14:17:20")}, nil, 0, false, "nothing shows it"},
		{"it overlaps only two hours earlier", written{zoneless: true, first: at("16:05:00"), last: at("16:15:00"), modified: at("20:01:40")}, []recording.Interval{between("14:04:00", "14:16:00")}, 2 * time.Hour, true, "overlap"},
		{"it overlaps as it is", written{zoneless: true, first: at("14:05:00"), last: at("14:15:00")}, []recording.Interval{between("14:04:00", "14:16:00")}, 0, true, "overlap"},
		{"three whole hours do equally well", written{zoneless: true, first: at("10:00:00"), last: at("10:30:00")}, []recording.Interval{between("12:30:00", "16:40:00")}, 0, false, "nothing shows it"},
		{"the change says another zone than the others, in which nothing overlaps", written{zoneless: true, first: at("16:05:00"), last: at("16:15:00"), modified: at("09:15:01")}, []recording.Interval{between("14:04:00", "14:16:00")}, 2 * time.Hour, true, "its last change would say UTC+7"},
		{"no zone is so far east", written{zoneless: true, first: at("23:00:00"), last: at("23:30:00"), modified: at("07:30:01")}, nil, 0, false, "nothing shows it"},
	} {
		g := zoneOf(x.file, x.known, time.UTC)
		_, east := time.Unix(0, 0).In(g.zone).Zone()
		if time.Duration(east)*time.Second != x.want || g.sure != x.sure || !strings.Contains(g.why, x.says) || x.says == "" && g.why != "" {
			t.Errorf("%s: %v, sure %v, %q; want %v, %v, %q", x.what, time.Duration(east)*time.Second, g.sure, g.why, x.want, x.sure, x.says)
		}
	}
}
