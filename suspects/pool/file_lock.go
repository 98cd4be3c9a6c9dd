package pool

import (
	"fmt"
	"slices"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// locksFiles are the calls that sleep until a lock of a file is free.
var locksFiles = []string{"flock", "fcntl"}

// fileLocks are services whose late answers wait for the lock of a file, in one process or in
// several: PHP locks a session's file from the first line of a request to its end, SQLite its
// database for each write.
func fileLocks(r *recording.Recording, l *ledger.Ledger) (out []suspect.Finding) {
	if l == nil {
		return nil
	}
	felt := map[*ledger.Party]float64{}
	for _, d := range l.Felt {
		felt[d.Party] = d.Seconds
	}
	for _, p := range l.Parties {
		waits := 0.0
		for _, e := range p.Entries {
			if e.Account == ledger.Lock && e.Where == ledger.FileLock {
				waits += e.Seconds
			}
		}
		if p.Role != ledger.Serves || waits == 0 || len(p.PIDs) == 0 {
			continue
		}
		longer, p99, p50 := l.Longer(p.PIDs[0])
		share := lockBooked
		if d := felt[p]; d > 0 {
			share = min(1, waits/d)
		}
		tail := felt[p] == 0 || share < lockBooked // few answers wait for it: the mean tells nothing
		if tail && !agrees(waits, longer) {
			continue
		}
		f, ok := fileLock(r, p, share)
		if !ok {
			continue
		}
		if tail {
			f.Evidence[0], f.Harm = ofTheLate(waits, longer, p99, p50, f.Evidence[0].Source)
		}
		out = append(out, f)
	}
	return out
}

func fileLock(r *recording.Recording, p *ledger.Party, share float64) (suspect.Finding, bool) {
	waiting, all := 0, 0
	who := map[[2]int]int{} // threads, by process and thread
	var call string
	for _, row := range r.ThreadStates {
		if !slices.Contains(p.PIDs, row.PID) {
			continue
		}
		all += int(row.N)
		if row.State == "S" && slices.Contains(locksFiles, row.Call) {
			waiting += int(row.N)
			at := [2]int{row.PID, row.TID}
			who[at] = max(who[at], row.Threads, 1) // several, where they are taken together
			call = row.Call
		}
	}
	waiters := 0
	for _, n := range who {
		waiters += n
	}
	if waiting < fewWaits || waiters < 2 {
		return suspect.Finding{}, false
	}
	what := "thread"
	if len(p.PIDs) > 1 {
		what = "worker"
	}
	f := suspect.Finding{Subject: p.Subject,
		Text: fmt.Sprintf("%s of it wait for the lock of a file (%s)", units.Plural(waiters, what), call),
		Next: "lslocks   # which file: processes with * wait; the holder is named above them"}
	looks := source.ThreadState.As("the states of its threads, about 20 samples per second")
	f.Evidence = []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: looks.And(source.AllTurns), Origin: "ledger",
			Text: fmt.Sprintf("%.0f %% of the delay of its answers was waiting for the lock of a file", 100*share)},
		{Side: suspect.For, Grade: suspect.Strong, Value: float64(waiting), Unit: "samples", Source: looks, Origin: "file lock",
			Text: fmt.Sprintf("in %s of %s samples a %s of it waited in %s", units.Count(float64(waiting)), units.Count(float64(all)), what, call)},
	}
	for _, pid := range p.PIDs {
		f.Related = append(f.Related, recording.Subject{Kind: recording.KindProcess, PID: pid})
	}
	f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: share, Unit: "share", Text: f.Text}
	f.Remedy = suspect.Remedy{Program: fmt.Sprintf("%s: let go of the file's lock before anything slow (PHP: session_write_close), or a lock for each of what it guards.", measure.OrProgram(p.Subject.Comm))}
	return f, true
}
