package report

import (
	"fmt"
	"strings"
	"time"

	"snag/internal/shown"
	"snag/internal/units"
	"snag/recording"
)

// clocks says how the clocks of several hosts compare: what falls together in time is worth no more than that.
func (p *page) clocks(r *recording.Recording) {
	if text := clocksText(r); text != "" {
		p.item("", p.dim(fmt.Sprintf("%-14s", "clocks")), strings.Repeat(" ", 14), p.dim(text))
	}
}

// clocksText is that; "" of one host.
func clocksText(r *recording.Recording) string {
	var known, unknown []string
	of := ""
	seen := map[string]bool{}
	for _, part := range r.Parts {
		m := part.Manifest
		if m.Host == "" || seen[m.Host] {
			continue
		}
		seen[m.Host] = true
		switch {
		case m.Clock == nil:
			unknown = append(unknown, m.Host)
		case m.Clock.Bound == 0: // the others are compared with it
			of = m.Host
		default:
			known = append(known, m.Host+" within "+units.Seconds(time.Duration(m.Clock.Bound*1e9))+movedText(m))
		}
	}
	switch {
	case len(seen) < 2:
		return ""
	case len(known) == 0:
		return shown.Text("nothing shows how those of " + hostList(unknown) + " compare: taken as they are")
	case len(unknown) > 0:
		return shown.Text(fmt.Sprintf("compared with %s's: %s; nothing shows how %s's compare", of, hostList(known), hostList(unknown)))
	}
	return shown.Text(fmt.Sprintf("compared with %s's: %s", of, hostList(known)))
}

// movedText says by how much a host's times were moved.
func movedText(m recording.Manifest) string {
	for _, f := range m.Files {
		if f.Offset != 0 {
			return fmt.Sprintf(", moved by %+.3g s", f.Offset)
		}
	}
	return ""
}

// hostList names a few.
func hostList(names []string) string {
	const most = 4
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
