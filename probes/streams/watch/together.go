package watch

import (
	"fmt"
	"net/url"
	"time"

	"snag/recording"
)

// together is how near each other the onsets of freezes are that likely have one
// cause: thresholds of 1 s and frames of 40 ms apart, and the tick.
const together = 1500 * time.Millisecond

// trouble is one stream as Triage needs it.
type trouble struct {
	server string // host:port that it is read from
	onset  recording.Time
	bad    bool // it has no frames
	behind bool // it has, but late, or slower than the wall's clock
}

// Triage says what the other streams tell of one that froze: whether it is alone,
// or all of its server's stopped at once. It is the little that can be known from
// the viewer's side.
func triage(of trouble, all []trouble) string {
	same, bad, behind, elsewhere := 0, 0, 0, 0
	for _, t := range all {
		near := t.bad && t.onset.Sub(of.onset).Abs() <= together
		switch {
		case t.server == of.server:
			same++
			if near {
				bad++
			} else if t.behind {
				behind++
			}
		case near:
			elsewhere++
		}
	}
	switch {
	case same < 2 || bad == 0:
		return "" // nothing to compare with, or it came back just then
	case bad == same && elsewhere == 0:
		return fmt.Sprintf("all %d streams of %s stopped together: the server, or the way to it; not one encoder", same, of.server)
	case bad == same:
		return fmt.Sprintf("all %d streams of %s stopped together, and %d of other servers: the way to snag, or snag's own host", same, of.server, elsewhere)
	}
	stopped := fmt.Sprintf("%d of %d streams of %s stopped together", bad, same, of.server)
	if bad == 1 {
		stopped = fmt.Sprintf("only this one of %d streams of %s stopped", same, of.server)
	}
	switch {
	case bad+behind == same:
		return stopped + fmt.Sprintf(", and all others (%d) are late: the server, or the way to it; not one encoder", behind)
	case behind > 0:
		return stopped + fmt.Sprintf(", and others (%d) are late", behind)
	case bad == 1:
		return stopped + ": look at what it does not share with the others (its source, the way from it to the server, its own session)"
	}
	return stopped
}

func serverOf(u *url.URL) string { return Clean(u.Host, 100) }
