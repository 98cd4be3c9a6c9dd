// Package kernellog finds lines of the kernel log that name a cause.
package kernellog

import (
	"regexp"
	"strconv"
	"strings"

	"snag/recording"
)

// logCause is a line of the kernel log that names a cause.
type logCause struct {
	name string
	// line must match; its groups pid, comm and device tell the subject.
	line *regexp.Regexp
}

// logCauses are what the suspects look for, with where the kernel prints it.
var logCauses = []logCause{
	{"conntrack-full", regexp.MustCompile(`nf_conntrack: .*table full, dropping packet`)},                                                             // net/netfilter/nf_conntrack_core.c
	{"neighbour-table-full", regexp.MustCompile(`neighbour: .*: neighbor table overflow|[Nn]eighbour table overflow`)},                                // net/core/neighbour.c
	{"route-cache-full", regexp.MustCompile(`Route cache is full`)},                                                                                   // net/ipv6/route.c
	{"tcp-memory", regexp.MustCompile(`TCP: out of memory -- consider tuning tcp_mem`)},                                                               // net/ipv4/tcp.c
	{"tcp-orphans", regexp.MustCompile(`TCP: too many orphaned sockets`)},                                                                             // net/ipv4/tcp.c
	{"syn-flood", regexp.MustCompile(`Possible SYN flooding on port`)},                                                                                // net/ipv4/tcp_input.c
	{"tx-timeout", regexp.MustCompile(`NETDEV WATCHDOG: (?:CPU: \d+: )?(?P<device>[^ ()]+) ?\(.*transmit queue \d+ timed out`)},                       // net/sched/sch_generic.c
	{"link-down", regexp.MustCompile(`(?:^|[ (])(?P<device>[a-zA-Z][\w.-]{1,14})\)?:? (?:NIC )?[Ll]ink (?:is |becomes |status definitely )?[Dd]own`)}, // drivers/net: igb, ixgbe, tg3, mlx5, bonding, phylib
	{"link-up", regexp.MustCompile(`(?:^|[ (])(?P<device>[a-zA-Z][\w.-]{1,14})\)?:? (?:NIC )?[Ll]ink (?:is |becomes |status definitely )?(?:[Uu]p|ready)`)},
	{"oom-kill", regexp.MustCompile(`(?:Out of memory|Memory cgroup out of memory): Killed process (?P<pid>\d+) \((?P<comm>.*?)\)`)},            // mm/oom_kill.c
	{"page-allocation-failure", regexp.MustCompile(`^(?P<comm>.{1,16}): page allocation (?:failure|stalls)`)},                                   // mm/page_alloc.c, warn_alloc
	{"hung-task", regexp.MustCompile(`INFO: task (?P<comm>.{1,16}):(?P<pid>\d+) (?:<.*> )?blocked (?:in I/O wait )?for more than \d+ seconds`)}, // kernel/hung_task.c
	{"soft-lockup", regexp.MustCompile(`BUG: soft lockup - CPU#\d+ stuck for \d+s! \[(?P<comm>.{1,16}):(?P<pid>\d+)\]`)},                        // kernel/watchdog.c
	{"hard-lockup", regexp.MustCompile(`Watchdog detected hard LOCKUP`)},                                                                        // kernel/watchdog.c
	{"rcu-stall", regexp.MustCompile(`rcu: INFO: .* (?:self-)?detected (?:expedited )?stalls?`)},                                                // kernel/rcu/tree_stall.h
	{"io-error", regexp.MustCompile(`(?:I/O error|critical (?:medium|target) error), dev (?P<device>[\w!-]+),`)},                                // block/blk-core.c
	{"filesystem-error", regexp.MustCompile(`(?:EXT4-fs error|BTRFS(?: critical| error)|XFS \(.*\): .*(?:[Cc]orruption|I/O [Ee]rror)|[Rr]emounting filesystem read-only)`)},
	{"nfs-silent", regexp.MustCompile(`(?:nfs|lockd): server .* not responding`)},                                          // net/sunrpc/clnt.c
	{"clocksource-unstable", regexp.MustCompile(`Marking clocksource '.*' as unstable|clocksource: timekeeping watchdog`)}, // kernel/time/clocksource.c
	{"machine-check", regexp.MustCompile(`mce: \[Hardware Error\]`)},
}

// CauseOf finds the cause that a line names.
func CauseOf(line string) (cause string, subject recording.Subject, ok bool) {
	for _, c := range logCauses {
		m := c.line.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		sub := recording.Subject{Kind: recording.KindHost}
		for i, group := range c.line.SubexpNames() {
			switch group {
			case "pid":
				if pid, err := strconv.Atoi(m[i]); err == nil {
					sub.Kind, sub.PID = recording.KindProcess, pid
				}
			case "comm":
				sub.Comm = m[i]
			case "device":
				sub.Device = m[i]
				if c.name != "io-error" { // that one is a disk
					sub.Kind = recording.KindInterface
				} else {
					sub.Kind = recording.KindDisk
				}
			}
		}
		return c.name, sub, true
	}
	return "", recording.Subject{}, false
}

// LongestLine of the kernel log that is kept.
const LongestLine = 200

// Clean makes a line printable and short: what is not is \x1b there already,
// but a record's bytes are anybody's who may write to /dev/kmsg.
func Clean(line []byte) string {
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(line), "?"))
	if len(text) > LongestLine {
		text = strings.ToValidUTF8(text[:LongestLine], "") + "…"
	}
	return text
}
