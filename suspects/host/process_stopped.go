package host

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var processStopped = &suspect.Suspect{
	Name:  "process-stopped",
	Title: "a process is stopped (SIGSTOP)",
	About: "Somebody stopped the process: it is in state T, all its sockets are quiet, and what is sent to it waits in their queues until it is full. " +
		"The gaps look like a long pause of its runtime, which leaves it in state S.",
	Needs: []suspect.Need{
		{Measure: "host.processes", Must: true, Why: "its state"},
		{Measure: "sockets.diag", Why: "what waits at its sockets meanwhile"},
		{Measure: "sockets.signals", Why: "who sent SIGSTOP and SIGCONT, and exactly when"},
		{Measure: "threads.state", Why: "its state once a second"},
	},
	For: []string{
		"decisive: state T at sample after sample",
		"strong: SIGSTOP (SIGTSTP, SIGTTIN, SIGTTOU) was sent to it",
		"strong: a tenth of the time of its requests it was stopped",
		"strong: data waits at its sockets and is not read, or their streams stop, for as long",
	},
	Against: []string{
		"decisive: it used CPU time between the samples that found it stopped (strace)",
		"state t is a debugger's stop (ptrace): said so",
		"strong: nothing waited at its sockets, or it has none (an editor put in the background): a risk",
	},
	LeadsTo: []suspect.Lead{
		{To: "error-answers", Lag: 10 * time.Second},
		{To: "server-stall", Lag: 5 * time.Second}, {To: "encoder-stall", Lag: 5 * time.Second}, {To: "reader-stall", Lag: 5 * time.Second},
		{To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.StreamLate, Lag: 5 * time.Second}, {To: scene.FramesSkipped, Lag: 10 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.ConnectLatency, Lag: 30 * time.Second},
		{To: scene.DatagramsLost, Lag: 10 * time.Second}, {To: scene.ConnectionErrors, Lag: time.Minute}, {To: "udp-receive-buffer-full", Lag: 10 * time.Second}, {To: "slow-consumer", Lag: 10 * time.Second}, {To: "listen-overflow", Lag: 30 * time.Second}, {To: "peer-reset", Lag: time.Minute}},
	Claims: []ledger.Account{ledger.Stopped},
	Remedy: suspect.Remedy{
		Now:     "kill -CONT PID",
		Program: "See what stopped it: a debugger, a script that backs up or freezes, a terminal's job control.",
	},
	Verified:    "its state is S or R, and its receive queues drain",
	Next:        "ps -eo pid,stat,comm | awk '$2 ~ /^[Tt]/'; bpftrace -e 'tracepoint:signal:signal_generate /args.sig == 19/ { printf(\"%d -> %d\\n\", pid, args.pid) }'",
	WeighBooked: weighStopped,
}

// stoppedShare of the time of its requests is more than a debugger's glance.
const stoppedShare = 0.1

func weighStopped(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []suspect.Finding {
	var out []suspect.Finding
	for _, p := range s.Processes {
		if p.Subject.PID == r.Manifest.SelfPID {
			continue
		}
		if st := measure.StopsOf(p, r, s.Window); len(st.Spans) > 0 || st.Seen >= 2 && st.Ran > 0 {
			out = append(out, stoppedFinding(st, s, r, l))
		}
	}
	return out
}

func stoppedFinding(st measure.Stops, s *scene.Scene, r *recording.Recording, l *ledger.Ledger) suspect.Finding {
	f := suspect.Finding{Subject: st.Process.Subject, Active: st.Spans, Related: st.Senders(s)}
	length := intervals.Seconds(st.Spans, s.Window.End)
	by := ""
	if st.Signals > 0 && st.From != "" {
		by = ", by " + st.From
	}
	what := "stopped (state T)"
	if st.Debugger {
		what = "stopped by a debugger (state t, ptrace)"
	}
	f.Text = fmt.Sprintf("%s for %s%s", what, units.Lasting(length), by)
	if len(st.Spans) > 1 {
		f.Text = fmt.Sprintf("%s %s, %s in all%s", what, units.Times(len(st.Spans)), units.Lasting(length), by)
	}
	state := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: length, Unit: "s", Source: source.StatOf(st.Process.Subject.PID), Origin: "state",
		Text: fmt.Sprintf("%s in %d samples, %s in all", what, st.Seen, units.Lasting(length))}
	switch {
	case len(st.Spans) == 0:
		f.Text = fmt.Sprintf("seen %s now and then, and running in between", what)
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: st.Ran, Unit: "s", Source: state.Source, Origin: "cpu time",
			Text: fmt.Sprintf("it used %s of CPU time between the samples that found it so", units.Lasting(st.Ran))}, state)
		return f
	case st.Seen >= 2 || st.Told:
		state.Grade = suspect.Decisive
	case st.Seen == 1:
		state.Grade = suspect.Strong
	}
	f.Evidence = append(f.Evidence, state)
	if st.Signals > 0 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(st.Signals), Unit: "signals", Source: source.Tracepoint("signal:signal_generate", source.Signals),
			Text: fmt.Sprintf("%s sent %s to it, %s", cmp.Or(st.From, "somebody"), st.Signal, units.Times(st.Signals))})
	}
	sufferers, waited := st.Sufferers(s)
	if len(sufferers) > 0 {
		// Two samples are the least that tell a stop from a gap of a busy machine.
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(len(sufferers)), Unit: "sockets", Source: source.SS("-tunp", source.RecvQ).And(source.SS("-ti").With(source.BytesSent, source.BytesReceived)), Origin: "its sockets",
			Text: fmt.Sprintf("%d of its sockets stopped meanwhile: %s", len(sufferers), waited)})
		f.Harm = suspect.Harm{Symptom: scene.StreamFreeze, Amount: length * float64(len(sufferers)), Of: s.Window.Length(s.Window.End).Seconds() * float64(len(sufferers)), Unit: "s",
			Text: fmt.Sprintf("%d flows stopped for %s each", len(sufferers), units.Lasting(length))}
	} else if emits(st.Process) {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Source: source.SS("-un").And(source.Stat), Origin: "its sockets",
			Text: "it sends datagrams when it runs: whoever takes them gets none meanwhile"})
		f.Harm = suspect.Harm{Symptom: scene.StreamFreeze, Amount: length, Of: s.Window.Length(s.Window.End).Seconds(), Unit: "s", Text: fmt.Sprintf("it sent nothing for %s", units.Lasting(length))}
	} else if share, ok := l.Share(st.Process.Subject.PID, ledger.Stopped); ok && share >= stoppedShare {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.Turns, Origin: "turns",
			Text: fmt.Sprintf("for %.0f %% of the time of its requests it was stopped", 100*share)})
	} else {
		text := "nothing waited at its own sockets meanwhile, to be read or to be sent"
		if len(st.Process.Sockets) == 0 {
			text = "it has no sockets: no client was seen waiting for it"
		}
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: source.SS("-tunp").With(source.RecvQ), Origin: "its sockets", Text: text})
	}
	f.Remedy = stoppedRemedy(st, s, r)
	f.Next = fmt.Sprintf("grep -E 'State|TracerPid' /proc/%d/status; ss -tunp | grep pid=%d,", st.Process.Subject.PID, st.Process.Subject.PID)
	return f
}

// stoppedRemedy lets a process go on that is still stopped.
func stoppedRemedy(st measure.Stops, s *scene.Scene, r *recording.Recording) suspect.Remedy {
	pid := st.Process.Subject.PID
	if st.Debugger {
		return suspect.Remedy{Permanently: fmt.Sprintf("Let the debugger go: grep TracerPid /proc/%d/status shows which.", pid)}
	}
	out := suspect.Remedy{Permanently: "Find out what stops it: a script that backs up or freezes, a terminal's job control."}
	if st.From != "" {
		out.Permanently = "Find out why " + st.From + " stops it."
	}
	if remedy.GoesOn(st.Spans, s.Window) && remedy.Lasts(r, st.Process) {
		out.Now = fmt.Sprintf("kill -CONT %d", pid)
	}
	return out
}

// emits reports whether a process works on something of its own and may send it as datagrams:
// it has a socket for them, and uses CPU time.
func emits(p *scene.Process) bool {
	return p.Last().CPU > p.First().CPU && slices.ContainsFunc(p.Sockets, func(k *scene.Socket) bool {
		f := k.First()
		return f.Proto == "udp" && recording.Port(f.Remote) != "53"
	})
}
