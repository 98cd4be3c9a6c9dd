package profile

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"sort"
	"strings"
)

// WriteFolded writes one line a stack, outermost frame first, as flamegraph.pl,
// inferno and speedscope read it: "process;thread;main;work 12". The kernel's
// frames end in _[k], what was made at run time in _[j]. Numbers are samples,
// microseconds of the time off the CPU, or what an event counts.
func (p *Profile) WriteFolded(w io.Writer) error {
	sum := map[string]float64{}
	for i := range p.Samples {
		s := &p.Samples[i]
		var names []string
		for _, f := range s.path() {
			name := strings.ReplaceAll(clean(f.Function), ";", ":")
			switch {
			case f.Kernel:
				name += "_[k]"
			case f.Object == "[jit]":
				name += "_[j]"
			}
			names = append(names, name)
		}
		value := float64(s.N)
		switch {
		case p.Kind == OffCPU:
			value = 1e6 * s.Value
		case p.Event != "":
			value = s.Value
		}
		sum[strings.Join(names, ";")] += value
	}
	lines := make([]string, 0, len(sum))
	for line := range sum {
		lines = append(lines, line)
	}
	sort.Strings(lines)
	out := bufio.NewWriter(w)
	for _, line := range lines {
		if n := math.Round(sum[line]); n > 0 {
			fmt.Fprintf(out, "%s %.0f\n", line, n)
		}
	}
	return out.Flush()
}
