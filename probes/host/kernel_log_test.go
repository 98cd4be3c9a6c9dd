package host

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snag/recording"
	"snag/recording/kernellog"
)

// Lines of real logs: this kernel's (SYN flooding, link), and as the functions
// named beside the causes print them.
func TestLinesThatNameACause(t *testing.T) {
	for line, want := range map[string]string{
		"nf_conntrack: nf_conntrack: table full, dropping packet":                                              "conntrack-full host 0",
		"TCP: request_sock_TCP: Possible SYN flooding on port 10.80.1.1:8080. Sending cookies.":                "syn-flood host 0",
		"TCP: out of memory -- consider tuning tcp_mem":                                                        "tcp-memory host 0",
		"neighbour: arp_cache: neighbor table overflow!":                                                       "neighbour-table-full host 0",
		"NETDEV WATCHDOG: eth0 (igb): transmit queue 3 timed out":                                              "tx-timeout interface 0 eth0",
		"NETDEV WATCHDOG: CPU: 12: ens1f0 (ixgbe): transmit queue 7 timed out 5120 ms":                         "tx-timeout interface 0 ens1f0",
		"ixgbe 0000:01:00.0 eth2: NIC Link is Down":                                                            "link-down interface 0 eth2",
		"e1000e: eth0 NIC Link is Up 1000 Mbps Full Duplex":                                                    "link-up interface 0 eth0",
		"igb 0000:07:00.0 enp7s0: igb: enp7s0 NIC Link is Down":                                                "link-down interface 0 enp7s0",
		"mlx5_core 0000:3b:00.0 ens1f0np0: Link down":                                                          "link-down interface 0 ens1f0np0",
		"bond0: (slave eth1): link status definitely down, disabling slave":                                    "link-down interface 0 eth1",
		"r8169 0000:02:00.0 enp2s0: Link is Down":                                                              "link-down interface 0 enp2s0",
		"IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready":                                              "link-up interface 0 eth0",
		"Out of memory: Killed process 4711 (java) total-vm:8123456kB, anon-rss:4000000kB, file-rss:0kB":       "oom-kill process 4711 java",
		"Memory cgroup out of memory: Killed process 12 (tmux: server) total-vm:9kB":                           "oom-kill process 12 tmux: server",
		"kworker/u4:2: page allocation failure: order:4, mode:0x40cc0(GFP_KERNEL|__GFP_COMP)":                  "page-allocation-failure host 0",
		"nginx: page allocation failure: order:4, mode:0x40cc0(GFP_KERNEL|__GFP_COMP), nodemask=(null)":        "page-allocation-failure host 0",
		"INFO: task jbd2/sda1-8:301 blocked for more than 120 seconds.":                                        "hung-task process 301 jbd2/sda1-8",
		"INFO: task postgres:990 blocked in I/O wait for more than 122 seconds.":                               "hung-task process 990 postgres",
		"watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [java:4711]":                                        "soft-lockup process 4711 java",
		"rcu: INFO: rcu_sched self-detected stall on CPU":                                                      "rcu-stall host 0",
		"I/O error, dev sdb, sector 1953525160 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2":            "io-error disk 0 sdb",
		"EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm ls: reading directory lblock 0":     "filesystem-error host 0",
		"nfs: server filer1 not responding, still trying":                                                      "nfs-silent host 0",
		"clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable because the skew is": "clocksource-unstable host 0",
		"EXT4-fs (loop0): mounted filesystem r/w with ordered data mode. Quota mode: none.":                    "",
		"loop0: detected capacity change from 0 to 65536":                                                      "",
		"": "",
	} {
		cause, sub, ok := kernellog.CauseOf(line)
		got := ""
		if ok {
			got = strings.TrimSpace(fmt.Sprint(cause, " ", sub.Kind, " ", sub.PID, " ", sub.Device))
			if sub.Kind == recording.KindProcess {
				got = fmt.Sprint(cause, " ", sub.Kind, " ", sub.PID, " ", sub.Comm)
			}
		}
		if got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

// fake is a kernel log of records and errors.
type fake struct{ all []any }

func (f *fake) next(buf []byte) (int, error) {
	if len(f.all) == 0 {
		return 0, unix.EAGAIN
	}
	one := f.all[0]
	f.all = f.all[1:]
	if err, ok := one.(error); ok {
		return 0, err
	}
	return copy(buf, one.(string)), nil
}

func (f *fake) close() {}

const full = "nf_conntrack: nf_conntrack: table full, dropping packet"

func TestTheKernelLogIsReadFromBeforeTheWindow(t *testing.T) {
	p, env, sink := copied(t, nil)
	up := env.Anchor.Monotonic / 1000
	at := func(seconds int64) string {
		return fmt.Sprintf("4,%d,%d,-;%s\n SUBSYSTEM=net\n", 100+seconds, up+seconds*1e6, full)
	}
	log := &fake{all: []any{at(-3600), unix.EPIPE, at(-60), "no record", "6,1,2,-,caller=T1;booted\n"}}
	p.log.open = func() (records, error) { return log, nil }
	p.tick(0, false)
	log.all = append(log.all, at(3600)) // its clock is ahead
	p.tick(0, true)
	events := sink.Recording().Events
	var got []recording.Event
	for _, e := range events {
		if e.Kind == recording.EventKernelLog {
			got = append(got, e)
		}
	}
	if len(got) != 2 || got[0].Attrs["cause"] != "conntrack-full" || got[0].Attrs["line"] != full {
		t.Fatalf("events %+v", got)
	}
	if d := env.Now().Sub(got[0].T).Seconds(); d < 59 || d > 90 {
		t.Errorf("a line of a minute ago is %.1f s old", d)
	}
	if d := env.Now().Sub(got[1].T).Seconds(); d < 0 || d > 5 {
		t.Errorf("a line of now is %.1f s old", d)
	}
	if c, ok := sink.Recording().Measured("host.kernel-log"); !ok || c.State != recording.CoveragePartial || c.Cure == "" {
		t.Errorf("coverage %+v, want that lines were lost", c)
	}
}

func TestAFloodOfLinesIsBounded(t *testing.T) {
	p, env, sink := copied(t, nil)
	log := &fake{}
	p.log.open = func() (records, error) { return log, nil }
	p.tick(0, false)
	for i := range 3000 {
		log.all = append(log.all, fmt.Sprintf("4,%d,%d,-;%s", i, env.Anchor.Monotonic/1000, full))
	}
	p.tick(0, false)
	p.meter.writeCoverage()
	n := 0
	for _, e := range sink.Recording().Events {
		if e.Kind == recording.EventKernelLog {
			n++
		}
	}
	c, _ := sink.Recording().Measured("host.kernel-log")
	if n != mostLines || !strings.Contains(c.Why, fmt.Sprint(3000-mostLines)) {
		t.Errorf("%d lines kept; coverage %+v", n, c)
	}
}

func TestAKernelLogThatMayNotBeReadIsUnavailable(t *testing.T) {
	p, _, sink := copied(t, nil)
	tries := 0
	p.log.open = func() (records, error) { tries++; return nil, errors.Join(unix.EPERM) }
	p.tick(0, false)
	p.tick(0, true)
	p.meter.writeCoverage()
	if c, ok := sink.Recording().Measured("host.kernel-log"); ok || c.Why == "" || tries != 1 {
		t.Errorf("coverage %+v after %d tries", c, tries)
	}
}

func FuzzLogRecord(f *testing.F) {
	f.Add([]byte("6,339,5140900,-;NET: Registered protocol family 10\n SUBSYSTEM=acpi\n DEVICE=+acpi:PNP0A03:00\n"))
	f.Add([]byte("4,1,2,-,caller=T1;watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [java:4711]"))
	f.Add([]byte(",,;"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseLogRecord(data)
		if err != nil {
			return
		}
		if r.Micros < 0 || r.Priority > 7 || len(r.Line) > kernellog.LongestLine+len("…") || strings.ContainsAny(r.Line, "\n\x00") {
			t.Errorf("record %+v", r)
		}
		if cause, _, ok := kernellog.CauseOf(r.Line); ok && cause == "" {
			t.Error("a cause without a name")
		}
	})
}

// What is said of a device that can't be opened must help: a container lacks the device, not the capability.
func TestNoKmsg(t *testing.T) {
	for _, c := range []struct {
		err       error
		permitted bool
		why, cure string
	}{
		{unix.ENOENT, true, "no such file", "--device /dev/kmsg"},
		{unix.EPERM, true, "operation not permitted", "--device /dev/kmsg"}, // the device's control group
		{unix.EPERM, false, "dmesg_restrict is set, and CAP_SYSLOG is lacking", "CAP_SYSLOG"},
		{unix.EACCES, false, "permission denied", "run as root"},
	} {
		if got := noKmsg(c.err, c.permitted); !strings.Contains(got.Why, c.why) || !strings.Contains(got.Cure, c.cure) {
			t.Errorf("%v, %v: %+v", c.err, c.permitted, got)
		}
	}
}
