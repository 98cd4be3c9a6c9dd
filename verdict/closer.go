package verdict

import (
	"slices"
	"sort"
	"strings"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
)

// Look is a process that deserves the costly probes, and why.
type Look struct {
	PID int
	Why string
}

// inside are the probes that look into a process, and cost it something.
var inside = []string{"syscalls.", "offcpu.", "locks."}

// Closer lists the processes that are worth a closer look, the most pressing
// first: those that a symptom hurts and no culprit explains, those on which a
// suspect that could use the costly probes is suspected but not proved, and those
// of a culprit whose function they could name. Of a host on which all is well it is
// empty: then nothing costly is attached. Nor is it to what does not concern the target.
func Closer(v *Verdict) []Look {
	var l looks
	culprits := v.With(Culprit)
	for _, s := range worst(v.Symptoms) {
		if !s.Elsewhere && !explained(v, culprits, s) {
			l.add(v, s.Subject, s.Name+", not explained yet")
		}
	}
	for _, e := range v.Entries {
		if e.Elsewhere || !usesInside(e) {
			continue
		}
		switch {
		case e.State == NotSeen && e.Subject.Kind != "":
			l.addAll(v, e, e.Suspect.Name+" suspected")
		case e.State == Culprit, e.State == Contributing, e.State == Consequence:
			l.addAll(v, e, e.Suspect.Name+": to name the function")
		}
	}
	for _, p := range v.Ledger.Parties {
		if v.scope.ours(p) && inQueue(v.Recording, p) {
			l.add(v, p.Subject, "requests are open, and its threads wait at one futex word: a lock's, or for work")
		}
	}
	return l.all
}

// inQueue reports whether the answers of a service take long while none of its threads works for them, and
// several wait at one word: a semaphore that serves as a lock looks so, and so do long polls.
func inQueue(r *recording.Recording, p *ledger.Party) bool {
	if p.Role != ledger.Serves || p.Answered < slowFew || p.Mean < slowAnswer || p.Open < 1 || p.Share(ledger.Parked) < 0.5 {
		return false
	}
	waits, looks, second := map[ledger.Word]uint64{}, uint64(0), map[recording.Time]bool{}
	for _, row := range r.ThreadStates {
		if !slices.Contains(p.PIDs, row.PID) {
			continue
		}
		if !second[row.T] {
			second[row.T] = true
			looks += row.Looks
		}
		if row.Futex != 0 {
			waits[ledger.Word{PID: row.PID, Address: row.Futex}] += row.N
		}
	}
	for _, n := range waits {
		if n >= fewInQueue*looks {
			return true
		}
	}
	return false
}

// fewInQueue threads wait at one word, on average.
const fewInQueue = 2

// explained reports whether a culprit was found to lead to such a symptom, and
// touches who suffers.
func explained(v *Verdict, culprits []Entry, s scene.Symptom) bool {
	for _, e := range culprits {
		if !contains(e.LeadsTo, s.Name) && !throughOthers(v, e, s.Name) {
			continue
		}
		if v.Scene.Touch(e.Subject, s.Subject) {
			return true
		}
	}
	return false
}

// throughOthers reports whether what the culprit explains leads to the symptom.
func throughOthers(v *Verdict, culprit Entry, symptom string) bool {
	for _, e := range v.Entries {
		if e.ExplainedBy == culprit.ID && contains(e.LeadsTo, symptom) {
			return true
		}
	}
	return false
}

func worst(all []scene.Symptom) []scene.Symptom {
	out := append([]scene.Symptom(nil), all...)
	sort.SliceStable(out, func(i, j int) bool { return out[i].Held > out[j].Held })
	return out
}

func usesInside(e Entry) bool {
	for _, n := range e.Suspect.Needs {
		for _, prefix := range inside {
			if strings.HasPrefix(n.Measure, prefix) {
				return true
			}
		}
	}
	return false
}

// looks collects each process once, with the first reason.
type looks struct {
	all  []Look
	seen map[int]bool
}

func (l *looks) add(v *Verdict, sub recording.Subject, why string) {
	if l.seen == nil {
		l.seen = map[int]bool{v.Recording.Manifest.SelfPID: true, 0: true}
	}
	for _, pid := range processesOf(v.Scene, sub) {
		if !l.seen[pid] {
			l.seen[pid] = true
			l.all = append(l.all, Look{PID: pid, Why: why})
		}
	}
}

// addAll adds the subject of an entry, and the other processes of its name that the
// finding is about: a pool's workers, where the subject is who forked them.
func (l *looks) addAll(v *Verdict, e Entry, why string) {
	for _, sub := range e.Related {
		if sub.Kind == recording.KindProcess && sub.Comm == e.Subject.Comm && sub.PID != e.Subject.PID {
			l.add(v, sub, why)
		}
	}
	l.add(v, e.Subject, why)
}

// processesOf are the processes behind a subject: itself, the owners of a socket
// and of its other end on this host, those that serve or read a stream.
func processesOf(s *scene.Scene, sub recording.Subject) []int {
	if sub.PID != 0 {
		return []int{sub.PID}
	}
	n := s.Anchor(sub)
	if n == nil {
		return nil
	}
	if n.Subject.PID != 0 && n.Subject.Kind == recording.KindProcess {
		return []int{n.Subject.PID}
	}
	var out []int
	socket := func(id scene.NodeID) {
		if k := s.Socket(id); k != nil {
			for _, p := range k.Owners {
				out = append(out, p.Subject.PID)
			}
		}
	}
	socket(n.ID)
	if n.Subject.Kind == recording.KindStream {
		for _, id := range append(s.Neighbours(n.ID, scene.Feeds), s.Neighbours(n.ID, scene.Reads)...) {
			socket(id)
		}
	}
	return out
}
