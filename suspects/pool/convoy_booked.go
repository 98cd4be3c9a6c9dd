package pool

import (
	"fmt"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// lockBooked is the least share of a felt delay that makes a lock its cause, and oneLock how
// much of the waits must be for one and the same.
const (
	lockBooked = 0.25
	oneLock    = 0.5
	fewWaits   = 20 // looks that found a thread waiting; fewer are chance
)

// bookedConvoy is a process whose late answers wait for a lock, too shortly each time for a
// look a second: told by the states of its threads. nil: they do not.
func bookedConvoy(p *scene.Process, r *recording.Recording, l *ledger.Ledger) *suspect.Finding {
	pid := p.Subject.PID
	share := l.Booked(pid, ledger.Lock)
	if share < lockBooked {
		return nil
	}
	waits, all := map[uint64]int{}, 0
	waiters := map[uint64]map[int]bool{}
	for _, row := range r.ThreadStates {
		if row.PID != pid || !row.Lock {
			continue
		}
		all += int(row.N)
		waits[row.Futex] += int(row.N)
		if waiters[row.Futex] == nil {
			waiters[row.Futex] = map[int]bool{}
		}
		waiters[row.Futex][row.TID] = true
	}
	address, n := fullest(waits)
	if all < fewWaits || float64(n) < oneLock*float64(all) || len(waiters[address]) < 2 {
		return nil
	}
	f := &suspect.Finding{Subject: p.Subject, Text: fmt.Sprintf("%s of it wait for one lock, at 0x%x", units.Plural(len(waiters[address]), "thread"), address)}
	looks := source.ThreadState.As("the states of its threads, some 20 looks a second")
	f.Evidence = []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: looks.And(source.AllTurns), Origin: "ledger",
			Text: fmt.Sprintf("%.0f %% of the delay of its answers was waiting for a lock", 100*share)},
		{Side: suspect.For, Grade: suspect.Strong, Value: float64(n), Unit: "looks", Source: looks, Origin: "futex",
			Text: fmt.Sprintf("at %s of %s looks that found a thread waiting for a lock it was the one at 0x%x", units.Count(float64(n)), units.Count(float64(all)), address)},
	}
	f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: share, Unit: "share", Text: f.Text}
	f.Remedy = suspect.Remedy{Program: fmt.Sprintf("%s: let go of the lock before waiting for others, or split it.", p.Subject.Comm)}
	f.Next = fmt.Sprintf("eu-stack -p %d   # or: gdb -p %d -batch -ex 'thread apply all bt': which function holds the lock at 0x%x", pid, pid, address)
	return f
}
