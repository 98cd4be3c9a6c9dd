package readers

import (
	"fmt"
	"net"
	"slices"
	"sort"
	"strings"
	"time"

	"snag/recording"
)

// near: files, but not two recordings of snag's own, in which each second counts, whose times lie no further apart
// are of one time: a log that was rotated, a trace that was begun when another ended.
const near = time.Minute

// rebooted: two snapshots of one host whose boots lie further apart are of two
// boots. The time of boot moves with the wall clock.
const rebooted = time.Minute

// part is what belongs together: sources of one host whose times overlap.
type part struct {
	host    string
	sources []*source
	window  recording.Interval
}

// parts puts sources together, and says what could not be.
func parts(all []*source) (out []part, notes []string) {
	notes = giveHosts(all)
	var order []string
	of := map[string][]*source{}
	for _, s := range all {
		if of[s.host] == nil {
			order = append(order, s.host)
		}
		of[s.host] = append(of[s.host], s)
	}
	for _, host := range order {
		found, doubt := clusters(of[host])
		for _, sources := range found {
			out = append(out, part{host: host, sources: sources, window: windowOf(sources)})
		}
		notes = append(notes, doubt...)
	}
	return out, append(notes, apart(out)...)
}

// giveHosts gives sources that name no host the one that the others name, where
// that is one.
func giveHosts(all []*source) (notes []string) {
	sameHosts(all)
	named := map[string]bool{}
	byItself := false // some file tells its host, and was not only said to be of one
	for _, s := range all {
		if s.host != "" {
			named[s.host] = true
			byItself = byItself || !s.asked
		}
	}
	if len(named) == 0 {
		return nil
	}
	host := ""
	for h := range named {
		host = h
	}
	for _, s := range all {
		switch {
		case s.host != "" || s.parted:
		case len(named) == 1 && byItself:
			s.host = host
			s.doubts = append(s.doubts, "it does not name its host: taken as "+host+"'s, as the others are (--host FILE=NAME)")
		case s.format == "sides":
			s.doubts = append(s.doubts, "it is of the hosts at both ends, and judged separately")
		default:
			s.doubts = append(s.doubts, "it does not name its host, and it may be another than the others' (--host FILE=NAME)")
			notes = append(notes, fmt.Sprintf("%s does not name its host, and it may be another than the others': it is judged separately (--host %s=NAME)", s.name, s.name))
		}
	}
	return notes
}

// sameHosts gives one name to a host that some call web1 and others web1.example.com.
// Where two domains have a web1, the short name may be either and stays apart.
func sameHosts(all []*source) {
	long := map[string][]string{} // names with a domain, by the name without
	for _, s := range all {
		if short, _, ok := strings.Cut(s.host, "."); ok && net.ParseIP(s.host) == nil && !slices.Contains(long[short], s.host) {
			long[short] = append(long[short], s.host)
		}
	}
	asked := map[string]string{}
	for _, s := range all {
		if short, _, _ := strings.Cut(s.host, "."); s.asked {
			asked[short] = s.host
		}
	}
	for _, s := range all {
		if short, _, _ := strings.Cut(s.host, "."); len(long[short]) == 1 && net.ParseIP(s.host) == nil {
			s.host = or(asked[short], short)
		}
	}
}

// clusters parts one host's sources by time.
func clusters(all []*source) (out [][]*source, notes []string) {
	type cluster struct {
		span    recording.Interval
		sources []*source
		live    bool
	}
	var spans []cluster
	var timeless []*source
	var moments []*source
	for _, s := range all {
		switch {
		case s.span.Start == 0:
			timeless = append(timeless, s)
		case s.instant():
			moments = append(moments, s)
		default:
			spans = append(spans, cluster{s.span, []*source{s}, s.live != nil})
		}
	}
	boots, notes := byBoot(moments)
	lasting := len(spans)
	for i, same := range boots {
		if i < len(boots)-1 { // never beside those of another boot
			out = append(out, same)
			continue
		}
		c := cluster{span: same[0].span, sources: same[:1:1]}
		for _, s := range same[1:] {
			c.sources = append(c.sources, s)
			c.span.End = max(c.span.End, s.span.End)
		}
		// One alone tells no rate, and makes no window longer.
		if len(same) == 1 && lasting > 0 {
			timeless = append(timeless, same[0])
			continue
		}
		spans = append(spans, c)
	}
	sort.SliceStable(spans, func(i, j int) bool { return spans[i].span.Start < spans[j].span.Start })
	var joined []cluster
	for _, c := range spans {
		n := len(joined)
		if n > 0 && (c.span.Start <= joined[n-1].span.End || c.span.Start <= joined[n-1].span.End.Add(near) && (!c.live || !joined[n-1].live)) {
			last := &joined[n-1]
			last.live = last.live || c.live
			last.sources = append(last.sources, c.sources...)
			last.span.End = max(last.span.End, c.span.End)
			continue
		}
		joined = append(joined, c)
	}
	if len(joined) == 0 {
		if len(timeless) == 0 {
			return nil, notes
		}
		return append(out, timeless), notes
	}
	for _, s := range timeless {
		best := 0
		for i, c := range joined {
			if s.span.Start != 0 && away(s.span, c.span) < away(s.span, joined[best].span) {
				best = i
			}
		}
		joined[best].sources = append(joined[best].sources, s)
		if d := away(s.span, joined[best].span); s.span.Start != 0 && d > near {
			s.doubts = append(s.doubts, fmt.Sprintf("it was taken %s away from the others: what is set may have been set differently then", d.Round(time.Second)))
		}
	}
	for _, c := range joined {
		out = append(out, c.sources)
	}
	return out, notes
}

// away is how far two spans lie apart.
func away(a, b recording.Interval) time.Duration {
	return max(a.Start.Sub(b.End), b.Start.Sub(a.End), 0)
}

// byBoot parts snapshots of one host by the boot that they are of: counters begin
// again with it.
func byBoot(all []*source) (out [][]*source, notes []string) {
	sort.SliceStable(all, func(i, j int) bool { return all[i].span.Start < all[j].span.Start })
	for _, s := range all {
		n := len(out)
		if n == 0 {
			out = append(out, []*source{s})
			continue
		}
		before := out[n-1][len(out[n-1])-1]
		if d := s.told.Boot.Sub(before.told.Boot); s.told.Boot != 0 && before.told.Boot != 0 && (d > rebooted || d < -rebooted) {
			notes = append(notes, fmt.Sprintf("between %s and %s the host was booted (at %s UTC): its counters began again, and no rate is made of the two", before.name, s.name, s.told.Boot.Wall().Format("2006-01-02 15:04:05")))
			out = append(out, []*source{s})
			continue
		}
		if fell(before, s) {
			notes = append(notes, fmt.Sprintf("most counters of %s are lower than those of %s, which seems to be older: the host was booted in between, or their times are wrong (--offset FILE=…); no rate is made of the two", s.name, before.name))
			out = append(out, []*source{s})
			continue
		}
		out[n-1] = append(out[n-1], s)
	}
	return out, notes
}

// windowOf is the span of what has one; of moments alone the first to the last.
func windowOf(all []*source) recording.Interval {
	moments := 0
	for _, s := range all {
		if s.instant() {
			moments++
		}
	}
	var w recording.Interval
	for _, s := range all {
		if s.span.Start == 0 || s.instant() && moments == 1 && len(all) > 1 && timed(all) {
			continue
		}
		if w.Start == 0 || s.span.Start < w.Start {
			w.Start = s.span.Start
		}
		w.End = max(w.End, s.span.End)
	}
	return w
}

// timed reports whether some source lasted.
func timed(all []*source) bool {
	for _, s := range all {
		if !s.instant() && s.span.Start != 0 {
			return true
		}
	}
	return false
}

// apart says which parts of one host have no time in common.
func apart(all []part) (notes []string) {
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.host == b.host && a.window.Start != 0 && b.window.Start != 0 && len(a.sources) > 0 && len(b.sources) > 0 {
				notes = append(notes, fmt.Sprintf("the times of %s (%s) and %s (%s) do not overlap: each is judged separately (--tz, --offset)",
					a.sources[0].name, spanText(a.window), b.sources[0].name, spanText(b.window)))
			}
		}
	}
	if len(notes) > 4 {
		notes = append(notes[:4], fmt.Sprintf("and %d more pairs of files whose times do not overlap", len(notes)-4))
	}
	return notes
}

func spanText(w recording.Interval) string {
	return w.Start.Wall().Format("2006-01-02 15:04:05") + "–" + w.End.Wall().Format("15:04:05") + " UTC"
}
