package drawn

import (
	"fmt"
	"runtime"
	"sync"

	"snag/lab/score"
	"snag/recording"
)

// Judge lets judges answer to every run of a folder that keep accepts, several runs at a
// time, and returns the marks of each judge, in the order of the runs.
func Judge(f Folder, judges []score.Judge, keep func(Kept) bool) ([][]Mark, error) {
	all, err := f.All()
	if err != nil {
		return nil, err
	}
	without, runs := compared(all, keep)
	marks := make([][]Mark, len(judges))
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
				errs[n] = judgeOne(f, runs[n], without(runs[n]), judges, func(j int, m Mark) { marks[j][n] = m })
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

func judgeOne(f Folder, k Kept, without *Kept, judges []score.Judge, done func(int, Mark)) error {
	m, truths, err := begin(k, without)
	if err != nil {
		return err
	}
	if m.Class == Broken || m.Class == Void || m.Class == Loud {
		for j := range judges {
			done(j, m)
		}
		return nil
	}
	r, err := recording.Open(f.Recording(k.Key))
	if err != nil {
		return err
	}
	for j, judge := range judges {
		a, err := judge.Answer(r)
		if err != nil {
			return fmt.Errorf("%s: %w", judge.Name, err)
		}
		if k.OnlyThese {
			a.DropAllElsewhere(k.here())
		}
		one := m.answered(truths, a)
		if !judge.Confident {
			one.Claims = nil
		}
		done(j, one)
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
