package sockets

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"snag/internal/kernel"
)

// hook is one BPF program and the tracepoint it hangs on, or the table.
type hook struct {
	program    string
	tracepoint string // "" for iterators, which run once a second
	over       string // the table of an iterator over a map's elements
	measure    string
	also       []string // other measures that the program takes
	onDemand   bool     // loaded, and attached only when there is a reason
	often      bool     // runs at each segment or call: attached in slices where that is often
	forNames   bool     // runs only where names are asked for at a socket, or by one, that is connected to nobody
	since      string   // the first kernel that has the tracepoint
}

var hooks = []hook{
	{program: kernelProgSetState, tracepoint: "inet_sock_set_state", measure: "sockets.connections", also: []string{"sockets.turns"}, since: "4.16"},
	{program: kernelProgReceiveReset, tracepoint: "tcp_receive_reset", measure: "sockets.resets", since: "4.15"},
	{program: kernelProgSendReset, tracepoint: "tcp_send_reset", measure: "sockets.resets", since: "4.15"},
	{program: kernelProgRetransmit, tracepoint: "tcp_retransmit_skb", measure: "sockets.retransmits", since: "4.15"},
	{program: kernelProgSignal, tracepoint: "signal_generate", measure: "sockets.signals", since: "3.4"},
	{program: kernelProgSent, tracepoint: "sock_send_length", measure: "sockets.holds", also: []string{"sockets.turns", "sockets.queries", "sockets.dns"}, often: true, since: "6.3"},
	{program: kernelProgReceived, tracepoint: "tcp_probe", measure: "sockets.holds", also: []string{"sockets.turns"}, often: true, since: "4.16"},
	{program: kernelProgTurnRead, tracepoint: "sock_recv_length", measure: "sockets.turns", also: []string{"sockets.queries", "sockets.dns"}, often: true, since: "6.3"},
	{program: kernelProgDataReady, tracepoint: "sk_data_ready", measure: "sockets.dns", often: true, forNames: true, since: "6.3"},
	{program: kernelProgUnixTurnsSweep, measure: "sockets.turns"},
	{program: kernelProgDnsQueriesSweep, measure: "sockets.dns", forNames: true},
	{program: kernelProgSentQueriesSweep, measure: "sockets.queries", forNames: true},
	{program: kernelProgErrorReport, tracepoint: "inet_sk_error_report", measure: "sockets.errors", since: "5.15"},
	{program: kernelProgExitCall, tracepoint: "sys_exit", measure: "sockets.errors", since: "4.17", onDemand: true},
}

// overStorage goes over the sockets that have a turn, overFiles over all that processes have open: where the kernel
// refuses the first, as hardened ones do.
var (
	overStorage = hook{program: kernelProgTurnSweep, over: "socket_turns", measure: "sockets.turns"}
	overFiles   = hook{program: kernelProgFileSweep, measure: "sockets.turns"}
)

// sweepHere is the one of the two that this kernel runs.
func sweepHere() hook {
	if kernel.Iterates("bpf_sk_storage_map") == nil {
		return overStorage
	}
	return overFiles
}

// missing reports which measures this kernel has no tracepoint for.
func missing(types *btf.Spec, hooks []hook) map[string]*kernel.Lack {
	lacks := map[string]*kernel.Lack{}
	for _, h := range hooks {
		if h.tracepoint != "" && !kernel.HasTracepoint(types, h.tracepoint) {
			l := &kernel.Lack{
				Why:  "this kernel has no tracepoint " + h.tracepoint,
				Cure: fmt.Sprintf("use a kernel from %s on", h.since),
			}
			lacks[h.measure] = l
			for _, m := range h.also {
				lacks[m] = l
			}
		}
	}
	return lacks
}

// hasUnix reports whether the kernel's own types, not a module's, have UNIX sockets
// (CONFIG_UNIX=y, as every distribution has it).
func hasUnix(types *btf.Spec) bool {
	var sock *btf.Struct
	return types.TypeByName("unix_sock", &sock) == nil
}

// callerReasons are the reset reasons that only a process' own close(2),
// disconnect or SO_LINGER gives (net/ipv4/tcp.c): then the current task did it.
var callerReasons = map[string]bool{
	"SK_RST_REASON_TCP_ABORT_ON_CLOSE":       true,
	"SK_RST_REASON_TCP_ABORT_ON_LINGER":      true,
	"SK_RST_REASON_TCP_DISCONNECT_WITH_DATA": true,
	"SK_RST_REASON_TCP_STATE":                true, // tcp_disconnect, which SO_LINGER 0 ends in
}

// configure fits the programs to the arguments that this kernel's tracepoints
// have, and to whether turns can be measured on it, and returns the names of the reset reasons, nil before Linux 6.10.
func configure(spec *ebpf.CollectionSpec, types *btf.Spec, started uint64, turns bool) (map[uint64]string, error) {
	var reasons map[uint64]string
	set := map[string]any{"started": started, "has_turns": turns, "has_unix": hasUnix(types), kernelVarPlaces: spec.Maps[kernelMapBirths].MaxEntries}
	if args, err := kernel.TracepointArgs(types, "tcp_send_reset"); err == nil && len(args) > 2 {
		set["reset_has_reason"] = true
		if reasons, err = kernel.Enum(types, "sk_rst_reason"); err == nil {
			var mask uint64
			for v, name := range reasons {
				if callerReasons[name] && v < 64 {
					mask |= 1 << v
				}
			}
			set["reasons_of_caller"] = mask
		}
	}
	if args, err := kernel.TracepointArgs(types, "tcp_retransmit_skb"); err == nil && len(args) > 2 {
		set["retransmit_has_err"] = true
	}
	for name, v := range set {
		if err := spec.Variables[name].Set(v); err != nil {
			return nil, fmt.Errorf("set %s in the BPF programs of sockets: %w", name, err)
		}
	}
	return reasons, nil
}
