package sockets

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"snag/internal/kernel"
	"snag/recording"
)

// A look at what calls return lasts this many ticks, and the next for the same reason begins
// no earlier than this many after: sys_exit costs every call of the machine some
// 50 ns while it is attached.
const (
	exitTicks = 3
	exitPause = 15
)

// portsUsed is the share of the ephemeral ports to one destination from which
// connect may fail soon.
const portsUsed = 0.8

// exits is the program at the end of system calls, attached now and then.
type exits struct {
	link    link.Link
	since   int            // tick of the last attachment
	asked   map[string]int // tick at which it was last attached for that reason
	pids    map[int]bool
	seconds float64
}

// due reports whether a reason to look is not the one for which it was looked at a moment ago.
func (e *exits) due(reason string, tick int) bool {
	last, before := e.asked[reason]
	return !before || tick-last >= exitPause
}

// fewDenied connections of a process in a second fail for a reason that its calls are told.
const fewDenied = 3

// traceExits attaches the program when a process is short of descriptors or ports, or its connects fail, or a UNIX
// listener's backlog may be, when a service answers with errors or ends connections without an answer, when a file
// system is full, and for the processes that the user names; and takes it off again.
func (r *running) traceExits() {
	pids := slices.Concat(r.env.Watch.TakeFailing(), r.shortOfPorts(), r.denied, r.env.Target.PIDs)
	e := &r.exits
	if e.link != nil {
		e.seconds += period.Seconds()
		if r.ticks-e.since >= exitTicks {
			e.detach()
		}
	}
	if r.kernel.exit == nil {
		return
	}
	var fresh []uint32
	for _, pid := range pids {
		if pid != r.env.SelfPID {
			fresh = append(fresh, uint32(pid))
		}
	}
	if e.asked == nil {
		e.pids, e.asked = map[int]bool{}, map[string]int{}
	}
	wanted := false
	for _, reason := range []struct {
		name string
		is   func() bool
	}{
		{"short", func() bool { return len(fresh) > 0 }}, {"backlog", r.shortBacklog}, {"errors", func() bool { return r.troubled }}, {"disk", func() bool { return r.ticks%diskEvery == 1 && r.fullDisk() }},
	} {
		if e.due(reason.name, r.ticks) && reason.is() {
			e.asked[reason.name], wanted = r.ticks, true
		}
	}
	if !wanted {
		return
	}
	m := r.kernel.maps.Maps["failing"]
	for _, pid := range fresh {
		if m.Update(pid, uint8(1), ebpf.UpdateAny) == nil { // full: 64 are enough to tell
			e.pids[int(pid)] = true
		}
	}
	e.since = r.ticks
	if e.link != nil {
		return // and stays for longer
	}
	l, err := kernel.AttachRaw("sys_exit", r.kernel.exit)
	if err != nil {
		r.ledger.fail("sockets.errors", fmt.Errorf("look at what calls return: %w", err))
		return
	}
	e.link = l
}

func (e *exits) detach() {
	if e.link != nil {
		e.link.Close()
		e.link = nil
	}
}

// shortOfPorts finds the processes with connections from a source address to a
// destination between which most of the namespace's ports are taken, be it by
// connections in TIME-WAIT. Only a dump of everything tells.
func (r *running) shortOfPorts() []int {
	type pair struct {
		netns uint64
		flowEnd
	}
	short := map[pair]bool{}
	for _, p := range r.survey.crowd.ports {
		if span := r.survey.ephemeral[p.Netns]; span > 0 && float64(p.InUse) >= portsUsed*float64(span) {
			short[pair{p.Netns, flowEnd{p.Local, p.Remote}}] = true
		}
	}
	if len(short) == 0 {
		return nil
	}
	pids := map[int]bool{}
	for i := range r.survey.found {
		s := &r.survey.found[i].Socket
		if s.Proto == "tcp" && len(s.Owners) > 0 && short[pair{s.Netns, flowEnd{recording.Host(s.Local), s.Remote}}] {
			pids[s.Owners[0].PID] = true
		}
	}
	return slices.Collect(maps.Keys(pids))
}

// few connections that may wait: a burst of clients fills it between two looks.
const fewWaiting = 64

// shortBacklog reports whether a UNIX listener refuses connections, as far as a look shows:
// the kernel counts them nowhere, and connect returns EAGAIN. Half of its backlog is
// in use, or it is short and its server is asked.
func (r *running) shortBacklog() bool {
	for i := range r.survey.found {
		s := &r.survey.found[i].Socket
		if s.Proto != unixProto || s.State != "LISTEN" {
			continue
		}
		if s.RecvQ > 0 && 2*s.RecvQ >= s.SendQ || s.SendQ <= fewWaiting && r.served[listenKey{s.Netns, s.Local}] {
			return true
		}
	}
	return false
}

// ephemeralPorts is how many ports connect() chooses from in the network namespace
// of the calling thread, net.ipv4.ip_local_port_range; 0 where it can't be read.
func ephemeralPorts(proc string) int {
	b, err := os.ReadFile(filepath.Join(proc, "sys/net/ipv4/ip_local_port_range"))
	if err != nil {
		return 0
	}
	var least, most int
	if n, err := fmt.Sscan(strings.TrimSpace(string(b)), &least, &most); n != 2 || err != nil || most < least {
		return 0
	}
	return most - least + 1
}
