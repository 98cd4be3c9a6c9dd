// Package knob is all that snag may change on a host: one file per kind of setting.
// Nothing else of snag writes to a host's settings, and a kind writes only what its
// Valid allows. Each value is read back after it was written, as the kernel made it.
package knob

import (
	"errors"
	"fmt"

	"github.com/godbus/dbus/v5"
	"github.com/mdlayher/genetlink"

	"snag/remedies/plan"
)

// Host is where settings are: the real one, or a test's folders.
type Host struct {
	Proc string // /proc
	Sys  string // /sys
	// In runs f in a network namespace by its name under /run/netns, or as pid:812
	// that of a process; "" is the host's.
	In func(netns string, f func() error) error
	// ethtool opens ethtool's socket in the namespace of the thread; nil: the kernel's.
	ethtool func() (*genetlink.Conn, error)
	// systemd connects to it; nil: that of this host. run is where /run is.
	systemd func() (*dbus.Conn, error)
	run     string
}

// Real is this host.
func Real() Host { return Host{Proc: "/proc", Sys: "/sys", In: inNamed} }

// Knob is one kind of setting.
type Knob interface {
	plan.Kind
	// Read gives the value as the kernel has it now. ErrAbsent: there is no such
	// setting (an interface that is gone, a kernel that has not got it).
	Read(h Host, t plan.Target) (string, error)
	// Write sets a value. An error leaves it as it was, or says that it did not.
	Write(h Host, t plan.Target, value string) error
	// Same reports whether two texts are one value.
	Same(t plan.Target, a, b string) bool
}

// ErrAbsent is of a setting that is not there.
var ErrAbsent = errors.New("there is no such setting on this host")

// ErrEnded is of a setting that ended with what had it, a process: nothing of it is left.
// An interface that is not found may only have another name.
var ErrEnded = fmt.Errorf("its setting ended with it: %w", ErrAbsent)

// Kinds are all, by the name that a plan uses.
var Kinds = map[string]Knob{
	"sysctl":     sysctl{},
	"rps":        queueMask{file: "rps_cpus", rx: true, about: "the CPUs that receive packets of the queue (RPS)"},
	"xps":        queueMask{file: "xps_cpus", about: "the CPUs that send on the queue (XPS)"},
	"rfs":        flowCount{},
	"txqueuelen": txQueueLength{},
	"cpu-quota":  cpuQuota{},
	"nofile":     openFiles{},
	"route":      route{},
	"ring":       ethNumbers{rings},
	"channels":   ethNumbers{channels},
	"coalesce":   ethNumbers{coalesce},
	"feature":    feature{},
	"qdisc":      qdisc{},
	"irq":        irq{},
	"thp":        hugePages{},
	"unit":       unit{},
}

// ForPlan are the kinds as a plan's check wants them.
func ForPlan() map[string]plan.Kind {
	m := map[string]plan.Kind{}
	for name, k := range Kinds {
		m[name] = k
	}
	return m
}
