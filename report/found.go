package report

import (
	"io"
	"strings"

	"snag/internal/shown"
	"snag/internal/units"
	"snag/recording"
)

// mostFoundLines are printed; the rest is counted.
const mostFoundLines = 40

// WriteFound lists where a text that was looked for was found (snag read --find): which
// thread, on which descriptor, in which calls, how often, when. Nothing where nothing was
// looked for, or nothing found.
func WriteFound(w io.Writer, r *recording.Recording) error {
	var all []recording.Event
	for _, e := range r.Events {
		if e.Kind == recording.EventFound {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		return nil
	}
	var b strings.Builder
	put := func(format string, args ...any) { b.WriteString(shown.Sprintf(format, args...)) }
	put("\nFound %q (times are UTC):\n", all[0].Attrs["text"])
	for i, e := range all {
		if i == mostFoundLines {
			put("  and %d places more (snag show --table events)\n", len(all)-i)
			break
		}
		on := ""
		if fd := e.Attrs["fd"]; fd != "" {
			on = " on descriptor " + fd
		}
		if name := e.Attrs["name"]; name != "" {
			on += ", " + name
		}
		times := "once"
		if e.Value > 1 {
			times = units.Count(e.Value) + " times, until " + e.End.String()
		}
		put("  %s %s[%d] thread %d in %s%s: %s\n", e.T.String(), e.Subject.Comm, e.Subject.PID, e.Subject.TID, e.Attrs["call"], on, times)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
