package busy

import (
	"fmt"
	"strings"

	"snag/recording"
)

// Seen is how busy the machine was in a recording, by its own counters: the proof
// that a find had something to be misled by.
func Seen(r *recording.Recording) string {
	all, idle, wait := 0.0, 0.0, 0.0
	for _, s := range r.Select("node_cpu_seconds_total") {
		grown, ok := s.Increase()
		if !ok {
			continue
		}
		all += grown
		switch s.Labels["mode"] {
		case "idle":
			idle += grown
		case "iowait":
			wait += grown
		}
	}
	var out []string
	if all > 0 {
		out = append(out, fmt.Sprintf("CPUs %.0f %% busy, %.0f %% waiting for a disk", 100*(all-idle-wait)/all, 100*wait/all))
	}
	if n, ok := increase(r, "node_schedstat_waiting_seconds_total"); ok && r.Length() > 0 {
		out = append(out, fmt.Sprintf("%.1f threads waited for a CPU", n/r.Length().Seconds()))
	}
	if n, ok := increase(r, "node_netstat_Udp_InDatagrams"); ok {
		out = append(out, fmt.Sprintf("%.0f datagrams received", n))
	}
	return strings.Join(out, ", ")
}

func increase(r *recording.Recording, name string) (sum float64, ok bool) {
	for _, s := range r.Select(name) {
		if grown, measured := s.Increase(); measured {
			sum, ok = sum+grown, true
		}
	}
	return sum, ok
}
