package sockets

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"snag/internal/kernel"
	"snag/recording"
)

// A look at what calls return lasts this many ticks, and the next begins no
// earlier than this many after: sys_exit costs every call of the machine some
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
	since   int // tick of the last attachment
	pids    map[int]bool
	seconds float64
}

// traceExits attaches the program when a process is short of descriptors or
// ports, and takes it off again.
func (r *running) traceExits() {
	pids := append(r.env.Watch.TakeFailing(), r.shortOfPorts()...)
	e := &r.exits
	if e.link != nil {
		e.seconds += period.Seconds()
		if r.ticks-e.since >= exitTicks {
			e.detach()
		}
	}
	var fresh []uint32
	for _, pid := range pids {
		if pid != r.env.SelfPID {
			fresh = append(fresh, uint32(pid))
		}
	}
	if len(fresh) == 0 || r.kernel.exit == nil || (e.since > 0 && r.ticks-e.since < exitPause) {
		return
	}
	if e.pids == nil {
		e.pids = map[int]bool{}
	}
	m := r.kernel.maps.Maps["failing"]
	for _, pid := range fresh {
		if m.Update(pid, uint8(1), ebpf.UpdateAny) == nil { // full: 64 are enough to tell
			e.pids[int(pid)] = true
		}
	}
	l, err := kernel.AttachRaw("sys_exit", r.kernel.exit)
	if err != nil {
		r.ledger.fail("sockets.errors", fmt.Errorf("look at what calls return: %w", err))
		return
	}
	e.link, e.since = l, r.ticks
}

func (e *exits) detach() {
	if e.link != nil {
		e.link.Close()
		e.link = nil
	}
}

// shortOfPorts finds the processes that hold most ports of one source address to
// one destination. Only a dump of everything tells; the range is read where a
// destination has thousands.
func (r *running) shortOfPorts() []int {
	type pair struct {
		netns       uint64
		from, toAny string
	}
	const few = 1000 // no range is that small where it was not made so to test
	n := map[pair]int{}
	most, least := ephemeralRange(r.env.Proc)
	span := most - least + 1
	if span <= 0 || len(r.survey.found) < min(few, int(portsUsed*float64(span))) {
		return nil
	}
	for i := range r.survey.found {
		s := &r.survey.found[i].Socket
		if s.Proto == "tcp" && s.Remote != "" {
			n[pair{s.Netns, recording.Host(s.Local), s.Remote}]++
		}
	}
	pids := map[int]bool{}
	for i := range r.survey.found {
		s := &r.survey.found[i].Socket
		if s.Proto == "tcp" && len(s.Owners) > 0 && float64(n[pair{s.Netns, recording.Host(s.Local), s.Remote}]) >= portsUsed*float64(span) {
			pids[s.Owners[0].PID] = true
		}
	}
	var out []int
	for pid := range pids {
		out = append(out, pid)
	}
	return out
}

// ephemeralRange is net.ipv4.ip_local_port_range of snag's own namespace.
func ephemeralRange(proc string) (most, least int) {
	b, err := os.ReadFile(filepath.Join(proc, "sys/net/ipv4/ip_local_port_range"))
	if err != nil {
		return 0, 0
	}
	if n, err := fmt.Sscan(strings.TrimSpace(string(b)), &least, &most); n != 2 || err != nil {
		return 0, 0
	}
	return most, least
}
