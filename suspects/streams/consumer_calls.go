package streams

import (
	"cmp"
	"fmt"

	"snag/internal/sorting"
	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// stuckWrites is a consumer as the calls alone tell of it: a descriptor in whose writes one
// thread sat for whole seconds, and how the thread's process served its others meanwhile.
type stuckWrites struct {
	relay  *scene.Process
	fd     recording.FD
	tid    int
	call   string
	stuck  []recording.Interval
	inside float64 // s in those writes
	most   float64 // s, the longest

	others, frozen, flowing int
	// held are those that the same thread alone serves: in what it leaves of the seconds.
	held   int
	free   int // seconds in which it was not stuck
	ingest int // descriptors that it read when free and not when stuck
}

// stuckShare of a second that a thread sits in writes to one consumer: what is left is
// not enough for the others.
const stuckShare = 0.6

// heldShare of the seconds that it was stuck in: whoever the same thread serves gets the
// rest of them, in bursts.
const heldShare = 0.8

type fdSecond struct {
	fd int
	at recording.Time
}

// consumerByCalls finds the descriptor that a process was stuck on most, where nothing but
// its calls was seen: of sockets whose queues are known consumerOf tells more.
// mine are the rows of its calls.
func consumerByCalls(p *scene.Process, r *recording.Recording, mine []int) *stuckWrites {
	type writer struct {
		tid, fd int
	}
	in, seconds, last := map[writer]map[recording.Time]float64{}, map[recording.Time]bool{}, map[writer]recording.Call{}
	wrote, read, writers := map[fdSecond]uint64{}, map[fdSecond]uint64{}, map[int]map[int]bool{}
	for _, i := range mine {
		row := &r.Calls[i]
		at := measure.OneSecond(row.T).Start
		seconds[at] = true
		k := fdSecond{row.FD, at}
		switch {
		case row.FD < 0:
		case writes[row.Call]:
			w := writer{row.TID, row.FD}
			if in[w] == nil {
				in[w] = map[recording.Time]float64{}
			}
			in[w][at] += row.Sum
			if l := last[w]; row.Max >= l.Max {
				last[w] = *row
			}
			if writers[row.FD] == nil {
				writers[row.FD] = map[int]bool{}
			}
			writers[row.FD][row.TID] = true
			if row.Done != nil {
				wrote[k] += *row.Done
			}
		case measure.ReadCalls[row.Call] && row.Done != nil:
			read[k] += *row.Done
		}
	}
	var best *stuckWrites
	for w, by := range in {
		c := &stuckWrites{relay: p, tid: w.tid, call: last[w].Call, most: last[w].Max}
		stuck := map[recording.Time]bool{}
		for at, s := range by {
			if s >= stuckShare {
				stuck[at] = true
				c.inside += s
				c.stuck = append(c.stuck, measure.OneSecond(at))
			}
		}
		if c.inside < stuckFor.Seconds() {
			continue
		}
		var ok bool
		if c.fd, ok = socketFD(r, p.Subject.PID, w.fd); !ok {
			continue
		}
		sorting.By(c.stuck, func(a, b recording.Interval) int { return int(a.Start - b.Start) })
		c.stuck = intervals.Merge(c.stuck, 0)
		c.look(r, seconds, stuck, wrote, read, writers)
		if c.others > 0 && (best == nil || c.inside > best.inside || c.inside == best.inside && c.fd.FD < best.fd.FD) {
			best = c
		}
	}
	return best
}

// socketFD is the connection that a descriptor was, where it is one.
func socketFD(r *recording.Recording, pid, fd int) (recording.FD, bool) {
	var out recording.FD
	for i := range r.FDs { // large rows: none is copied
		if row := &r.FDs[i]; row.PID == pid && row.FD == fd && row.Kind == "socket" && row.Proto != "netlink" && row.T >= out.T {
			out = *row
		}
	}
	return out, out.PID != 0
}

// tracedCalls are the rows of each process' calls, where they are of a trace.
func tracedCalls(r *recording.Recording) map[int][]int {
	if !suspect.Traced(r) {
		return nil
	}
	of := map[int][]int{}
	for i := range r.Calls {
		of[r.Calls[i].PID] = append(of[r.Calls[i].PID], i)
	}
	return of
}

// look compares the seconds in which it was stuck with the others.
func (c *stuckWrites) look(r *recording.Recording, seconds, stuck map[recording.Time]bool, wrote, read map[fdSecond]uint64, writers map[int]map[int]bool) {
	c.free = len(seconds) - len(stuck)
	rates := func(of map[fdSecond]uint64) map[int][2]float64 {
		sums := map[int][2]float64{}
		for k, n := range of {
			s := sums[k.fd]
			if stuck[k.at] {
				s[0] += float64(n) / float64(len(stuck))
			} else {
				s[1] += float64(n) / float64(c.free)
			}
			sums[k.fd] = s
		}
		return sums
	}
	for fd, rate := range rates(wrote) {
		if _, ok := socketFD(r, c.fd.PID, fd); !ok || fd == c.fd.FD {
			continue
		}
		switch {
		case rate[1] == 0 && rate[0] == 0:
			continue
		case rate[0] < nextToNothing*rate[1]:
			c.frozen++
		case len(writers[fd]) == 1 && writers[fd][c.tid] && c.inside >= heldShare*float64(len(stuck)):
			c.held++
		case rate[0] > 0:
			c.flowing++
		}
		c.others++
	}
	for fd, rate := range rates(read) {
		if _, ok := socketFD(r, c.fd.PID, fd); ok && rate[0] < nextToNothing*rate[1] {
			c.ingest++
		}
	}
}

// who sat in them; where there were many rows, threads were taken together.
func (c *stuckWrites) who() string {
	if c.tid == 0 {
		return "a thread of it"
	}
	return fmt.Sprintf("its thread %d", c.tid)
}

func (c *stuckWrites) finding(s *scene.Scene) suspect.Finding {
	who := cmp.Or(c.fd.Remote, fmt.Sprintf("the peer on descriptor %d (%s)", c.fd.FD, c.fd.Text()))
	f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindSocket, Proto: c.fd.Proto, Local: c.fd.Local, Remote: c.fd.Remote, PID: c.relay.Subject.PID, Comm: c.relay.Subject.Comm},
		Active: c.stuck, Related: []recording.Subject{c.relay.Subject, {Kind: recording.KindThread, PID: c.relay.Subject.PID, TID: c.tid}}}
	if k := measure.SocketOn(c.relay, c.fd.FD); k != nil && k.First().Remote == c.fd.Remote {
		f.Subject = k.Subject
	}
	stuck := intervals.Seconds(c.stuck, s.Window.End)
	f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: c.inside, Unit: "s", Source: source.Of("strace -f -T -p PID"), Origin: "system call",
		Text: fmt.Sprintf("%s sat in %s on descriptor %d (%s) for %s of %s, at the longest %s at a time", c.who(), c.call, c.fd.FD, c.fd.Text(), units.Lasting(c.inside), units.Lasting(stuck), units.Lasting(c.most))})
	others := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(c.frozen), Unit: "sockets", Source: source.Of("strace -f -yy -p PID"), Origin: "the other sockets"}
	if c.held == 0 && c.frozen <= c.flowing {
		others.Side, others.Grade = suspect.Against, suspect.Decisive
		others.Text = fmt.Sprintf("%d of %d other sockets of this process were written to all along: the relay does not block on this one", c.flowing, c.others)
		f.Evidence[0].Grade = suspect.Weak
		f.Evidence = append(f.Evidence, others)
		f.Text = fmt.Sprintf("a consumer that does not read for %s, and delays no other consumer", units.Lasting(stuck))
		return f
	}
	others.Value = float64(c.frozen + c.held)
	others.Text = fmt.Sprintf("%d of %d other sockets were written next to nothing in those seconds, and were in the %d others", c.frozen, c.others, c.free)
	if c.held > c.frozen {
		others.Text = fmt.Sprintf("%d of %d other sockets are written by that thread alone, in the %.0f %% of those seconds that were left", c.held, c.others, 100*(1-c.inside/stuck))
	}
	if c.ingest > 0 {
		others.Text += fmt.Sprintf("; nor did it read %s", units.Plural(c.ingest, "socket")+" that it reads otherwise")
	}
	f.Evidence = append(f.Evidence, others)
	f.Text = fmt.Sprintf("%s did not read for %s; %s writes to it and does nothing else: %s", who, units.Lasting(stuck), c.relay.Subject.Name, c.harmed())
	n := float64(c.frozen + c.held)
	f.Harm = suspect.Harm{Symptom: scene.StreamFreeze, Amount: c.inside * n, Of: s.Window.Length(s.Window.End).Seconds() * n, Unit: "s",
		Text: fmt.Sprintf("%s stopped for %s each, up to %s at a time", units.Plural(c.frozen+c.held, "consumer"), units.Lasting(c.inside), units.Lasting(c.most))}
	f.Remedy = suspect.Remedy{Program: fmt.Sprintf("%s: a bounded queue for each consumer, writes that do not block, TCP_USER_TIMEOUT (5 s).", cmp.Or(c.relay.Subject.Comm, "the relay"))}
	f.Next = "ss -tnpomi state established"
	if c.fd.Remote != "" {
		host := recording.Host(c.fd.Remote)
		if remedy.GoesOn(f.Active, s.Window) {
			f.Remedy.Now = remedy.Close(s, c.relay.Subject.Netns, c.fd.Local, c.fd.Remote)
		}
		f.Next += " dst " + host
	}
	return f
}

// harmed says what became of the others.
func (c *stuckWrites) harmed() string {
	if c.held > c.frozen {
		return fmt.Sprintf("%s had to wait for that thread, up to %s at a time", units.Plural(c.held, "other"), units.Lasting(c.most))
	}
	return fmt.Sprintf("%d other consumers froze", c.frozen)
}

// consumerCalls keep one reader from holding the others; in is where in the program.
func consumerCalls(relay recording.Subject, in string) []suspect.Call {
	who := suspect.WhoseCall(relay)
	return []suspect.Call{
		{Who: who, Do: "fcntl(fd, F_SETFL, O_NONBLOCK) on consumers, and a bounded queue for each (drop from its oldest key frame on when it is full)", Why: "in " + in + " a write to one consumer waits, and nothing else is done meanwhile"},
		{Who: who, Do: "setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 5000)", Why: "a consumer that takes nothing for 5 s is closed"},
	}
}
