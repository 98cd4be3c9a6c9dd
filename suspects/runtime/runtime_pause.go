package runtime

import (
	"cmp"
	"fmt"
	"strconv"
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

var runtimePause = &suspect.Suspect{
	Name:  "runtime-pause",
	Title: "the Java runtime stops the world",
	About: "The JVM stops all threads of the program at a safepoint, most often to collect garbage, and nothing is read or answered until it is over. " +
		"A process that was stopped from outside (SIGSTOP) shows the same gaps and no safepoint; the busy collector of another process takes CPU and stops no other process.",
	Needs: []suspect.Need{
		{Measure: "jvm.counters", Must: true, Why: "how long the JVM was paused, when, and why"},
		{Measure: "sockets.diag", Why: "what waits at its sockets meanwhile"},
		{Measure: "jvm.safepoints", Why: "each stop exactly, its operation and who asked for it"},
		{Measure: "jvm.gc-log", Why: "each stop as the JVM reports it, and the threads that waited for its collector"},
		{Measure: "host.processes", Why: "whether it was stopped from without"},
		{Measure: "threads.state", Why: "whether its VM thread was on a CPU meanwhile, and whether threads that waited for memory slept"},
		{Measure: "sockets.turns", Why: "how long its answers took"},
		{Measure: "runtimes.go-stops", Why: "of a Go program, each stop of its world and who asked for it (--go-runtime)"},
	},
	InFiles: map[string][]string{"jvm.counters": {"jvm.gc-log"}},
	For: []string{
		"decisive: three pauses or more of 0.2 s and longer, by the JVM's own count, and data waited at its sockets when they were looked at inside of them, and in fewer samples outside (in 8 of 8)",
		"strong: the JVM was paused for 0.2 s of a second or longer (healthy: 5 to 50 ms), or for 10 ms where its pauses are what answers were seen to wait for",
		"strong: the static probes of its libjvm timed the same stops, with the operation and who asked for it",
		"strong: its own log reports the same stops, or that threads of it waited for the collector (allocation stalls of ZGC: no counter has them); /proc saw those threads in futex just then",
		"decisive, of a log that was read as a file: the stops that the JVM timed itself. Where they are too short to be a symptom, another must show who waited (--symptom, another file): without one it is a risk",
		"strong: its answers took as long as a pause; its VM thread was on a CPU meanwhile",
	},
	Against: []string{
		"decisive: data waited for seconds, and the JVM stood at no safepoint in that time",
		"decisive: its pauses cover less than a fifth of the time that its slow answers took",
		"trap: SIGSTOP: the time inside the stop is not counted",
		"trap: a JVM without sockets that pauses: a batch job, and no request waits for it",
		"can't tell: which allocation filled the heap; without the static probes of libjvm, which operation asked for a safepoint without a collection (-Xlog:safepoint,gc); without a log, allocation stalls",
	},
	LeadsTo: []suspect.Lead{
		{To: "server-stall", Lag: 5 * time.Second}, {To: "encoder-stall", Lag: 5 * time.Second}, {To: "reader-stall", Lag: 5 * time.Second},
		{To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.StreamLate, Lag: 5 * time.Second}, {To: scene.FramesSkipped, Lag: 10 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.ConnectLatency, Lag: 10 * time.Second},
		{To: scene.DatagramsLost, Lag: 10 * time.Second}, {To: scene.LogSilence, Lag: 5 * time.Second}, {To: scene.ThroughputPlateau, Lag: 5 * time.Second}, {To: "udp-receive-buffer-full", Lag: 5 * time.Second}, {To: "listen-overflow", Lag: 10 * time.Second}, {To: "slow-consumer", Lag: 10 * time.Second},
		{To: "worker-queue", Lag: 10 * time.Second}, {To: "slow-dependency", Lag: 5 * time.Second}, {To: "peer-reset", Lag: time.Minute}},
	Claims: []ledger.Account{ledger.Pause},
	Remedy: suspect.Remedy{
		Permanently: "In the java arguments of its unit or start script: a heap larger than what is alive in it (-Xmx), or a collector that works beside the program (-XX:+UseG1GC, ZGC).",
		Program:     "Fewer calls of System.gc() (-XX:+ExplicitGCInvokesConcurrent).",
	},
	Verified:    "sun.rt.safepointTime grows by less than 50 ms per second",
	Next:        "jcmd PID VM.log output=stdout what=safepoint,gc; jstat -gcutil PID 1000",
	WeighBooked: weighRuntimePause,
}

func weighRuntimePause(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []suspect.Finding {
	var out []suspect.Finding
	for _, p := range s.Processes {
		j := standstillOf(p, r, s.Window, feltPauseOf(p, s, r, l))
		switch {
		case j == nil && goStops(p, r, s.Window) != nil:
			out = append(out, goStops(p, r, s.Window).goFinding(s, r))
		case j == nil:
			if f, ok := unreadJVM(p, s, r); ok {
				out = append(out, f)
			}
		case len(j.active()) > 0:
			out = append(out, j.finding(s, r))
		default:
			if f, ok := j.innocent(s, r); ok {
				out = append(out, f)
			}
		}
	}
	return out
}

// innocent is a JVM at whose sockets data waited and that did not stand still.
func (j *standstill) innocent(s *scene.Scene, r *recording.Recording) (suspect.Finding, bool) {
	for _, sym := range s.Symptoms {
		if sym.Subject.PID != j.process.Subject.PID || intervals.Seconds(sym.Active, s.Window.End) < 2 {
			continue
		}
		stood, from, origin := j.stopped.Sum(), source.Of("sun.rt.safepointTime (jcmd PID PerfCounter.print)", source.Safepoints), "hsperfdata"
		if !j.counted {
			stood, from, origin = j.stalls.pauses, source.File("its own log: -Xlog:gc", source.GCPauses), gcLog
		}
		e := suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: stood, Unit: "s", Source: from, Origin: origin,
			Text: fmt.Sprintf("%s, and its JVM stood at safepoints for %s of that", sym.Text, units.Lasting(stood))}
		f := suspect.Finding{Subject: j.process.Subject, Text: "a JVM that did not pause", Evidence: []suspect.Evidence{e}}
		if j.unseenStalls(r) {
			pid := j.process.Subject.PID
			f.Evidence[0].Grade = suspect.Strong
			f.Evidence = append(f.Evidence,
				suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Source: source.SS("-tnp", source.RecvQ), Origin: "its sockets", Text: sym.Text + ", and its collector lets single threads wait for memory while all others go on"},
				suspect.Evidence{Side: suspect.Missing, Source: source.Of("-Xlog:gc"), Text: "allocation stalls of its threads are in no counter, and it writes no log of its collections"})
			f.Next = fmt.Sprintf("jcmd %d VM.log output=/tmp/gc-%d.log what=gc,safepoint decorators=time,uptime", pid, pid)
		}
		return f, true
	}
	return suspect.Finding{}, false
}

// unreadJVM is a process that runs java, at which data waits, and whose counters
// could not be read: suspected, since nothing could be measured.
func unreadJVM(p *scene.Process, s *scene.Scene, r *recording.Recording) (suspect.Finding, bool) {
	if !measure.RunsJava(p) || len(measure.StopsOf(p, r, s.Window).Spans) > 0 {
		return suspect.Finding{}, false
	}
	c, _ := r.Measured("jvm.counters")
	for _, sym := range s.Symptoms {
		if sym.Subject.PID != p.Subject.PID || c.State == recording.CoverageOK {
			continue
		}
		pid := p.Subject.PID
		return suspect.Finding{Subject: p.Subject, Text: "a JVM with waiting data: its pauses could not be read",
			Evidence: []suspect.Evidence{
				{Side: suspect.For, Grade: suspect.Strong, Source: source.SS("-tnp", source.RecvQ), Origin: "its sockets", Text: sym.Text + ", and it is a JVM in state " + p.Last().State},
				{Side: suspect.Missing, Source: source.Of("hsperfdata"), Text: "its safepoints were not measured: " + c.Why},
			},
			Next: fmt.Sprintf("jcmd %d VM.log output=/tmp/jvm-%d.log what=safepoint,gc", pid, pid)}, true
	}
	return suspect.Finding{}, false
}

func (j *standstill) finding(s *scene.Scene, r *recording.Recording) suspect.Finding {
	pid := j.process.Subject.PID
	window := s.Window.Length(s.Window.End).Seconds()
	f := suspect.Finding{Subject: j.process.Subject, Active: intervals.Merge(j.active(), 0)}
	f.Text = fmt.Sprintf("the JVM was paused %s, for %s of %s in all, %s at the longest", units.Times(len(j.pauses)), units.Lasting(j.total), units.Lasting(window), units.Lasting(j.longest))
	by := askedBy(j.cause())
	if by == "" {
		by = orderedBy(j.operation())
	}
	if who := mostOften(j.timed.askers); by == "" && strings.Contains(who, "operator") {
		by = who
	}
	if op := j.operation(); op != "" {
		f.Text += "; for the operation " + op
	}
	if what := j.logged.most(); what != "" {
		f.Text += " (" + what + ")"
	} else if name, took := j.collector(); took > 0 {
		f.Text += " (" + name + ")"
	}
	if cause := j.cause(); by == "" && cause != "" {
		f.Text += "; cause: " + cause
	}
	if by != "" {
		f.Text += "; asked for by " + by
	} else if who := mostOften(j.timed.askers); who != "" && len(j.causes) == 0 {
		f.Text += ", asked for by " + who
	}
	if j.stalled(s.Window.End) {
		f.Text = j.stalls.words()
		f.Evidence = append(f.Evidence, j.stalls.evidence())
		if e, ok := j.asleep(r); ok {
			f.Evidence = append(f.Evidence, e)
		}
	}
	waits, late := j.felt(s, r)
	for _, e := range j.told(by, window) {
		if !late && !measure.Suffers(s, pid) {
			e.Grade = suspect.Decisive // that it paused is certain; that nobody waited makes it a risk
		}
		f.Evidence = append(f.Evidence, e)
	}
	f.Evidence = append(append(f.Evidence, waits...), j.timedEvidence()...)
	if j.logOnly(r) {
		f.Evidence = certain(f.Evidence)
	}
	if busy, looks := j.busyThread(); !j.stalled(s.Window.End) && looks >= 2 && 2*busy >= looks {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(busy), Unit: "samples", Source: source.Stat.As(fmt.Sprintf("/proc/%d/task/*/stat", pid)), Origin: "thread states",
			Text: fmt.Sprintf("a thread of the JVM itself was on a CPU in %d of %d samples inside of the pauses", busy, looks)})
	}
	if e, ok := j.coverageEvidence(s, r); ok {
		f.Evidence = notCovered(append(f.Evidence, e), e)
	}
	if late {
		f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: j.meanDelay(s.Window), Unit: "s",
			Text: fmt.Sprintf("a request waits for up to %s, %s on average", units.Lasting(max(j.longest, j.stalls.longest)), units.Lasting(j.meanDelay(s.Window)))}
	}
	f.Remedy = j.remedy(r, by, j.stalled(s.Window.End))
	f.Next = fmt.Sprintf("jcmd %d VM.log output=stdout what=safepoint,gc; jstat -gccause %d 1000", pid, pid)
	if recording.StandsIn(pid) {
		f.Next = "jcmd PID VM.log output=stdout what=safepoint,gc; jstat -gccause PID 1000"
	}
	return f
}

// notCovered takes what coincides down to what is rarely seen, where the pauses cover
// hardly any of the symptom: they were there, and are not what was waited for.
func notCovered(all []suspect.Evidence, e suspect.Evidence) []suspect.Evidence {
	for i := range all {
		if e.Side == suspect.Against && all[i].Side == suspect.For && all[i].Grade == suspect.Decisive {
			all[i].Grade = suspect.Strong
		}
	}
	return all
}

// told is what the JVM's own counters say of its pauses; nothing where they were not
// read, or hardly counted any.
func (j *standstill) told(by string, window float64) []suspect.Evidence {
	if !j.counted || len(j.pauses) == 0 {
		return nil
	}
	why := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: j.total, Unit: "s", Source: source.Ofs("sun.rt.safepointTime, sun.gc.collector (jcmd %d PerfCounter.print)", j.process.Subject.PID).With(source.Safepoints, source.Collections), Origin: "hsperfdata",
		Text: fmt.Sprintf("its safepoint time grew by %s in %s; %s of %s and longer, the longest %s", units.Lasting(j.stopped.Sum()), units.Lasting(window), units.Plural(len(j.pauses), "pause"), units.Lasting(j.least), units.Lasting(j.longest))}
	if name, took := j.collector(); took > 0 {
		why.Text += fmt.Sprintf("; %s took %s", name, units.Lasting(took))
	}
	if j.sync > 0.5*j.stopped.Sum() {
		why.Text += fmt.Sprintf("; %s of it passed until the last thread had stopped", units.Lasting(j.sync))
	}
	switch cause := j.cause(); {
	case by != "":
		why.Text += "; asked for by " + by
	case cause != "":
		why.Text += "; cause: " + cause
	case j.exact == 0:
		why.Text += "; no collection: another operation at a safepoint"
	}
	return []suspect.Evidence{why}
}

// felt is whether anybody waited, and whether that was inside of the pauses: what
// lay at its sockets, and how long its answers took.
func (j *standstill) felt(s *scene.Scene, r *recording.Recording) (all []suspect.Evidence, late bool) {
	if _, looked := r.Measured("sockets.diag"); len(j.process.Sockets) == 0 && !looked {
		return nil, false
	}
	if len(j.process.Sockets) == 0 {
		return []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Strong, Source: source.SS("-tunp").With(source.RecvQ), Origin: "receive queues", Text: "it has no sockets: no client was seen waiting for it"}}, false
	}
	in, ofIn, out, ofOut, most := j.waiting(s.Window)
	queue := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: float64(in), Unit: "samples", Source: source.SS("-tunp", source.RecvQ), Origin: "receive queues"}
	if in > 0 {
		queue.Text = fmt.Sprintf("data waited at its sockets in %d of %d samples inside of the pauses, and in %d of %d outside (up to %s)", in, ofIn, out, ofOut, units.Bytes(float64(most)))
		if queue.Grade = coincides(in, ofIn, out, ofOut); j.stalled(s.Window.End) {
			queue.Grade = j.contrasted(r, queue.Grade, ofOut)
		}
		all, late = append(all, queue), true
	}
	in, ofIn, out, ofOut, worst, calm := j.answers(s, r)
	if in > 0 {
		e := suspect.Evidence{Side: suspect.For, Grade: coincides(in, ofIn, out, ofOut), Value: worst, Unit: "s", Source: source.Turns, Origin: "turns",
			Text: fmt.Sprintf("in %d of %d seconds with a pause its slowest answer took about as long as the pause (up to %s), in %d of %d others", in, ofIn, units.Lasting(worst), out, ofOut)}
		if j.stalled(s.Window.End) {
			e.Grade = j.contrasted(r, e.Grade, ofOut)
			e.Text = fmt.Sprintf("in %d of %d seconds in which threads waited for the collector answers took as long (up to %s), in %d of %d others", in, ofIn, units.Lasting(worst), out, ofOut)
		}
		if out == 0 && ofOut > 0 {
			e.Text += fmt.Sprintf(" (%s at most)", units.Lasting(calm))
		}
		return append(all, e), true
	}
	if !late {
		queue.Side, queue.Grade, queue.Text = suspect.Against, suspect.Strong, "nothing waited at its sockets inside of the pauses, and no answer took long"
		all = append(all, queue)
	}
	return all, late
}

// coincides grades how often something was seen inside of the pauses and outside:
// three times and hardly ever outside is no chance.
func coincides(in, ofIn, out, ofOut int) suspect.Grade {
	inside, outside := float64(in)/float64(max(ofIn, 1)), float64(out)/float64(max(ofOut, 1))
	switch {
	case inside < 0.5 || ofOut > 0 && inside < 1.5*outside:
		return suspect.Weak
	case in >= 3 && inside >= 0.7:
		return suspect.Decisive
	}
	return suspect.Strong
}

func (j *standstill) collector() (name string, took float64) {
	for n, t := range j.gc {
		if t > took || t == took && n < name {
			name, took = n, t
		}
	}
	return name, took
}

// fullHeap is the share of the heap in use right after collections from which it is
// too small: then the next one comes at once. The JVM's own guides want a half free.
const fullHeap = 0.7

func (j *standstill) remedy(r *recording.Recording, by string, stalled bool) suspect.Remedy {
	comm, pid := j.process.Subject.Comm, strconv.Itoa(j.process.Subject.PID)
	if by != "" {
		if strings.HasPrefix(by, "the program") {
			return suspect.Remedy{Permanently: fmt.Sprintf("-XX:+ExplicitGCInvokesConcurrent or -XX:+DisableExplicitGC in the java arguments of %s.", comm), Program: "Find who calls System.gc()."}
		}
		return suspect.Remedy{Permanently: fmt.Sprintf("Find who runs jcmd or jmap on %s (cron, a monitoring agent), and do not collect a live server's heap.", pid)}
	}
	flags, _ := r.FactOf("jvm."+pid+".flags", 0)
	if stalled {
		return suspect.Remedy{Permanently: fmt.Sprintf("In the java arguments of %s: a larger -Xmx, so that the collector is done before the heap is full, or more -XX:ConcGCThreads (now %s).", comm, cmp.Or(flags, "the default")), Program: "Allocate less."}
	}
	used, most := 0.0, 0.0
	for _, s := range r.Select("snag_jvm_heap_used_bytes", "pid", pid) {
		for i, p := range s.Points {
			if i == 0 || p.V < used { // the least is what lives on
				used = p.V
			}
		}
	}
	for _, s := range r.Select("snag_jvm_heap_max_bytes", "pid", pid) {
		most, _ = s.Last()
	}
	switch {
	case most > 0 && used/most >= fullHeap:
		return suspect.Remedy{Permanently: fmt.Sprintf("-Xmx%dm in the java arguments of %s (now %s; %s of it stays in use).", int(2*used)>>20, comm, units.Bytes(most), units.Bytes(used)), Program: "Keep less in the heap."}
	case strings.HasPrefix(j.logged.most(), "G1 Full"):
		return suspect.Remedy{Permanently: fmt.Sprintf("In the java arguments of %s: a larger -Xmx, so that G1 is done before the heap is full, or more -XX:ConcGCThreads (now %s).", comm, cmp.Or(flags, "the default")), Program: "Keep less in the heap."}
	case len(j.causes) > 0 && !strings.Contains(flags, "UseG1GC") && !strings.Contains(flags, "UseZGC") && !strings.HasPrefix(j.logged.most(), "G1 "):
		return suspect.Remedy{Permanently: fmt.Sprintf("-XX:+UseG1GC or ZGC in the java arguments of %s (now %s).", comm, cmp.Or(flags, "the default"))}
	case len(j.causes) > 0:
		return suspect.Remedy{Permanently: fmt.Sprintf("A lower -XX:MaxGCPauseMillis, or ZGC, in the java arguments of %s (now %s).", comm, cmp.Or(flags, "the default"))}
	}
	return suspect.Remedy{Permanently: fmt.Sprintf("Find the operation: -Xlog:safepoint in the java arguments of %s.", comm)}
}
