package drawn

import (
	"fmt"
	"runtime"
	"sync"

	"snag/lab/score"
	"snag/recording"
)

// Judging is how the runs of a folder are judged.
type Judging struct {
	Folder Folder
	Judges []score.Judge
	Keep   func(Kept) bool // which runs
	// Baselines gives the judges the run without the fault, or without the noise, as the
	// recording of a better time.
	Baselines bool
}

// Marks lets the judges answer to the runs, several at a time, and returns the marks of each
// judge, in the order of the runs.
func (j Judging) Marks() ([][]Mark, error) {
	all, err := j.Folder.All()
	if err != nil {
		return nil, err
	}
	without, runs := compared(all, j.Keep)
	untreated := untreatedOf(all)
	marks := make([][]Mark, len(j.Judges))
	for i := range marks {
		marks[i] = make([]Mark, len(runs))
	}
	errs := make([]error, len(runs))
	var busy sync.WaitGroup
	next := make(chan int)
	for range runtime.NumCPU() {
		busy.Add(1)
		go func() {
			defer busy.Done()
			for n := range next {
				errs[n] = j.one(runs[n], without(runs[n]), untreated[pairKey(runs[n])], func(judge int, m Mark) { marks[judge][n] = m })
			}
		}()
	}
	for n := range runs {
		next <- n
	}
	close(next)
	busy.Wait()
	for n, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("judge %s: %w", runs[n].Key, err)
		}
	}
	return marks, nil
}

// compared are the runs that are judged, and what each is compared with: a faulty run with
// the healthy one of its draw, a noisy one with the quiet one, which is there for that only.
func compared(all []Kept, keep func(Kept) bool) (without func(Kept) *Kept, runs []Kept) {
	healthy, quiet := map[string]*Kept{}, map[string]*Kept{}
	for i, k := range all {
		switch {
		case k.untreated():
			continue
		case k.Quiet:
			quiet[pairKey(k)] = &all[i]
			continue
		case !k.Faulty:
			healthy[pairKey(k)] = &all[i]
		}
		if keep(k) {
			runs = append(runs, k)
		}
	}
	return func(k Kept) *Kept {
		if k.Faulty {
			return healthy[pairKey(k)]
		}
		return quiet[pairKey(k)]
	}, runs
}

// untreatedOf are the control runs, by pairKey.
func untreatedOf(all []Kept) map[string]*Kept {
	out := map[string]*Kept{}
	for i, k := range all {
		if k.untreated() && k.Error == "" {
			out[pairKey(k)] = &all[i]
		}
	}
	return out
}

func (k Kept) untreated() bool { return k.Remedy != nil && k.Remedy.Withheld }

// pairKey is the same in all runs of a draw.
func pairKey(k Kept) string {
	key := fmt.Sprint(k.Seed)
	for _, p := range k.Parts {
		key += " " + p.Family
		if p.Truth != nil {
			key += "/" + p.Truth.Fault
		}
	}
	return key
}

func (j Judging) one(k Kept, without, untreated *Kept, done func(int, Mark)) error {
	m, truths, err := begin(k, without)
	if err != nil {
		return err
	}
	if m.Class == Broken || m.Class == Void || m.Class == Loud {
		for i := range j.Judges {
			done(i, m)
		}
		return nil
	}
	r, err := recording.Open(j.Folder.Recording(k.Key))
	if err != nil {
		return err
	}
	if j.Baselines && without != nil && without.Error == "" {
		if r.Baseline, err = recording.Open(j.Folder.Recording(without.Key)); err != nil {
			return err
		}
	}
	healed, err := healedOf(k, without, untreated)
	if err != nil {
		return err
	}
	for i, judge := range j.Judges {
		a, err := judge.Answer(r)
		if err != nil {
			return fmt.Errorf("%s: %w", judge.Name, err)
		}
		if k.OnlyThese {
			a.DropAllElsewhere(k.here())
		}
		one := m.answered(truths, a)
		if one.Class == Incident && len(k.Parts) == 1 && judge.Confident {
			one.Booked = bookedOf(*k.Parts[0].Truth, without.Parts[0].Figures, k.Parts[0].Figures, a)
		}
		if judge.Confident {
			one.Healed = healed // the command is snag's
		} else {
			one.Claims = nil
		}
		done(i, one)
	}
	return nil
}

func (k Kept) here() map[uint64]bool {
	out := map[uint64]bool{}
	for _, id := range k.Namespaces {
		out[id] = true
	}
	return out
}
