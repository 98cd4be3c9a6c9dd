package suspects

import (
	"fmt"
	"slices"
	"time"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
)

var processStopped = &Suspect{
	Name:  "process-stopped",
	Title: "a process is stopped (SIGSTOP)",
	About: "Somebody stopped the process: it is in state T, all its sockets are quiet, and what is sent to it waits in their queues until it is full. " +
		"The gaps look like a long pause of its runtime, which leaves it in state S.",
	Needs: []Need{
		{Measure: "host.processes", Must: true, Why: "its state"},
		{Measure: "sockets.diag", Why: "what waits at its sockets meanwhile"},
		{Measure: "sockets.signals", Why: "who sent SIGSTOP and SIGCONT, and exactly when"},
		{Measure: "threads.state", Why: "its state once a second"},
	},
	For: []string{
		"decisive: state T at sample after sample",
		"strong: SIGSTOP (SIGTSTP, SIGTTIN, SIGTTOU) was sent to it",
		"strong: data waits at its sockets and is not read, or their streams stand still, for as long",
	},
	Against: []string{
		"decisive: it used CPU time between the samples that found it stopped (strace)",
		"state t is a debugger's stop (ptrace): said so",
		"strong: nothing waited at its sockets, or it has none (an editor put in the background): a risk",
	},
	LeadsTo: []Lead{
		{"error-answers", 10 * time.Second},
		{"server-stall", 5 * time.Second}, {"encoder-stall", 5 * time.Second}, {"reader-stall", 5 * time.Second},
		{scene.StreamFreeze, 5 * time.Second}, {scene.StreamLate, 5 * time.Second}, {scene.FramesSkipped, 10 * time.Second}, {scene.RequestLatency, 5 * time.Second}, {scene.ConnectLatency, 30 * time.Second},
		{scene.DatagramsLost, 10 * time.Second}, {scene.ConnectionErrors, time.Minute}, {"udp-receive-buffer-full", 10 * time.Second}, {"slow-consumer", 10 * time.Second}, {"listen-overflow", 30 * time.Second}, {"peer-reset", time.Minute}},
	Claims: []ledger.Account{ledger.Stopped},
	Remedy: Remedy{
		Now:     "kill -CONT PID",
		Program: "See what stopped it: a debugger, a script that backs up or freezes, a terminal's job control.",
	},
	Verified: "its state is S or R, and its receive queues drain",
	Next:     "ps -eo pid,stat,comm | awk '$2 ~ /^[Tt]/'; bpftrace -e 'tracepoint:signal:signal_generate /args.sig == 19/ { printf(\"%d -> %d\\n\", pid, args.pid) }'",
	Weigh:    weighStopped,
}

func weighStopped(s *scene.Scene, r *recording.Recording) []Finding {
	var out []Finding
	for _, p := range s.Processes {
		if p.Subject.PID == r.Manifest.SelfPID {
			continue
		}
		if st := stopsOf(p, r, s.Window); len(st.spans) > 0 || st.seen >= 2 && st.ran > 0 {
			out = append(out, stoppedFinding(st, s, r))
		}
	}
	return out
}

func stoppedFinding(st stops, s *scene.Scene, r *recording.Recording) Finding {
	f := Finding{Subject: st.process.Subject, Active: st.spans, Related: st.senders(s)}
	length := totalLength(st.spans, s.Window.End)
	by := ""
	if st.signals > 0 && st.from != "" {
		by = ", by " + st.from
	}
	what := "stopped (state T)"
	if st.debugger {
		what = "stopped by a debugger (state t, ptrace)"
	}
	f.Text = fmt.Sprintf("%s for %s%s", what, lasting(length), by)
	if len(st.spans) > 1 {
		f.Text = fmt.Sprintf("%s %s, %s in all%s", what, times(len(st.spans)), lasting(length), by)
	}
	state := Evidence{Side: For, Grade: Weak, Value: length, Unit: "s", Source: fmt.Sprintf("/proc/%d/stat", st.process.Subject.PID), Origin: "state",
		Text: fmt.Sprintf("%s at %d samples, %s in all", what, st.seen, lasting(length))}
	switch {
	case len(st.spans) == 0:
		f.Text = fmt.Sprintf("seen %s now and then, and running in between", what)
		f.Evidence = append(f.Evidence, Evidence{Side: Against, Grade: Decisive, Value: st.ran, Unit: "s", Source: state.Source, Origin: "cpu time",
			Text: fmt.Sprintf("it used %s of CPU time between the samples that found it so", lasting(st.ran))}, state)
		return f
	case st.seen >= 2 || st.told:
		state.Grade = Decisive
	case st.seen == 1:
		state.Grade = Strong
	}
	f.Evidence = append(f.Evidence, state)
	if st.signals > 0 {
		f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Strong, Value: float64(st.signals), Unit: "signals", Source: "tracepoint signal:signal_generate",
			Text: fmt.Sprintf("%s sent %s to it, %s", orThis(st.from, "somebody"), st.signal, times(st.signals))})
	}
	sufferers, waited := st.sufferers(s)
	if len(sufferers) > 0 {
		// Two samples are the least that tell a stop from a gap of a busy machine.
		f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Strong, Value: float64(len(sufferers)), Unit: "sockets", Source: "ss -tunp Recv-Q; ss -ti", Origin: "its sockets",
			Text: fmt.Sprintf("%d of its sockets stood still meanwhile: %s", len(sufferers), waited)})
		f.Harm = Harm{Symptom: scene.StreamFreeze, Amount: length * float64(len(sufferers)), Of: s.Window.Length(s.Window.End).Seconds() * float64(len(sufferers)), Unit: "s",
			Text: fmt.Sprintf("%d flows stood still for %s each", len(sufferers), lasting(length))}
	} else if emits(st.process) {
		f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Weak, Source: "ss -un; /proc/PID/stat", Origin: "its sockets",
			Text: "it sends datagrams when it runs: whoever takes them gets none meanwhile"})
		f.Harm = Harm{Symptom: scene.StreamFreeze, Amount: length, Of: s.Window.Length(s.Window.End).Seconds(), Unit: "s", Text: fmt.Sprintf("it sent nothing for %s", lasting(length))}
	} else {
		text := "nothing waited at its own sockets meanwhile, to be read or to be sent"
		if len(st.process.Sockets) == 0 {
			text = "it has no sockets: nobody was seen to wait for it"
		}
		f.Evidence = append(f.Evidence, Evidence{Side: Against, Grade: Strong, Source: "ss -tunp", Origin: "its sockets", Text: text})
	}
	f.Remedy = stoppedRemedy(st, s, r)
	f.Next = fmt.Sprintf("grep -E 'State|TracerPid' /proc/%d/status; ss -tunp | grep pid=%d,", st.process.Subject.PID, st.process.Subject.PID)
	return f
}

// stoppedRemedy lets a process go on that is still stopped.
func stoppedRemedy(st stops, s *scene.Scene, r *recording.Recording) Remedy {
	pid := st.process.Subject.PID
	if st.debugger {
		return Remedy{Permanently: fmt.Sprintf("Let the debugger go: grep TracerPid /proc/%d/status tells which.", pid)}
	}
	out := Remedy{Permanently: "Find out what stops it: a script that backs up or freezes, a terminal's job control."}
	if st.from != "" {
		out.Permanently = "Find out why " + st.from + " stops it."
	}
	if goesOn(st.spans, s.Window) && lasts(r, st.process) {
		out.Now = fmt.Sprintf("kill -CONT %d", pid)
	}
	return out
}

// emits tells whether a process works on something of its own and may send it as datagrams:
// it has a socket for them, and uses CPU time.
func emits(p *scene.Process) bool {
	return p.Last().CPU > p.First().CPU && slices.ContainsFunc(p.Sockets, func(k *scene.Socket) bool {
		f := k.First()
		return f.Proto == "udp" && recording.Port(f.Remote) != "53"
	})
}
