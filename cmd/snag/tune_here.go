package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"snag/internal/netns"
	"snag/recording"
	"snag/remedies"
	"snag/remedies/conflict"
	"snag/remedies/knob"
	"snag/remedies/plan"
)

// hostOf is the host that a plan for a recording is for: this one as it is now, or the
// recording's as it was.
func hostOf(r *recording.Recording, recorded bool) remedies.Here {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	facts := conflict.FactsOf(r)
	if recorded || err != nil || strings.TrimSpace(string(boot)) != r.Manifest.BootID {
		h := remedies.Recorded(r)
		h.Fit, h.Needs = knob.Fit, knob.Needs
		h.Conflicts = func(p *plan.Plan) []string { return conflict.Of(p, facts) }
		return h
	}
	h := here()
	facts.Files = conflict.ReadFiles("/")
	h.Conflicts = func(p *plan.Plan) []string { return conflict.Of(p, facts) }
	return h
}

func here() remedies.Here {
	h := knob.Real()
	return remedies.Here{
		Netns:   netnsName,
		RouteTo: func(netns, address string) (string, error) { return knob.RouteTo(h, netns, address) },
		Started: func(pid int) (uint64, error) { return knob.Started(h.Proc, pid) },
		Read: func(t plan.Target) (string, error) {
			k, ok := knob.Kinds[t.Kind]
			if !ok {
				return "", fmt.Errorf("snag changes no %q yet", t.Kind)
			}
			return k.Read(h, t)
		},
		Same:  func(t plan.Target, a, b string) bool { return knob.Kinds[t.Kind].Same(t, a, b) },
		Fit:   knob.Fit,
		Needs: knob.Needs,
	}
}

// netnsName names a namespace as plans do: "" is the host's own, else by its name under
// /run/netns, else by a process that is in it.
func netnsName(id uint64) (string, bool) {
	if own, err := hostNetns(); err == nil && own == id {
		return "", true
	}
	names, _ := os.ReadDir(netns.NamedDir)
	for _, n := range names {
		var st unix.Stat_t
		if unix.Stat(filepath.Join(netns.NamedDir, n.Name()), &st) == nil && st.Ino == id {
			return n.Name(), true
		}
	}
	return memberOf(id)
}

// hostNetns is the namespace of the first process, or snag's own where that one is not
// to be read: in a container.
func hostNetns() (uint64, error) {
	if id, err := netns.IDOf("/proc/1/ns/net"); err == nil {
		return id, nil
	}
	return netns.IDOf("/proc/self/ns/net")
}

// memberOf is a process of a namespace without a name, as pid:N.
func memberOf(id uint64) (string, bool) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return "", false
	}
	for _, e := range all {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		if at, err := netns.IDOf("/proc/" + e.Name() + "/ns/net"); err == nil && at == id {
			return "pid:" + e.Name(), true
		}
	}
	return "", false
}
