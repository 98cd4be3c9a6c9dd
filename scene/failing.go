package scene

import (
	"fmt"
	"slices"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// Five failed calls are more than somebody's reload button; a service of which
// fewer than 1 in 200 connections fail has clients that come and go.
const (
	failedFloor = 5
	failedShare = 0.005
)

// failures are the errors that tell a TCP user of a connection that broke or was
// never made.
var failures = []string{
	"EPIPE", "ECONNRESET", "ECONNREFUSED", "ECONNABORTED", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH",
	"EMFILE", "ENFILE", "EADDRNOTAVAIL",
}

// fails reports whether an error is one of these, or says that the backlog of a UNIX listener
// was full: then connect does not wait, if it may not.
func fails(e recording.CallError) bool {
	return slices.Contains(failures, e.Errno) || e.Call == "connect" && e.Errno == "EAGAIN"
}

// failing is what one process or listener was told by its calls.
type failing struct {
	subject recording.Subject
	kinds   map[string]float64 // "recv ECONNRESET"
	rows    []recording.CallError
}

// failedCalls: errors that calls returned to a process, or that the kernel put on
// its connections. Each failure counts once: a broken connection puts an error on
// the socket and returns it from the next call, and the next write gets EPIPE.
func failedCalls(s *Scene, r *recording.Recording) []Symptom {
	by := map[NodeID]*failing{}
	var order []*failing
	refused, cuts := Refusals(r), CutsMeasured(r)
	for _, e := range r.CallErrors {
		if e.PID == 0 && e.Errno == "ECONNREFUSED" {
			e.PID, e.Comm = callerOf(refused, e)
		}
		if e.PID == 0 || e.PID == r.Manifest.SelfPID || e.Proto != "" && e.Proto != "tcp" || !fails(e) || probing(r, e) {
			continue
		}
		if cuts && e.Proto == "tcp" && (e.Errno == "ECONNRESET" || e.Errno == "EPIPE") {
			continue // whether anybody waited on them is known: see cutRequests
		}
		sub := failedSubject(s, e)
		id := IDOf(sub)
		if by[id] == nil {
			by[id] = &failing{subject: sub, kinds: map[string]float64{}}
			order = append(order, by[id])
		}
		by[id].kinds[e.Call+" "+e.Errno] += float64(e.N)
		by[id].rows = append(by[id].rows, e)
	}
	var out []Symptom
	for _, f := range order {
		n, most := f.count()
		if recording.StandsIn(f.subject.PID) && !f.often() {
			continue
		}
		of := connectionsOf(s, r, f.subject)
		if n < failedFloor || of > 0 && n < failedShare*of {
			continue
		}
		var active []recording.Interval
		for _, row := range f.rows {
			active = append(active, second(row.T))
		}
		sym := Symptom{
			Name: ConnectionErrors, Subject: f.subject, Active: intervals.Merge(active, 0), Amount: n, Unit: "errors",
			Text: fmt.Sprintf("%s connections or calls failed (%s)", units.Count(n), most),
		}
		if of > 0 {
			sym.Share = min(1, n/of)
		}
		out = append(out, onset(sym, s))
	}
	return out
}

// callerOf is who misses a connection that was refused, 0 for nobody: the answer comes when no
// process runs, and the connections to that address tell whose they were.
func callerOf(refused []*Refusal, e recording.CallError) (pid int, comm string) {
	for _, c := range refused {
		if c.Netns == e.Netns && c.Remote == e.Remote && c.Missed() {
			return c.PID, c.Comm
		}
	}
	return 0, ""
}

// failedSubject is the listener whose connections fail, else the process.
func failedSubject(s *Scene, e recording.CallError) recording.Subject {
	if e.Local != "" {
		if l := s.ListenerOn(e.Netns, e.Local); l != nil {
			return l.Subject
		}
	}
	if p := s.Process(e.PID); p != nil {
		return p.Subject
	}
	return recording.Subject{Kind: recording.KindProcess, PID: e.PID, Comm: e.Comm, Netns: e.Netns}
}

// count is the number of failures, and what most of them were. An error of the
// socket is the same as that of the call that was told of it.
func (f *failing) count() (n float64, most string) {
	var calls, sockets, best float64
	for kind, c := range f.kinds {
		if strings.HasPrefix(kind, "socket ") {
			sockets += c
		} else {
			calls += c
		}
		if c > best || c == best && kind < most {
			best, most = c, kind
		}
	}
	return max(calls, sockets), most
}

// probing reports that the peer never sends a byte: a health check that connects
// and resets, which hurts nobody.
func probing(r *recording.Recording, e recording.CallError) bool {
	if e.Errno != "ECONNRESET" || e.Remote == "" {
		return false
	}
	closed := uint64(0)
	for _, c := range r.Connections {
		if c.Role != "accept" || c.Netns != e.Netns || recording.Port(c.Local) != recording.Port(e.Local) || c.Remote != recording.Host(e.Remote) {
			continue
		}
		if c.BytesIn > 0 || c.BytesOut > 0 {
			return false
		}
		closed += c.Closed
	}
	return closed > 0
}

// connectionsOf is how many connections a listener or a process opened or took.
func connectionsOf(s *Scene, r *recording.Recording, sub recording.Subject) float64 {
	n := 0.0
	for _, c := range r.Connections {
		switch {
		case sub.Kind == recording.KindListener && c.Role == "accept" && c.Netns == sub.Netns && recording.Port(c.Local) == recording.Port(sub.Local),
			sub.Kind == recording.KindProcess && c.PID == sub.PID:
			n += float64(c.Opened + c.Failed)
		}
	}
	return n
}
