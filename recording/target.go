package recording

import (
	"fmt"
	"strings"
)

// Target is what the user asked snag to look at; the zero Target is the machine.
type Target struct {
	PID   int    `json:"pid,omitempty"`
	Unit  string `json:"unit,omitempty"`
	Port  int    `json:"port,omitempty"`
	Netns string `json:"netns,omitempty"`
	// Objective is how long an answer may take, s (--slo); 0: not said.
	Objective float64 `json:"objective_seconds,omitempty"`
	// What it was resolved to when the recording began.
	PIDs    []int  `json:"pids,omitempty"`
	NetnsID uint64 `json:"netns_id,omitempty"`
}

// Name is what a person calls the target: "unit nginx"; "" is the machine.
func (t Target) Name() string {
	switch {
	case t.PID != 0:
		return fmt.Sprintf("process %d", t.PID)
	case t.Unit != "":
		return "unit " + t.Unit
	case t.Port != 0:
		return fmt.Sprintf("port %d", t.Port)
	case t.Netns != "":
		return "netns " + t.Netns
	}
	return ""
}

// InUnit tells whether a control group is that of a systemd unit, or below it.
func InUnit(cgroup, unit string) bool {
	for part := range strings.SplitSeq(cgroup, "/") {
		if part == UnitName(unit) {
			return true
		}
	}
	return false
}

// UnitName completes a name as systemctl does: without the suffix of a kind of
// unit (systemd.unit(5)) a service is meant; "php8.2-fpm" has a dot and none.
func UnitName(name string) string {
	for _, kind := range []string{".service", ".slice", ".scope", ".socket", ".mount", ".swap"} { // those with a cgroup
		if strings.HasSuffix(name, kind) {
			return name
		}
	}
	return name + ".service"
}
