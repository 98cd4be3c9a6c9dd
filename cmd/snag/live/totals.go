package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"snag/probes/streams/figures"
	"snag/probes/streams/watch"
)

// totals is the first thing to read: how many, and how they are.
func totals(s *watch.Snapshot) string { return totalsOf(s, watch.States) }

// totalsWithin is totals in so many columns: the worst states are named longest,
// and how many are sick beside them is still said.
func totalsWithin(s *watch.Snapshot, columns int) string {
	named := watch.States
	text := totalsOf(s, named)
	for named > 1 && ansi.StringWidth(text) > columns {
		named--
		text = totalsOf(s, named)
	}
	return text
}

// totalsOf names the states up to one, and counts the other sick together.
func totalsOf(s *watch.Snapshot, to watch.State) string {
	if len(s.Rows) == 0 {
		return "no streams yet"
	}
	text := summed(len(s.Rows), s.States, to)
	if s.Left > 0 {
		text += fmt.Sprintf("; %d not watched (--max-streams)", s.Left)
	}
	return text
}

// summed is so many streams by their states.
func summed(streams int, states [watch.States]int, to watch.State) string {
	var parts []string
	more := 0
	for state := range watch.States {
		n := states[state]
		switch {
		case n == 0:
		case state >= to && state.Sick():
			more += n
		case state < to || state == watch.OK:
			parts = append(parts, fmt.Sprintf("%d %s", n, stateWord(state)))
		}
	}
	if more > 0 {
		parts = append(parts, "")
		last := len(parts) - 1
		if states[watch.OK] > 0 { // before the well
			parts[last] = parts[last-1]
			last--
		}
		parts[last] = fmt.Sprintf("%d more bad", more)
	}
	return fmt.Sprintf("%d stream%s: %s", streams, plural(streams), strings.Join(parts, ", "))
}

// doubtful is how late snag may run before its figures are in doubt: a quarter of
// the least threshold that is usual.
const doubtful = 250 * time.Millisecond

// own is what the watch costs and how late it runs.
func own(o watch.Own) string {
	share := figures.Value{V: o.CPU.V * 100, OK: o.CPU.OK}
	text := fmt.Sprintf("snag: %s %% of a CPU, %s, late %s (worst %s)", number(share, "%.1f"), mebibytes(o.Memory), millis(o.Late), millis(o.Worst))
	if o.Late >= doubtful {
		text += "; SNAG IS LATE: doubt these figures"
	}
	return text
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
