package live

import (
	"fmt"
	"io"
	"sync"
	"time"

	"snag/internal/shown"
	"snag/probes/streams/watch"
)

// Lines writes what happens as plain lines: for a log, a pipe, a terminal that
// can't move its cursor.
type Lines struct {
	Group string // the key of the label by which the summary groups streams; "" for none

	mu sync.Mutex
	w  io.Writer
}

// NewLines writes to w.
func NewLines(w io.Writer) *Lines { return &Lines{w: shown.To(w)} }

// Event writes a line for what is news.
func (l *Lines) Event(h watch.Happened) {
	if text := Say(h); text != "" {
		l.line(toldAt(h).Wall(), "%s  %s", eventName(h), text)
	}
}

// Note writes what the watch says of itself.
func (l *Lines) Note(text string) { l.line(time.Now().UTC(), "snag: %s", text) }

// Verdict writes what the host's recording told of a stream.
func (l *Lines) Verdict(j watch.Judged) {
	l.line(time.Now().UTC(), "%s  %s", named(j.Stream, j.Layer), SayVerdict(j))
}

// maxGroups is how many groups a summary of lines has: the worst.
const maxGroups = 20

// Summary writes how all of it stands, and each group.
func (l *Lines) Summary(s *watch.Snapshot) {
	l.line(s.T.Wall(), "%s; %s", totals(s), own(s.Own))
	if l.Group == "" {
		return
	}
	groups := groupsOf(Sorted(s, ""), l.Group)
	for i := range groups[:min(len(groups), maxGroups)] {
		l.line(s.T.Wall(), "  %s", groups[i].String())
	}
	if over := len(groups) - maxGroups; over > 0 {
		l.line(s.T.Wall(), "  %d more groups, none of them worse", over)
	}
}

func (l *Lines) line(at time.Time, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, "%s  %s\n", at.Format("15:04:05.000"), shown.Sprintf(format, args...))
}
