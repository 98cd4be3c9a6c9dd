package sockets

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"snag/internal/kernel"
	"snag/internal/procroot"
	"snag/recording"
)

func (r *running) drainTurns(suffix string, epoch uint32) {
	if r.kernel.lacks["sockets.turns"] != nil {
		return
	}
	var rows []recording.Turns
	r.served, r.troubled = map[listenKey]bool{}, false
	missed := ""
	err := kernel.Drain(r.kernel.maps.Maps["turns"+suffix], "sockets", func(k *kernelTurnKey, v *kernelTurnValue) {
		row := turnRow(r.since, *k, *v, r.book)
		row.Measured = r.part
		if k.Flow.Family == unixFamily && !requestsAt(row) {
			return
		}
		rows = append(rows, row)
		if row.Missed > 0 {
			if missed = row.Local; row.Role == "call" {
				missed = row.Remote
			}
		}
		r.troubled = r.troubled || row.Role == "serve" && row.Failed > 0 || row.Cut > 0
		if k.Flow.Family == unixFamily && row.Role == "serve" {
			r.served[listenKey{row.Netns, row.Local}] = true
		}
	})
	if err == nil {
		err = r.kernel.cleared("turn_rows", epoch)
	}
	if err != nil {
		r.ledger.fail("sockets.turns", err)
	}
	if missed != "" {
		r.missed.seconds++
		r.missed.last = missed
	}
	for _, row := range foldTurns(rows, mostRows) {
		if row.PID != r.env.SelfPID || row.PID == 0 {
			r.env.Sink.Append(row)
			if why := slowTurns(row); why != "" {
				r.watchSlow(row, why)
			}
		}
	}
}

// watchSlow has a closer look at who was slow to answer. Who was forked for one connection may have ended since:
// then at the owner of the listener, which forks the next.
func (r *running) watchSlow(row recording.Turns, why string) {
	pid := cmp.Or(row.SlowPID, row.PID)
	if _, err := procroot.StartTime(r.env.Proc, pid); err != nil {
		if owner, ok := r.book.listener(row.Netns, row.Local); ok && owner.PID != 0 {
			pid = owner.PID
		}
	}
	r.env.Watch.Add(pid, why)
}

// What a server's threads do is worth a look once its answers take as long as people
// notice: a tenth of a second each, or one that is not there after a second; once one takes
// as long as a tick of theirs; and once so many are open that their time is worth booking.
const (
	slowMean = 0.1  // s
	slowMax  = 0.05 // s
	slowOpen = 1    // s
	manyOpen = 0.5  // at a moment, on average
)

// slowTurns is why the process of a row is looked at closely; "" if it is not.
func slowTurns(row recording.Turns) string {
	switch {
	case row.Role != "serve" || row.PID == 0:
		return ""
	case row.N > 0 && row.Sum/float64(row.N) >= slowMean:
		return fmt.Sprintf("its answers on %s took %.0f ms on average", row.Local, 1000*row.Sum/float64(row.N))
	case row.Max >= slowMax:
		return fmt.Sprintf("an answer on %s took %.0f ms", row.Local, 1000*row.Max)
	case row.Sum >= manyOpen: // request-seconds of a second
		return fmt.Sprintf("%.1f requests on %s were open at a moment", row.Sum, row.Local)
	case row.Oldest >= slowOpen:
		return fmt.Sprintf("a request on %s has waited %.1f s for its answer", row.Local, row.Oldest)
	}
	return ""
}

// cuts are what ended a connection before the answer (enum cut of tables.h).
var cuts = []string{"", recording.CutReset, recording.CutTimedOut, recording.CutHungUp}

// turnRow takes a row of the kernel's table. The process is the one that read or
// wrote first; of a socket that nobody has read yet it is the listener's.
func turnRow(t recording.Time, k kernelTurnKey, v kernelTurnValue, who names) recording.Turns {
	e := endsOf(k.Flow)
	if k.Flow.Family == unixFamily {
		e = unixEnds(k.Flow, who)
	}
	row := recording.Turns{
		T: t, Netns: e.netns, Role: "call", Local: e.localHost, Remote: e.remote,
		PID: int(v.Pid), Comm: kernel.Text(v.Comm[:]),
		N: v.N, Sum: seconds(v.Sum), Max: seconds(v.Max), Wait: seconds(v.Wait),
		Open: v.Open, Oldest: seconds(v.Oldest),
	}
	if k.Role == roleAccept {
		row.Role, row.Local, row.Remote = "serve", e.local, e.remoteHost
		find := who.listener
		if k.Udp != 0 {
			row.Proto, find = "udp", who.nameServer
		}
		if row.PID == 0 {
			if l, ok := find(e.netns, e.local); ok {
				row.PID, row.Comm = l.PID, l.Comm
			}
		}
	}
	if k.Others != 0 {
		row.Remote = others
	}
	if slow := int(v.SlowPid); slow != row.PID {
		row.SlowPID = slow
	}
	row.Missed, row.Untimed = v.Missed, v.Untimed
	if row.Failed = v.Failed; v.Failed > 0 {
		row.FailedAs = failedAs(v.FailedAs)
	}
	if row.Cut = v.Cut; v.Cut > 0 && int(v.CutBy) < len(cuts) {
		row.CutBy = cuts[v.CutBy]
	}
	last := len(v.Hist)
	for last > 0 && v.Hist[last-1] == 0 {
		last--
	}
	for _, n := range v.Hist[:last] {
		row.Hist = append(row.Hist, uint64(n))
	}
	return row
}

// foldTurns keeps the busiest pairs and adds the others up by listener or
// caller, their peers told as "others".
func foldTurns(rows []recording.Turns, most int) []recording.Turns {
	if len(rows) <= most {
		return rows
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].N+rows[i].Open > rows[j].N+rows[j].Open })
	out := rows[:most:most]
	type key struct {
		netns              uint64
		role, proto, local string
		pid                int
	}
	at := map[key]int{}
	for _, r := range rows[most:] {
		k := key{r.Netns, r.Role, r.Proto, r.Local, r.PID}
		i, ok := at[k]
		if !ok {
			r.Remote = others
			at[k] = len(out)
			out = append(out, r)
			continue
		}
		o := &out[i]
		o.N += r.N
		o.Sum += r.Sum
		o.Max = max(o.Max, r.Max)
		o.Wait += r.Wait
		o.Failed += r.Failed
		o.Cut += r.Cut
		o.Missed += r.Missed
		o.Untimed += r.Untimed
		o.Open += r.Open
		o.Oldest = max(o.Oldest, r.Oldest)
		o.Hist = addHist(o.Hist, r.Hist)
	}
	return out
}

func addHist(a, b []uint64) []uint64 {
	if len(b) > len(a) {
		a, b = slices.Clone(b), a
	}
	for i, n := range b {
		a[i] += n
	}
	return a
}
