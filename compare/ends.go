package compare

import (
	"cmp"
	"slices"
	"strings"

	"snag/internal/sorting"
	"snag/recording"
)

// ends counts processes that a signal ended which leaves no choice, by program and signal, and
// restarts of services.
func (c counts) ends(r *recording.Recording) {
	for _, x := range r.Exits {
		if x.Signal != "" && !asks(x.Signal) && x.PID != r.Manifest.SelfPID {
			c.add(r, "ends of "+cmp.Or(x.Comm, "a program")+" by "+x.Signal, x.T, x.N)
		}
	}
	for _, l := range servedOf(r) {
		for _, x := range l.restarts(r.Exits) {
			c.add(r, "restarts of "+l.name, x.T, x.N)
		}
	}
}

// asks reports whether a signal is sent to what is to end, or ends who writes to somebody that is gone.
func asks(signal string) bool {
	return slices.Contains([]string{"SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGPIPE"}, signal)
}

// served is where a service listens, and its main processes one after the other: workers that hold
// the socket of their parent are none.
type served struct {
	name string // as of a party: program and address
	comm string
	main []int
	last recording.Time // when somebody was last seen to listen
	// parents of the main processes: one that ended before anybody saw it listen has the same.
	parents map[int]bool
}

func servedOf(r *recording.Recording) (out []*served) {
	parent := map[int]int{}
	for _, x := range r.Exits {
		parent[x.PID] = x.PPID
	}
	for _, p := range r.Processes {
		parent[p.PID] = p.PPID
	}
	by := map[string]*served{}
	for _, k := range r.Sockets {
		if !strings.HasPrefix(k.State, "LISTEN") {
			continue
		}
		for _, o := range k.Owners {
			if slices.ContainsFunc(k.Owners, func(other recording.FDRef) bool { return other.PID == parent[o.PID] }) {
				continue
			}
			name := strings.TrimSpace(cmp.Or(o.Comm, "a service") + " " + k.Local)
			l := by[name]
			if l == nil {
				l = &served{name: name, comm: o.Comm, parents: map[int]bool{}}
				by[name] = l
				out = append(out, l)
			}
			if !slices.Contains(l.main, o.PID) {
				l.main = append(l.main, o.PID)
			}
			l.last = max(l.last, k.T)
			if ppid, ok := parent[o.PID]; ok {
				l.parents[ppid] = true
			}
		}
	}
	return out
}

// restarts are the ends of main processes after which another listened, or ended, in its place.
func (l *served) restarts(exits []recording.Exit) (out []recording.Exit) {
	for _, x := range exits {
		if slices.Contains(l.main, x.PID) || x.Comm == l.comm && l.parents[x.PPID] && !slices.Contains(l.main, x.PPID) {
			out = append(out, x)
		}
	}
	sorting.By(out, func(x, y recording.Exit) int { return cmp.Compare(x.T, y.T) })
	if n := len(out); n > 0 && l.last <= out[n-1].T {
		out = out[:n-1] // nobody came after it
	}
	return out
}
