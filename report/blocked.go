package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"snag/internal/shown"
	"snag/internal/sorting"
	"snag/recording"
)

// BlockedThread is a thread that sits in a call.
type BlockedThread struct {
	PID     int     `json:"pid"`
	TID     int     `json:"tid"`
	Comm    string  `json:"comm"`
	Call    string  `json:"call"`
	FD      string  `json:"fd,omitempty"`
	Seconds float64 `json:"seconds"`
	// AtLeast reports that it may be longer: the call had begun before anybody looked.
	AtLeast bool   `json:"at_least,omitempty"`
	On      string `json:"on,omitempty"`    // what it waits for: the descriptor, the lock and its holder
	State   string `json:"state,omitempty"` // of the thread: S, D, T
	Wchan   string `json:"wchan,omitempty"` // kernel function it sleeps in
	// Idle reports that threads without work sit in this call.
	Idle bool `json:"idle,omitempty"`
	// Lock is the address of the lock that it waits for, as hexadecimal, and Holder the
	// thread that has it, where the lock's own word tells.
	Lock   string `json:"lock,omitempty"`
	Holder int    `json:"holder,omitempty"`
}

// BlockedIn lists the threads that sat in a call when the recording ended: those
// that are stuck first, the longest first.
func BlockedIn(r *recording.Recording) []BlockedThread {
	out := []BlockedThread{}
	for _, e := range r.Events {
		if e.Kind != recording.EventBlocked || e.End != 0 {
			continue
		}
		a := e.Attrs
		out = append(out, BlockedThread{
			PID: e.Subject.PID, TID: e.Subject.TID, Comm: e.Subject.Comm, Call: a["call"], FD: a["fd"], Seconds: e.Value,
			AtLeast: a["begun"] == "before", On: a["name"], State: a["state"], Wchan: a["wchan"], Idle: a["idle"] == "yes",
		})
	}
	SortBlocked(out)
	return out
}

// SortBlocked puts those that are stuck first, the longest first, and the idle last.
func SortBlocked(rows []BlockedThread) {
	sorting.StableBy(rows, func(a, b BlockedThread) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.PID, b.PID), cmp.Compare(a.TID, b.TID))
	})
}

// RingWait are operations of io_uring of one kind that were in flight at both looks, on
// a ring on which none completed in between. No thread waits in them.
type RingWait struct {
	PID  int    `json:"pid"`
	Comm string `json:"comm"`
	Ring int    `json:"ring"` // its descriptor
	Call string `json:"call"`
	N    int    `json:"n"`
	Idle bool   `json:"idle,omitempty"` // as of threads
}

// rank puts first what is rarely well: waits for locks and disks, writes, the network;
// then who reads what another process on the host has not written yet, which a shell
// and a logger do all day; then the idle.
func (t *BlockedThread) rank() int {
	switch {
	case t.Idle:
		return 2
	case t.listens():
		return 1
	}
	return 0
}

// listens reports whether it reads from a pipe, a unix socket or a terminal.
func (t *BlockedThread) listens() bool {
	local := strings.HasPrefix(t.On, "pipe:") || strings.HasPrefix(t.On, "tty ") || strings.HasPrefix(t.On, "unix")
	return local && readCalls[strings.TrimSuffix(t.Call, "/32")] && t.State != "D"
}

// Blocked is what snag blocked found (docs/syscalls.md has the JSON).
type Blocked struct {
	Processes int             `json:"processes"`
	Threads   int             `json:"threads"`
	Running   int             `json:"running"` // on a CPU, or about to be
	Left      int             `json:"left"`    // threads that were not looked at: too many
	Refused   int             `json:"refused"` // threads whose calls may not be read: nothing is known of them
	Seconds   float64         `json:"seconds"` // between the two looks
	Blocked   []BlockedThread `json:"blocked"`
	Waiting   []RingWait      `json:"waiting"` // operations of io_uring in flight
	Warnings  []string        `json:"warnings"`
}

// WriteBlocked writes it for a person; idle threads are counted, unless all are
// wanted.
func WriteBlocked(w io.Writer, v *Blocked, o TableOptions, all bool) error {
	o = o.orDefault()
	var b strings.Builder
	var ranks [3]int
	for _, t := range v.Blocked {
		ranks[t.rank()]++
	}
	text := fmt.Sprintf("%s of %s, twice in %s: ", counted(v.Threads, "thread", "threads"), counted(v.Processes, "process", "processes"), seconds(v.Seconds))
	known := v.Threads - v.Refused
	switch {
	case v.Threads == 0:
		text = "none of those processes has a thread now: they have ended"
	case known <= 0:
		text += "the calls of none may be read, so that nothing is known"
	default:
		text += fmt.Sprintf("%d stuck, %d at a quiet pipe or terminal, %d idle, %d ran", ranks[0], ranks[1], ranks[2], max(known-len(v.Blocked), 0))
		if v.Refused > 0 {
			text += fmt.Sprintf(", %d not known", v.Refused)
		}
	}
	paragraph(&b, o, text)
	if ranks[0] == 0 && known > 0 && v.Refused == 0 && v.Left == 0 {
		b.WriteString("no thread is stuck\n")
	}
	writeBlocked(&b, writeLocks(&b, v.Blocked, o), o, all)
	for _, r := range v.Waiting {
		text := fmt.Sprintf("%s in flight on ring %d of %s[%d] for %s and more: %d", r.Call, r.Ring, r.Comm, r.PID, seconds(v.Seconds), r.N)
		if r.Idle {
			text += ", as when there is no work"
		}
		line(&b, o, "%s", text)
	}
	for _, s := range v.Warnings {
		paragraph(&b, o, "! "+s)
	}
	_, err := io.WriteString(shown.To(w), b.String())
	return err
}

// WriteBlockedJSON writes it for programs.
func WriteBlockedJSON(w io.Writer, v *Blocked) error {
	e := json.NewEncoder(shown.JSON(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// writeBlocked writes a line or two a thread, and how many are idle.
func writeBlocked(b *strings.Builder, rows []BlockedThread, o TableOptions, all bool) {
	idle, shown := map[string]int{}, 0
	left, quiet := 0, 0
	for _, t := range rows {
		if t.Idle && !all {
			idle[t.Call]++
			continue
		}
		if shown++; shown > o.Most || t.listens() && quiet >= o.Most/4 && !all {
			left++
			continue
		}
		if quiet == 0 && t.listens() {
			line(b, o, "reading from a pipe, a unix socket or a terminal where nothing came; well, where nothing is due")
		}
		if t.listens() {
			quiet++
		}
		text := fmt.Sprintf("%10s  %s %s", t.since(), t.name(), t.call())
		if t.Wchan != "" {
			text += " in " + t.Wchan
		}
		if t.State == "D" {
			text += " (uninterruptible)"
		}
		if both := text + " · " + t.On; t.On != "" && utf8.RuneCountInString(both) <= o.Width {
			line(b, o, "%s", both)
			continue
		}
		line(b, o, "%s", text)
		if t.On != "" {
			line(b, o, "%12s%s", "", t.On)
		}
	}
	if left > 0 {
		line(b, o, "and %d more: --top", left)
	}
	if len(idle) > 0 {
		type one struct {
			call string
			n    int
		}
		var counts []one
		sum := 0
		for call, n := range idle {
			counts = append(counts, one{call, n})
			sum += n
		}
		sortDown(counts, func(a one) (float64, string) { return float64(a.n), a.call })
		text := counted(sum, "idle thread waits", "idle threads wait") + " for work: "
		for i, c := range counts {
			if i > 0 {
				text += ", "
			}
			text += fmt.Sprintf("%s %d", c.call, c.n)
		}
		paragraph(b, o, text)
	}
}

// since is how long it sat there, marked where it may be longer.
func (t *BlockedThread) since() string {
	if t.AtLeast {
		return "≥ " + seconds(t.Seconds)
	}
	return seconds(t.Seconds)
}

func (t *BlockedThread) name() string { return fmt.Sprintf("%s[%d/%d]", t.Comm, t.PID, t.TID) }

func (t *BlockedThread) call() string {
	if t.FD == "" {
		return t.Call
	}
	return t.Call + "(" + t.FD + ")"
}

// sortDown sorts by a number, the largest first, then by a name.
func sortDown[T any](all []T, key func(T) (float64, string)) {
	sorting.By(all, func(a, b T) int {
		x, nx := key(a)
		y, ny := key(b)
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(nx, ny))
	})
}

// paragraph writes a sentence on as many lines as it needs, later ones indented.
func paragraph(b *strings.Builder, o TableOptions, text string) {
	for i, l := range wrap(text, o.Width-2) {
		if i > 0 {
			b.WriteString("  ")
		}
		b.WriteString(l + "\n")
	}
}
