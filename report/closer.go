package report

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"snag/recording"
)

// Closer is the closer look that a find took at processes that were suspected or
// suffered, with the probes that cost them something.
type Closer struct {
	Processes []CloserLook `json:"processes"`
	// Left is how many more were worth one.
	Left int `json:"left,omitempty"`
	// Budget is what it might take of the machine's CPU time, 0 to 1, and Spent the
	// seconds of it that each probe took.
	Budget float64            `json:"budget"`
	Spent  map[string]float64 `json:"spent_cpu_seconds"`
}

// CloserLook is one process and why it was looked at.
type CloserLook struct {
	PID  int    `json:"pid"`
	Comm string `json:"comm,omitempty"`
	Why  string `json:"why"`
}

// closerOf reads it from the facts that probes/closer.go wrote; nil where there was
// no closer look.
func closerOf(r *recording.Recording) *Closer {
	c := Closer{Spent: map[string]float64{}}
	for _, f := range r.Facts {
		name, ours := strings.CutPrefix(f.Name, "snag.")
		if !ours {
			continue
		}
		switch what, rest, _ := strings.Cut(name, "."); what {
		case "closer":
			if rest == "left" {
				c.Left, _ = strconv.Atoi(f.Value)
			} else if pid, err := strconv.Atoi(rest); err == nil {
				c.Processes = append(c.Processes, CloserLook{PID: pid, Comm: commOf(r, pid), Why: f.Value})
			}
		case "budget":
			c.Budget, _ = strconv.ParseFloat(f.Value, 64)
		case "spent":
			c.Spent[rest], _ = strconv.ParseFloat(f.Value, 64)
		}
	}
	if len(c.Processes) == 0 {
		return nil
	}
	return &c
}

func commOf(r *recording.Recording, pid int) string {
	for i := len(r.Processes) - 1; i >= 0; i-- {
		if r.Processes[i].PID == pid {
			return r.Processes[i].Comm
		}
	}
	return ""
}

// Sentence says in one line which processes were examined, what that cost, and what it was allowed to cost.
func (c *Closer) Sentence(r *recording.Recording) string {
	var who []string
	for _, p := range c.Processes {
		who = append(who, fmt.Sprintf("%s[%d]", p.Comm, p.PID))
	}
	text := "at " + strings.Join(who, ", ")
	if c.Left > 0 {
		text += fmt.Sprintf(" and not at %d more", c.Left)
	}
	whole := r.Length().Seconds() * float64(r.Manifest.CPUs)
	var probes []string
	sum := 0.0
	for name, seconds := range c.Spent {
		probes, sum = append(probes, name), sum+seconds
	}
	if whole <= 0 || len(probes) == 0 {
		return text
	}
	sort.Strings(probes)
	return fmt.Sprintf("%s: %s took %.2f %% of the machine, of %.3g %% allowed", text, strings.Join(probes, ", "), 100*sum/whole, 100*c.Budget)
}
