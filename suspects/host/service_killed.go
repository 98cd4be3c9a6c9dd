package host

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var serviceKilled = &suspect.Suspect{
	Name:  "service-killed",
	Title: "a service is killed or crashes",
	About: "A process that serves ends by a signal or with an error: a supervisor's limit of time, the kernel for want of memory, an invalid access, an abort. " +
		"What it had in hand is lost, and until another serves, clients are refused. It is started again so soon that hardly anybody sees it gone, and its sockets and threads look healthy each time.",
	Needs: []suspect.Need{
		{Measure: "ends", Must: true, Why: "which processes ended, by which signal or with which status, after how long"},
		{Measure: "sockets.diag", Must: true, Why: "which of them served, and when none did"},
		{Measure: "sockets.owner", Must: true, Why: "which process owned the sockets"},
		{Measure: "sockets.signals", Why: "who sent the signal"},
		{Measure: "sockets.connections", Why: "who was refused meanwhile"},
		{Measure: "host.kernel-log", Why: "whether the kernel killed it for want of memory"},
	},
	For: []string{
		"decisive: a process that served ended by a signal that it can't ignore or by a fault, or with an error after another sent it one",
		"strong: it ended on its own with a status other than 0, and clients were hurt",
		"strong: it was asked to end twice or more, and clients were refused meanwhile",
		"strong: it sent the stream that was asked for, which is gone since, however the process ended",
		"decisive: of a publisher on another host: its connection ended as the stream did, and which end closed or reset it",
		"decisive: its workers ended on their own, each twice or more, while requests waited for a free one, and answers took under half of their time; strong, where that is not known",
		"strong: who sent the signal; the kernel's own line that it killed it for want of memory",
		"strong: connections that it had in hand were cut, and others refused until somebody listened again",
	},
	Against: []string{
		"decisive: no client was affected: it was asked to end (SIGTERM, SIGINT, SIGQUIT, SIGHUP) or ended on its own, and others went on",
		"trap: a server that forks for each connection: as many processes end as connections do, and with which status its own affair; what clients missed shows in their requests",
		"trap: short commands that end with status 1 serve no clients; nor do processes that inherited a listening socket",
		"trap: a process that ends by SIGPIPE, or with an error after its own dependency ended, is a victim (an encoder after its server was killed)",
		"can't tell: a service that ends before it ever listens; why it computed or waited too long for its supervisor",
	},
	LeadsTo: []suspect.Lead{{To: scene.ConnectionErrors, Lag: 5 * time.Second}, {To: scene.FailedAnswers, Lag: 5 * time.Second}, {To: "error-answers", Lag: 5 * time.Second}, {To: scene.RequestLatency, Lag: measure.FeltWithin}, {To: scene.ConnectLatency, Lag: measure.FeltWithin},
		{To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.StreamRefused, Lag: 30 * time.Second}, {To: scene.StreamLate, Lag: 5 * time.Second}, {To: scene.FramesSkipped, Lag: 5 * time.Second}, {To: scene.DatagramsLost, Lag: 5 * time.Second},
		{To: "reconnect-storm", Lag: 10 * time.Second}, {To: "peer-reset", Lag: 5 * time.Second}, {To: "upstream-refused", Lag: 5 * time.Second}, {To: "worker-queue", Lag: measure.FeltWithin}, {To: "listen-overflow", Lag: measure.FeltWithin},
		{To: "udp-port-closed", Lag: 5 * time.Second}, {To: "encoder-stall", Lag: 5 * time.Second}, {To: "log-silence", Lag: 10 * time.Second}},
	Claims: []ledger.Account{ledger.Unread, ledger.Call},
	Remedy: suspect.Remedy{
		Permanently: "More memory or time where a limit ends it. A second one that takes over, and a restart that waits for the next one to listen.",
		Program:     "The fault that ends it, or what keeps a worker longer than its supervisor allows. Its log says what happened last.",
	},
	Verified: "its processes grow old, and no client is refused",
	Next:     "journalctl --since -5min | grep -iE 'killed|core-dump|exited|timeout'; coredumpctl list --since -5min; dmesg -T | grep -i 'killed process'",
	Weigh:    weighServiceKilled,
}

const (
	// fewAsked is a restart that somebody wanted; a service is asked again and again where
	// something is wrong.
	fewAsked = 2
	// fewRecycled workers that end by themselves are those of a reload.
	fewRecycled = 5
	// mostStarting: workers that answer for less of their time, while requests wait, do
	// nothing but end and start.
	mostStarting = 0.5
)

func weighServiceKilled(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	all := endedServices(s, r)
	for _, e := range all {
		switch {
		case e.bereft(s, all):
		case e.feedsAsked(s): // however it ended: whoever asked for that stream has none
			out = append(out, e.finding(s, r, e.last())...)
		case e.n(endedKilled) > 0:
			out = append(out, e.finding(s, r, endedKilled)...)
		case e.n(endedFailed) > 0:
			out = append(out, e.finding(s, r, endedFailed)...)
		case e.n(endedAsked) >= fewAsked:
			out = append(out, e.finding(s, r, endedAsked)...)
		case e.n(endedWell) >= max(fewRecycled, 2*e.workers) && e.workers > 0:
			out = append(out, e.finding(s, r, endedWell)...)
		}
	}
	return append(out, farPublishers(s, r)...)
}

// toll is what ends cost.
type toll struct {
	away, active []recording.Interval
	cut          float64 // requests and connections that it had in hand
	refused      float64
	lost         float64 // datagrams
	who          []recording.Subject
	waited       scene.Symptom // of those that it serves; without a name: none
}

func (e *ended) toll(s *scene.Scene, r *recording.Recording, o outcome, subject recording.Subject) (t toll) {
	each := e.openEach(s, r)
	for _, x := range e.exits[o] {
		least := each
		if e.proto == "tcp" && sender(ending(e.sent, x)) == x.PPID && e.workers > 1 {
			least = max(1, each) // it is killed for what it does not finish
		}
		gone, ok := e.away(x, s.Window)
		if ok {
			t.away = append(t.away, gone)
		}
		t.active = append(t.active, recording.Interval{Start: x.T, End: max(gone.End, x.T.Add(time.Second))})
		if o == endedKilled || o == endedFailed {
			t.cut += inHand(s, x, least)
		}
	}
	if gone, ok := e.awayBefore(e.exits[o][0]); ok {
		t.away, t.active = append(t.away, gone), append(t.active, gone)
	}
	if e.proto == "tcp" && (o == endedKilled || o == endedFailed) {
		t.cut = max(t.cut, e.askedTooLate(s, r, e.exits[o]))
	}
	t.away, t.active = intervals.Merge(t.away, 0), intervals.Merge(t.active, 0)
	switch e.proto {
	case "tcp":
		t.refused, t.who = e.refused(s, r, t.away)
	case "udp":
		var rows []recording.Drop
		for _, d := range r.Drops {
			if d.Proto == "udp" && measure.Namespace(r, d.Netns) == e.netns && recording.Port(d.Dst) == e.at && measure.BecauseOf(d, "NO_SOCKET", measure.NoSocketPlaces...) && intervals.Cover(t.active, d.T.Add(time.Second)) {
				rows = append(rows, d)
			}
		}
		t.lost, t.who = measure.DropSteps(rows).Sum(), measure.Senders(s, r, rows)
	}
	for _, sym := range s.Symptoms {
		if e.proto != "feed" && t.waited.Name == "" && (sym.Name == scene.RequestLatency || sym.Name == scene.ConnectLatency || sym.Name == scene.ConnectionErrors) && s.Touch(subject, sym.Subject) {
			t.waited = sym
		}
	}
	return t
}

func (e *ended) finding(s *scene.Scene, r *recording.Recording, o outcome) []suspect.Finding {
	all := e.exits[o]
	last := all[len(all)-1]
	f := suspect.Finding{Subject: e.subject(s, last)}
	t := e.toll(s, r, o, f.Subject)
	if e.proto == "udp" && t.lost < measure.StrayDatagrams {
		return nil // nobody sent to it meanwhile
	}
	if e.proto == "feed" && (len(t.away) == 0 || !e.feedsAsked(s) && (o != endedKilled || len(e.opened) == 0)) {
		return nil // it was not started again, and was meant to end
	}
	n, age := e.n(o), 0.0
	for _, x := range all {
		age += x.Age * float64(x.N) / float64(n)
	}
	times := units.Plural(n, "time")
	if n == 1 {
		times = "once"
	}
	what := fmt.Sprintf("%s %s %s, %s after it began%s", last.Comm, e.how(all, o), times, units.Lasting(age), map[bool]string{true: " on average"}[n > 1])
	f.Text, f.Active, f.Related = what, t.active, t.who
	for _, x := range all[max(0, len(all)-measure.MostRelated):] {
		if p := s.Process(x.PID); p != nil && x.PID != 0 {
			f.Related = append(f.Related, p.Subject)
		}
	}
	for _, k := range e.sockets[max(0, len(e.sockets)-measure.MostRelated):] {
		f.Related = append(f.Related, k.Subject)
	}
	for _, st := range e.asked(s) {
		f.Related = append(f.Related, st.Subject)
	}
	grade := map[outcome]suspect.Grade{endedKilled: suspect.Decisive}[o]
	if o != endedKilled {
		grade = suspect.Strong
	}
	f.Evidence = []suspect.Evidence{{Side: suspect.For, Grade: grade, Value: float64(n), Unit: "processes", Source: source.Tracepoint("sched:sched_process_exit", source.Ends), Origin: "ends", Text: what}}
	by, remedy := e.by(s, r, all, o, &f)
	if by != "" {
		f.Text += ": " + by
	}
	f.Remedy = remedy
	e.weighToll(s, r, &f, t, o)
	f.Next = fmt.Sprintf("journalctl --since -5min _COMM=%s; coredumpctl list --since -5min %s; dmesg -T | grep -i 'killed process'", last.Comm, last.Comm)
	return []suspect.Finding{f}
}

// subject is the listener, or the process where there is none.
func (e *ended) subject(s *scene.Scene, last recording.Exit) recording.Subject {
	if n := len(e.sockets); n > 0 && e.proto == "tcp" {
		return e.sockets[n-1].Subject
	}
	if p := s.Process(last.PID); p != nil && last.PID != 0 {
		return p.Subject
	}
	return recording.Subject{Kind: recording.KindProcess, PID: last.PID, Comm: last.Comm, Netns: e.netns}
}

// how the processes ended, in words.
func (e *ended) how(all []recording.Exit, o outcome) string {
	var by []string
	for _, x := range all {
		word := x.Signal
		if word == "" {
			word = fmt.Sprintf("status %d", x.Status)
		}
		if !slices.Contains(by, word) {
			by = append(by, word)
		}
	}
	verb := map[outcome]string{endedKilled: "was killed", endedFailed: "ended with an error", endedAsked: "was asked to end", endedWell: "ended on its own"}[o]
	if x := all[len(all)-1]; o == endedKilled && x.Signal != "" && x.Signal != "SIGKILL" {
		verb = "crashed"
	}
	return fmt.Sprintf("%s (%s)", verb, strings.Join(by[:min(len(by), 3)], ", "))
}

// by is who ended them, as far as it is known, and what then helps.
func (e *ended) by(s *scene.Scene, r *recording.Recording, all []recording.Exit, o outcome, f *suspect.Finding) (text string, remedy suspect.Remedy) {
	last := all[len(all)-1]
	who := last.Comm
	remedy = suspect.Remedy{Permanently: "A second one that takes over, and a restart that waits until the next one listens.", Program: fmt.Sprintf("Find why it ends: what the log of %s says of its last moments.", who)}
	if o == endedWell {
		return "", suspect.Remedy{Permanently: fmt.Sprintf("More workers of %s. Let each answer more requests before it is replaced (max_requests, with jitter), or load it before it is forked (preload).", who), Program: "Start faster."}
	}
	for i := len(all) - 1; i >= 0; i-- {
		if line := oomKilled(r, all[i].PID); line != "" {
			f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: 1, Unit: "lines", Source: source.Of("/dev/kmsg"), Origin: "kernel log", Text: line})
			return "by the kernel, for want of memory", suspect.Remedy{Permanently: fmt.Sprintf("More memory for the control group of %s (MemoryMax=), or fewer workers.", who), Program: "Find what grows."}
		}
		signal := ending(e.sent, all[i])
		name, from := signal.Attrs["signal"], sender(signal)
		switch {
		case name == "":
			continue
		case from == 0 && name == "SIGKILL":
			text, remedy = "by the kernel", suspect.Remedy{Permanently: fmt.Sprintf("More memory for %s and its control group, if dmesg says that it was for want of it.", who), Program: "Find what grows."}
		case from == 0 || from == all[i].PID:
			text = "by its own doing: a fault or an abort"
			remedy = suspect.Remedy{Permanently: fmt.Sprintf("Keep its core (coredumpctl), and go back to the version of %s before. A second one that takes over.", who), Program: "Mend the fault that the core's stack shows."}
		default:
			text = fmt.Sprintf("by %s of %s[%d]", name, signal.Attrs["from_comm"], from)
			remedy = suspect.Remedy{Permanently: fmt.Sprintf("What %s[%d] watches for (a health check, a limit of time or memory) has to fit %s.", signal.Attrs["from_comm"], from, who), Program: "Mend what that finds fault with."}
			if from == all[i].PPID {
				text += ", its own supervisor"
				remedy = suspect.Remedy{Permanently: fmt.Sprintf("See in the log of %s[%d] why it did. A limit of time (timeout, harakiri) that its slowest request fits in.", signal.Attrs["from_comm"], from), Program: "Timeouts of its own calls below that limit, and less that keeps a worker that long."}
			}
		}
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: map[bool]suspect.Grade{true: suspect.Strong}[o == endedKilled], Value: 1, Unit: "signals", Source: source.Tracepoint("signal:signal_generate", source.Signals), Origin: "signals", Text: fmt.Sprintf("the last one, %s[%d], ended %s", who, all[i].PID, text)})
		return text, remedy
	}
	if text, why, helps := e.cutOff(r, all); text != "" {
		f.Evidence = append(f.Evidence, why)
		return text, helps
	}
	return "", remedy
}

// felt is what the viewers of its stream feel.
func (e *ended) felt(s *scene.Scene) string {
	for _, st := range e.asked(s) {
		if len(st.Gone(recording.EventStreamEnded, s.Window)) > 0 {
			return scene.StreamEnded
		}
	}
	return scene.StreamFreeze
}

// weighToll adds what it cost to a finding, or that nobody was hurt.
func (e *ended) weighToll(s *scene.Scene, r *recording.Recording, f *suspect.Finding, t toll, o outcome) {
	var cost []string
	if o == endedFailed && e.sessions(r) {
		t.cut = e.cut(r)
	}
	if t.cut = math.Round(t.cut); t.cut > 0 {
		cost = append(cost, fmt.Sprintf("about %s in hand cut", units.Plural(int(t.cut), "connection")))
	}
	if t.refused > 0 {
		cost = append(cost, fmt.Sprintf("%s were refused until somebody listened again", units.Count(t.refused)))
	}
	if t.lost > 0 {
		cost = append(cost, fmt.Sprintf("%s datagrams came to a closed port", units.Count(t.lost)))
	}
	gone := intervals.Seconds(t.away, s.Window.End)
	if gone > 0 && (e.proto == "feed" || len(cost) > 0) {
		cost = append(cost, fmt.Sprintf("no process served for %s", units.Lasting(gone)))
	}
	hurt := t.cut > 0 || t.refused >= measure.FewRefused || e.proto == "feed" || t.lost > 0
	switch {
	case e.feedsAsked(s):
	case o == endedAsked:
		hurt = t.refused >= measure.FewRefused || t.lost > 0
	case o == endedWell:
		hurt = t.waited.Name != "" && !e.sessions(r) // which end with their connections, not after some answers
		if busy := e.busy(s, r); hurt && busy < mostStarting {
			f.Evidence[0].Grade = suspect.Decisive
			f.Evidence[0].Text += fmt.Sprintf("; answers took %.0f %% of their time", 100*busy)
			f.Harm = suspect.Harm{Symptom: t.waited.Name, Amount: t.waited.Amount, Unit: t.waited.Unit, Text: t.waited.Text}
		}
	}
	if t.waited.Name != "" && o != endedAsked {
		cost = append(cost, "meanwhile: "+t.waited.Text)
	}
	c := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: t.cut + t.refused + t.lost, Unit: "connections", Source: source.SS("-tn").And(source.Connections), Origin: "clients", Text: strings.Join(cost, ", ")}
	if !hurt && o != endedKilled {
		c.Side, c.Grade, c.Text = suspect.Against, suspect.Decisive, "no client was affected: others went on, or no requests came meanwhile"
		f.Evidence = append(f.Evidence, c)
		return
	}
	if len(cost) == 0 {
		return
	}
	f.Text += "; " + c.Text
	f.Evidence = append(f.Evidence, c)
	switch {
	case e.proto == "feed":
		f.Harm = suspect.Harm{Symptom: e.felt(s), Amount: gone, Of: s.Window.Length(s.Window.End).Seconds(), Unit: "s", Text: fmt.Sprintf("nothing was sent to %s for %s", e.at, units.Lasting(gone))}
	case e.proto == "udp":
		f.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: t.lost, Unit: "datagrams", Text: c.Text}
	case t.cut > 0 || t.refused > 0:
		n := t.cut + t.refused
		of := n
		for _, row := range r.Connections {
			if row.Role == "accept" && row.Netns == e.netns && recording.Port(row.Local) == e.at {
				of += float64(row.Opened)
			}
		}
		f.Harm = suspect.Harm{Symptom: scene.ConnectionErrors, Amount: n, Of: of, Unit: "connections", Text: c.Text, Sure: o == endedKilled}
	}
}
