package report

import (
	"strconv"
	"strings"

	"snag/recording"
)

// itself is the CPU time that a recording took, s: of the process that made it, and of its
// programs in the kernel, which run on others' time. now is what that process has taken by
// now; 0: it is not this one. A recording that was cut off has only what its probes noted.
func itself(r *recording.Recording, now float64) float64 {
	process, whole := spentBy(r, recording.FactProcessCPU)
	programs, _ := spentBy(r, recording.FactProgramsCPU)
	noted := 0.0
	if !whole {
		noted = ofProbes(r)
	}
	return max(process, noted, now) + programs
}

func spentBy(r *recording.Recording, fact string) (float64, bool) {
	text, ok := r.FactOf(fact, 0)
	v, err := strconv.ParseFloat(text, 64)
	return v, ok && err == nil
}

// ofProbes is what the probes say that they took: a probe's own row sums its measures.
func ofProbes(r *recording.Recording) float64 {
	whole, sum := map[string]bool{}, 0.0
	for _, c := range r.Coverage {
		if !strings.Contains(c.Probe, ".") {
			whole[c.Probe] = true
		}
	}
	for _, c := range r.Coverage {
		if probe, _, part := strings.Cut(c.Probe, "."); !part || !whole[probe] {
			sum += c.Cost
		}
	}
	return sum
}
