package runtime

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var wrongLibrary = &suspect.Suspect{
	Name:  "wrong-library",
	Title: "another build of a library than where it is good",
	About: "The program runs another build of one of its libraries than in the good recording: without the fast path for this CPU, with debugging in it, an older one. Each piece of work costs more CPU, and nothing else differs. The same builds on a CPU that lacks an instruction cost more as well: then it is the CPU.",
	Needs: []suspect.Need{
		{Measure: "host.libraries", Must: true, Why: "the program's files with their build ids, and what the CPU can"},
		{Measure: recording.Compared, Must: true, Why: "the same of a good time or a good host"},
		{Measure: "host.processes", Must: true, Why: "CPU time of the program"},
		{Measure: "sockets.turns", Must: false, Why: "what a request takes, here and there"},
	},
	For: []string{
		"decisive: few files of the program are another build than in the baseline, and the CPU is the same",
		"strong: a request costs more CPU, or takes longer, than in the baseline",
	},
	Against: []string{
		"decisive: all files are the same builds",
		"strong: a request costs the same: another build, and no harm",
		"trap: the same build on another CPU; another release altogether, in which all differs; a program of the same name",
	},
	LeadsTo:  []suspect.Lead{{To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.CPUBurn, Lag: 5 * time.Second}, {To: scene.ThroughputPlateau, Lag: 5 * time.Second}, {To: scene.FramesSkipped, Lag: 5 * time.Second}},
	Claims:   []ledger.Account{ledger.Work, ledger.CPU},
	Remedy:   suspect.Remedy{Permanently: "Install the build of the good host, pin the package's version, restart the program."},
	Verified: "the build ids agree, and a request costs what it costs there",
	Next:     "on both hosts: grep r-xp /proc/PID/maps; readelf -n LIBRARY | grep 'Build ID'; grep -m1 flags /proc/cpuinfo",
	// A profile says that the program ran; what it cost is then not known.
	InFiles: map[string][]string{"host.processes": {"oncpu.stacks"}},
	Weigh:   weighWrongLibrary,
}

const (
	// fewFiles that differ name one; where more than a third do, it is another
	// release, and nothing shows which file it is.
	fewFiles, otherRelease = 3, 1.0 / 3
	// costlier: load and frequency move the cost of a request by 10 to 20 %.
	costlier = 1.5
	asCheap  = 1.2
	// fewRequests do not tell a mean.
	fewRequests = 20
)

func weighWrongLibrary(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	here, there := programsOf(r), programsOf(r.Baseline)
	var out []suspect.Finding
	named := map[string]bool{}
	for _, p := range here {
		q := sameProgram(p, there)
		if q == nil || p.pid == r.Manifest.SelfPID || named[p.comm+p.exe] {
			continue
		}
		named[p.comm+p.exe] = true // workers of one program have the same files
		if f, ok := compareBuilds(s, r, p, q); ok {
			out = append(out, f)
		}
	}
	return out
}

func compareBuilds(s *scene.Scene, r *recording.Recording, p, q *program) (suspect.Finding, bool) {
	other, all := differing(p, q)
	missing, model := cpuLacks(r)
	f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindProcess, PID: p.pid, Comm: p.comm},
		Next: fmt.Sprintf("on both hosts: readelf -n %s | grep 'Build ID'; ldd %s", p.exe, p.exe)}
	if node := s.Process(p.pid); node != nil {
		f.Subject = node.Subject
	}
	builds := source.Ofs("/proc/%d/maps; readelf -n", p.pid)
	if len(other) == 0 {
		if missing == "" {
			return suspect.Finding{}, false
		}
		f.Text = "the same builds on another CPU"
		f.Evidence = []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: 0, Unit: "files", Source: builds.And(source.Of("/proc/cpuinfo flags")), Origin: "builds",
			Text: fmt.Sprintf("all %d files of it are the same builds as in the baseline; the CPU (%s) lacks %s, which the baseline's has", all, model, missing)}}
		return f, true
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: float64(len(other)), Unit: "files", Source: builds, Origin: "builds",
		Text: fmt.Sprintf("%d of its %d files are another build than in the baseline: %s", len(other), all, other[0])}
	switch {
	case len(other) > fewFiles && float64(len(other)) > otherRelease*float64(all):
		e.Grade = suspect.Weak
		e.Text += "; with so many, another release altogether"
	case missing != "":
		e.Grade = suspect.Weak // either may be what costs
		e.Text += fmt.Sprintf("; but the CPU (%s) lacks %s as well", model, missing)
	case !cpusAlike(r):
		e.Grade = suspect.Weak
		e.Text += "; whether the CPUs are alike is not known"
	default:
		e.Text += "; the CPU can the same"
	}
	f.Evidence = append(f.Evidence, e)
	f.Text = fmt.Sprintf("runs another build than in the baseline: %s", other[0])
	f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("Install the baseline's build of %s (%s), pin its version, restart %s.", filepath.Base(other[0].here.Path), other[0].there.what(), p.comm)}
	cost, harm, ok := compareCost(r, p, q)
	if ok {
		f.Evidence = append(f.Evidence, cost)
		f.Harm = harm
	} else {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Missing, Source: source.AllTurns, Text: fmt.Sprintf("too few requests in one of the recordings to know what one costs (%d are needed)", fewRequests)})
	}
	return f, true
}

// compareCost reports what a request of the program costs, here and in the
// baseline; false where that was not measured on both.
func compareCost(r *recording.Recording, p, q *program) (suspect.Evidence, suspect.Harm, bool) {
	here, ok := requestCost(r, p)
	there, ok2 := requestCost(r.Baseline, q)
	if !ok || !ok2 || there.cpu <= 0 {
		return suspect.Evidence{}, suspect.Harm{}, false
	}
	times := here.cpu / there.cpu
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: times, Unit: "times", Source: source.StatOf(p.pid).And(source.AllTurns.As("requests of its sockets")), Origin: "cost of a request",
		Text: fmt.Sprintf("a request costs %s of CPU and takes %s; in the baseline %s and %s (%s and %s requests)",
			units.Lasting(here.cpu), units.Lasting(here.took), units.Lasting(there.cpu), units.Lasting(there.took), units.Count(here.n), units.Count(there.n))}
	var h suspect.Harm
	switch {
	case times >= costlier:
		e.Grade = suspect.Strong
		if more := here.took - there.took; more > 0 {
			h = suspect.Harm{Symptom: scene.RequestLatency, Amount: more, Unit: "s", Text: fmt.Sprintf("a request takes %s longer than in the baseline", units.Lasting(more))}
		} else {
			h = suspect.Harm{Symptom: scene.CPUBurn, Amount: (here.cpu - there.cpu) * here.n / r.Length().Seconds(), Unit: "cores",
				Text: fmt.Sprintf("a request costs %.1f times the CPU of the baseline's", times)}
		}
	case times <= asCheap:
		e.Side, e.Grade = suspect.Against, suspect.Strong
	}
	return e, h, true
}

// requests is how many a program answered, and what one took.
type requests struct{ n, cpu, took float64 }

func requestCost(r *recording.Recording, p *program) (requests, bool) {
	var out requests
	for _, t := range r.Turns {
		if t.Role == "serve" && t.PID == p.pid {
			out.n += float64(t.N)
			out.took += t.Sum
		}
	}
	if out.n < fewRequests || p.seconds <= 0 {
		return out, false
	}
	out.took /= out.n
	// The turns of the time in which the CPU time was read.
	out.cpu = p.cpu / (out.n / r.ShareOf("sockets.turns") * p.seconds / r.Length().Seconds())
	return out, true
}

// cpusAlike reports whether it is known what both CPUs can, or that they are one model.
func cpusAlike(r *recording.Recording) bool {
	_, here := r.FactOf("cpu.flags", 0)
	_, there := r.Baseline.FactOf("cpu.flags", 0)
	if here && there {
		return true
	}
	model, ok := r.FactOf("cpu.model", 0)
	was, ok2 := r.Baseline.FactOf("cpu.model", 0)
	return ok && ok2 && model == was
}

// cpuLacks are instructions that the baseline's CPU has and this one has not, a
// few of them, and this one's model.
func cpuLacks(r *recording.Recording) (flags, model string) {
	here, ok := r.FactOf("cpu.flags", 0)
	there, ok2 := r.Baseline.FactOf("cpu.flags", 0)
	model, _ = r.FactOf("cpu.model", 0)
	if !ok || !ok2 {
		return "", model
	}
	have := map[string]bool{}
	for _, f := range strings.Fields(here) {
		have[f] = true
	}
	var lacks []string
	for _, f := range strings.Fields(there) {
		if !have[f] {
			lacks = append(lacks, f)
		}
	}
	return someOf(lacks), model
}

// someOf names three, and says how many more there are.
func someOf(names []string) string {
	if len(names) <= 3 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
}
