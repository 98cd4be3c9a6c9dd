package lab

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
)

// The hypervisor of the lab's machine may give its CPUs to others while an incident runs. Then
// every program is late for that, too, and a verdict that says so is right, though no incident
// made it. So the lab looks for itself, and neither counts it as a false accusation nor as
// the first of what was named.

// stolenMuch of the CPU time that the machine asked for is a fault of its own. Under that
// a verdict that names it is wrong.
const stolenMuch = 0.25

// cpuTime is what /proc/stat counts, in ticks, since the machine started (proc(5)).
type cpuTime struct{ asked, stolen float64 }

func readCPUTime() cpuTime {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return cpuTime{}
	}
	return parseCPUTime(string(raw))
}

// parseCPUTime reads the first line of /proc/stat: user, nice, system, idle, iowait, irq,
// softirq, steal.
func parseCPUTime(stat string) (t cpuTime) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return cpuTime{}
	}
	for i, f := range fields[1:9] {
		n, err := strconv.ParseFloat(f, 64)
		switch {
		case err != nil:
			return cpuTime{}
		case i == 3 || i == 4: // idle, iowait
			continue
		case i == 7:
			t.stolen = n
		}
		t.asked += n
	}
	return t
}

// since is the share that was stolen of what was asked for from an earlier look to this one.
func (t cpuTime) since(earlier cpuTime) float64 {
	if asked := t.asked - earlier.asked; asked > 0 {
		return (t.stolen - earlier.stolen) / asked
	}
	return 0
}

// DropStolen leaves out that the CPUs are stolen, where that share of them was, and where none
// of the incidents is about CPUs.
func (a *Answer) DropStolen(share float64, wants []Want) {
	const name = "cpu-saturated"
	if share < stolenMuch || slices.ContainsFunc(wants, func(w Want) bool { return w.Suspect == name || w.Said == name || slices.Contains(w.Also, name) }) {
		return
	}
	a.Verdict = slices.DeleteFunc(a.Verdict, func(e AnswerEntry) bool {
		var of struct {
			Kind string `json:"kind"`
		}
		return e.Suspect == name && json.Unmarshal([]byte(e.Ref), &of) == nil && of.Kind == "host"
	})
}
