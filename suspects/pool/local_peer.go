package pool

import (
	"cmp"
	"fmt"
	"sort"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// localPeer is whom a pool asks over UNIX sockets: a database or an application server on
// the same host. Where there are no request turns of them (older kernels), the closer look reports how long threads
// wait in reads from there, and who is at the other end.
type localPeer struct {
	process *pool
	fd      *recording.FD // one of the connections; nil where nobody looked closer
	waits   *offTime      // in reads from there; nil the same
	waited  int           // looks at which a thread slept in such a read
	waiters int           // most threads in one of them
	looks   int
}

// localPeerOf finds the peer whose reads take most of the pool's time; nil for none.
func localPeerOf(p *pool, r *recording.Recording) *localPeer {
	l := &localPeer{process: p}
	l.look()
	by := map[string]*recording.FD{}
	fds := map[[2]int]*recording.FD{}
	for i, fd := range r.FDs {
		if p.worker(fd.PID) != nil && fd.Kind == "socket" && fd.Proto == "unix" && (fd.Remote != "" || fd.PeerPID != 0) {
			fds[[2]int{fd.PID, fd.FD}] = &r.FDs[i]
			by[keyOf(fd)] = &r.FDs[i]
		}
	}
	for _, key := range sortedKeys(by) {
		waits := offCPUOf(p, r, func(row recording.OffCPU) bool {
			if row.Reason != recording.WaitSocket || row.FD == nil || !measure.ReadCalls[row.Call] {
				return false
			}
			fd := fds[[2]int{row.PID, *row.FD}]
			return fd != nil && keyOf(*fd) == key
		})
		if waits != nil && (l.waits == nil || waits.sum > l.waits.sum) {
			l.fd, l.waits = by[key], waits
		}
	}
	if l.waits == nil && l.waited == 0 {
		return nil
	}
	return l
}

// keyOf takes the connections to one service together, whose own processes may be many.
func keyOf(fd recording.FD) string { return cmp.Or(fd.Remote, fd.PeerComm) }

func sortedKeys(of map[string]*recording.FD) []string {
	out := make([]string, 0, len(of))
	for k := range of {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// look counts the looks at which a thread slept in a read from a UNIX socket, by where in
// the kernel (net/unix/af_unix.c).
func (l *localPeer) look() {
	looks := l.process.looks()
	l.looks = len(looks)
	for _, at := range looks {
		n := 0
		for _, row := range at.Rows {
			if measure.ReadCalls[row.Syscall] && strings.HasPrefix(row.Wchan, "unix_stream_read") {
				n++
			}
		}
		if n > 0 {
			l.waited++
		}
		l.waiters = max(l.waiters, n)
	}
}

// who is at the other end, for a person.
func (l *localPeer) who() string {
	switch {
	case l.fd == nil:
		return "a service on this host, over a UNIX socket"
	case l.fd.PeerPID == 0:
		return l.fd.Remote
	case l.fd.Remote == "":
		return fmt.Sprintf("%s[%d]", l.fd.PeerComm, l.fd.PeerPID)
	}
	return fmt.Sprintf("%s (it is %s[%d])", l.fd.Remote, l.fd.PeerComm, l.fd.PeerPID)
}

func (l *localPeer) finding(s *scene.Scene, r *recording.Recording) (suspect.Finding, bool) {
	p := l.process
	_, mean, answers := tookInside(r, p, s.Window)
	late := answers > 0 && mean >= longCall
	// One look is enough to ask for a closer one: alone it accuses nobody.
	held := l.waited >= 1 && 2*l.waited >= l.looks
	slow := l.waits != nil && l.waits.mean() >= longCall
	if !late || !slow && !held {
		return suspect.Finding{}, false // what is quick, or what nobody was seen to wait for
	}
	f := suspect.Finding{Subject: p.head.Subject, Related: p.related(), Text: fmt.Sprintf("%s waits for %s", p.named(), l.who())}
	if l.waited > 0 {
		looks, share := measure.ShareOf(l.waited, l.looks)
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: share, Unit: "share", Source: p.source(), Origin: "threads' calls",
			Text: fmt.Sprintf("in %s samples up to %s of it slept in a read from a UNIX socket; its own %s answers took %s inside", looks, units.Plural(l.waiters, "thread"), units.Count(float64(answers)), units.Lasting(mean))}
		if held {
			e.Grade = suspect.Strong
		}
		f.Evidence = append(f.Evidence, e)
	}
	if l.waits == nil {
		return f, true // suspected: the closer look reports who it is, and for how long
	}
	f.Subject = recording.Subject{Kind: recording.KindPeer, Netns: p.head.Subject.Netns, Proto: "unix", Remote: keyOf(*l.fd), PID: p.head.Subject.PID, Comm: p.head.Subject.Comm}
	f.Related = append(f.Related, p.head.Subject)
	if peer := s.Process(l.fd.PeerPID); peer != nil {
		f.Related = append(f.Related, peer.Subject)
	}
	f.Text += fmt.Sprintf(": %s a wait on average, %s at the longest", units.Lasting(l.waits.mean()), units.Lasting(l.waits.max))
	f.Evidence = append(f.Evidence, l.waitEvidence(s, r))
	each := min(mean, l.waits.mean())
	f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: each, Unit: "s", Text: fmt.Sprintf("%s of each answer's %s is the wait for %s", units.Lasting(each), units.Lasting(mean), keyOf(*l.fd))}
	f.Remedy = quickerCalls(l.who(), p.head.Subject.Comm, l.waits.mean())
	f.Next = fmt.Sprintf("snag blocked --pid %d   # its threads, with who is at the other end", p.workers[0].Subject.PID)
	if l.fd.PeerPID != 0 {
		f.Next = fmt.Sprintf("snag find --pid %d   # %s", l.fd.PeerPID, l.fd.PeerComm)
	}
	return f, true
}

// waitEvidence compares the waits with the time that answers took inside, while the
// scheduler was watched: threads of an idle pool of connections wait for long too, and
// for much longer than that together.
func (l *localPeer) waitEvidence(s *scene.Scene, r *recording.Recording) suspect.Evidence {
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: l.waits.mean(), Unit: "s", Source: source.OffCPUOf.And(source.Of("descriptors (fds)")), Origin: "off-CPU",
		Text: fmt.Sprintf("%s of it were off the CPU in a read from there %s, %s each on average, %s at the longest", units.Plural(max(len(l.waits.threads), 1), "thread"), units.Times(int(l.waits.n)), units.Lasting(l.waits.mean()), units.Lasting(l.waits.max))}
	if in := measure.OwnFunctions(r, l.waits.stack); in != "" {
		e.Text += ", in " + in
	}
	inside := 0.0
	for _, p := range l.process.workers {
		if watched, ok := measure.WatchedWaits(p, r, s.Window); ok {
			t := measure.TurnsOf(r, p.Subject.PID, "serve", "", []recording.Interval{watched})
			inside += max(0, t.Sum-t.Wait)
		}
	}
	if inside > 0 && agrees(l.waits.sum, inside) {
		e.Grade = suspect.Decisive
		e.Text += fmt.Sprintf(": %s in all, and its own answers of that time took %s inside", units.Lasting(l.waits.sum), units.Lasting(inside))
	}
	return e
}

// quickerCalls is what helps who waits for another's answers, for so long on average.
func quickerCalls(whose, comm string, each float64) suspect.Remedy {
	out := suspect.Remedy{Permanently: fmt.Sprintf("Find out what holds up %s.", whose), Program: fmt.Sprintf("%s: a timeout for that call, and fewer calls to it for an answer.", comm)}
	if each > 0 {
		out.Program = fmt.Sprintf("%s: a timeout below %s for that call, and fewer calls to it for an answer.", comm, units.Lasting(each))
	}
	return out
}
