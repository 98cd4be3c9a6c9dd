package knob

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"snag/internal/netns"
	"snag/remedies/plan"
)

// ofProcess begins the name of a network namespace that has none: pid:812 is the one
// that process 812 lives in.
const ofProcess = "pid:"

// namespaceOf reads such a name.
func namespaceOf(name string) (pid int, ok bool, err error) {
	digits, ok := strings.CutPrefix(name, ofProcess)
	if !ok {
		return 0, false, nil
	}
	pid, err = strconv.Atoi(digits)
	if err != nil || pid < 1 || strconv.Itoa(pid) != digits {
		return 0, true, fmt.Errorf("%q names no network namespace: pid: is followed by a process, as pid:812", name)
	}
	return pid, true, nil
}

// validNetns reports whether a target's namespace is named as it must be.
func validNetns(t plan.Target) error {
	_, process, err := namespaceOf(t.Netns)
	if err != nil {
		return err
	}
	if process && t.Started == 0 {
		return fmt.Errorf("the network namespace %s needs when its process started: another may get that number", t.Netns)
	}
	return nil
}

// inside runs f in a target's network namespace. Where a process names it, that must
// still be the process that the plan means.
func (h Host) inside(t plan.Target, f func() error) error {
	pid, process, err := namespaceOf(t.Netns)
	if err != nil {
		return err
	}
	if !process {
		return h.In(t.Netns, f)
	}
	same := func() error {
		if h.sameProcess(plan.Target{PID: pid, Started: t.Started}) != nil { // others may hold the namespace still
			return fmt.Errorf("process %d, which names the network namespace, ended: another that is in it would do (%w)", pid, ErrAbsent)
		}
		return nil
	}
	if err := same(); err != nil {
		return err
	}
	return netns.DoProcess(h.Proc, pid, same, f)
}

// insideSys runs f with the folder that is /sys of a target's network namespace.
func (h Host) insideSys(t plan.Target, f func(sys string) error) error {
	if t.Netns == "" {
		return f(h.Sys)
	}
	return h.inside(t, func() error { return netns.Sysfs(f) })
}

// inNamed runs f in a namespace by its name under /run/netns, or as pid:812.
func inNamed(name string, f func() error) error {
	if name == "" {
		return f()
	}
	pid, process, err := namespaceOf(name)
	switch {
	case err != nil:
		return err
	case process:
		return netns.DoProcess("/proc", pid, func() error { return nil }, f)
	}
	return netns.DoNamed(name, f)
}

// onDevice reports whether a target names an interface, and its namespace as it must.
func onDevice(t plan.Target) error {
	if t.Device == "" {
		return errors.New(t.Kind + " needs a device")
	}
	return validNetns(t)
}
