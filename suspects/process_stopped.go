package suspects

import (
	"fmt"
	"strings"
	"time"

	"snag/recording"
	"snag/scene"
)

var processStopped = &Suspect{
	Name:  "process-stopped",
	Title: "a process is stopped (SIGSTOP)",
	About: "Somebody stopped a process: it exists, holds its sockets, and does nothing. What is sent to it fills its queues, its peers see a closed window, and all that it serves freezes at once. " +
		"A pause of a language runtime makes the same gaps, and leaves the process in state S or R.",
	Needs: []Need{
		{Measure: "host.processes", Must: true, Why: "state T of a process, from when to when"},
		{Measure: "sockets.diag", Why: "data that waits at its sockets meanwhile"},
		{Measure: "sockets.signals", Why: "who sent SIGSTOP"},
	},
	For: []string{
		"decisive: the process was in state T (t: under a debugger) in sample after sample",
		"strong: data lay at its sockets, or at its peers', while it stood still",
		"weak: SIGSTOP was sent to it, by whom",
	},
	Against: []string{
		"nobody waits for it: no data at its sockets (a stopped editor): a risk at most",
		"trap: an idle server is in state S and quiet; a GC pause has the gaps without the state",
	},
	LeadsTo: []Lead{
		{To: "slow-consumer", Lag: 10 * time.Second}, {To: "udp-receive-buffer-full", Lag: 10 * time.Second}, {To: "listen-overflow", Lag: 10 * time.Second},
		{To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.ConnectLatency, Lag: 5 * time.Second},
		{To: scene.DatagramsLost, Lag: 10 * time.Second},
	},
	Remedy: "kill -CONT the process, and keep whoever sends SIGSTOP from it (a script, a debugger, job control of a shell). Verified by: state S or R, and its receive queues empty",
	Next:   "ps -eo pid,stat,wchan:20,comm | awk '$2 ~ /^[Tt]/'",
	Weigh:  weighStopped,
}

// A process that stood still for less was caught between two samples of a
// second; a debugger's break and job control last longer.
const stoppedLeast = 1.0 // s

func weighStopped(s *scene.Scene, r *recording.Recording) []Finding {
	stops := map[int][]recording.Interval{}
	var order []int
	for _, e := range r.Events {
		if e.Kind != recording.EventStopped {
			continue
		}
		if stops[e.Subject.PID] == nil {
			order = append(order, e.Subject.PID)
		}
		stops[e.Subject.PID] = append(stops[e.Subject.PID], e.Interval())
	}
	var out []Finding
	for _, pid := range order {
		p := s.Process(pid)
		still := totalLength(stops[pid], s.Window.End)
		if p == nil || still < stoppedLeast {
			continue
		}
		out = append(out, stoppedFinding(s, r, p, stops[pid], still))
	}
	return out
}

func stoppedFinding(s *scene.Scene, r *recording.Recording, p *scene.Process, stops []recording.Interval, still float64) Finding {
	window := s.Window.End.Sub(s.Window.Start).Seconds()
	f := Finding{Subject: p.Subject, Active: stops,
		Text:   fmt.Sprintf("it was stopped for %s of %s%s", lasting(still), lasting(window), times(len(stops))),
		Remedy: fmt.Sprintf("kill -CONT %d", p.Subject.PID),
		Next:   fmt.Sprintf("grep State /proc/%d/status", p.Subject.PID),
	}
	state := "T (stopped by a signal)"
	if p.Last().State == "t" {
		state = "t (stopped by a debugger)"
	}
	f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Decisive, Value: still, Unit: "s", Source: fmt.Sprintf("/proc/%d/stat", p.Subject.PID),
		Text: fmt.Sprintf("it was in state %s for %s%s", state, lasting(still), times(len(stops)))})

	waiting, where := waitedWhile(p, stops, s.Window.End)
	if waiting > 0 {
		f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Strong, Value: waiting, Unit: "s", Source: "ss -tun Recv-Q, Send-Q",
			Text: fmt.Sprintf("data waited for it during %s of them: %s", lasting(waiting), where)})
		f.Harm = Harm{Symptom: scene.StreamFreeze, Amount: waiting, Of: window, Unit: "s",
			Text: fmt.Sprintf("what it serves stood still for %s of %s", lasting(waiting), lasting(window))}
	} else if _, ok := r.Measured("sockets.diag"); ok {
		f.Evidence = append(f.Evidence, Evidence{Side: Against, Grade: Weak, Source: "ss -tun Recv-Q, Send-Q",
			Text: "no data waited at its sockets while it stood still"})
	}
	if who, sent := stopper(r, p.Subject.PID); sent > 0 {
		f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Weak, Value: float64(sent), Unit: "signals", Source: "tracepoint signal:signal_generate",
			Text: fmt.Sprintf("SIGSTOP was sent to it %s by %s", timesOf(sent), who.Name)})
		f.Related = append(f.Related, who)
		f.Text += " by " + who.Name
		f.Remedy += ", and keep " + who.Name + " from stopping it"
	}
	return f
}

func times(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(", %d times", n)
}

func timesOf(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// waitedWhile is for how long, within the stops, data lay at one of the
// process' sockets or at the other end of one: the longest of them.
func waitedWhile(p *scene.Process, stops []recording.Interval, end recording.Time) (float64, string) {
	longest, where := 0.0, ""
	for _, k := range p.Sockets {
		for _, side := range []struct {
			k    *scene.Socket
			text string
			has  func(recording.Socket) bool
		}{
			{k, "received and not read at " + k.First().Local, func(row recording.Socket) bool { return row.RecvQ > 0 }},
			{k.Peer, "not taken from " + k.First().Remote, func(row recording.Socket) bool { return row.SendQ > 0 }},
		} {
			if side.k == nil {
				continue
			}
			var spans []recording.Interval
			rows := side.k.Rows
			for i := 1; i < len(rows); i++ {
				if side.has(rows[i-1]) && side.has(rows[i]) {
					spans = append(spans, recording.Interval{Start: rows[i-1].T, End: rows[i].T})
				}
			}
			if got := overlap(mergeIntervals(spans, 0), stops, end).Seconds(); got > longest {
				longest, where = got, side.text
			}
		}
	}
	return longest, where
}

// stopper is who sent it SIGSTOP or its like, and how often.
func stopper(r *recording.Recording, pid int) (recording.Subject, int) {
	var who recording.Subject
	n := 0
	for _, e := range r.Events {
		if e.Kind != recording.EventSignal || e.Subject.PID != pid || !strings.HasPrefix(e.Attrs["signal"], "SIG") {
			continue
		}
		switch e.Attrs["signal"] {
		case "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU":
			n++
			who = recording.Subject{Kind: recording.KindProcess, Comm: e.Attrs["from_comm"],
				Name: fmt.Sprintf("%s[%s]", e.Attrs["from_comm"], e.Attrs["from_pid"])}
		}
	}
	return who, n
}
