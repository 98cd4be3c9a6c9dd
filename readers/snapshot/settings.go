package snapshot

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"snag/internal/procfile"
	"snag/recording"
	"snag/recording/kernellog"
)

// nameHas reports whether a word stands in a command or a file's name, with nothing of a
// word beside it.
func nameHas(name, word string) bool {
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("/ _-.,\t", r) }) {
		if w == word {
			return true
		}
	}
	return false
}

// keptSysctls are those that suspects know, besides the lists of the host probe.
var keptSysctls = []string{"net.netfilter.", "net.ipv4.neigh.default.", "net.ipv6.neigh.default.", "net.ipv4.icmp_ratelimit", "net.ipv4.ip_unprivileged_port_start", "net.unix.max_dgram_qlen", "kernel.sched_"}

func keptSysctl(name string) bool {
	return slices.Contains(procfile.MachineSysctls, name) || slices.Contains(procfile.SpaceSysctls, name) || slices.Contains(procfile.MemorySettings, name) ||
		strings.HasSuffix(name, ".rp_filter") || slices.ContainsFunc(keptSysctls, func(p string) bool { return strings.HasPrefix(name, p) })
}

// sysctls reads sysctl -a: "net.core.rmem_max = 212992".
func (l *look) sysctls(it item) (bad int) {
	for data := it.data; len(data) > 0; {
		var line []byte
		line, data = procfile.CutLine(data)
		name, value, ok := strings.Cut(string(line), " = ")
		if !ok {
			if len(bytes.TrimSpace(line)) > 0 && !bytes.HasSuffix(bytes.TrimSpace(line), []byte("=")) && !bytes.HasPrefix(line, []byte("sysctl: ")) {
				bad++
			}
			continue
		}
		l.sysctl(it, name, value, "sysctl -a")
	}
	return bad
}

func (l *look) sysctl(it item, name, value, source string) {
	value = strings.Join(strings.Fields(value), " ")
	l.settled("host.sysctl", it.t)
	switch v, err := strconv.ParseFloat(value, 64); {
	case err != nil:
	case name == "net.netfilter.nf_conntrack_count":
		l.out.Sample(it.t, "node_nf_conntrack_entries", nil, v)
	case name == "net.netfilter.nf_conntrack_max":
		l.out.Sample(it.t, "node_nf_conntrack_entries_limit", nil, v)
	}
	switch name {
	case "kernel.osrelease":
		l.kernel(it, value, source)
	case "kernel.hostname":
		l.host(value)
	}
	if keptSysctl(name) {
		l.fact(it.t, name, value, source)
	}
}

// isSysctlFile: a copy of a file below /proc/sys, one short line.
func isSysctlFile(_, full string, head []byte) bool {
	return strings.Contains("/"+full, "/proc/sys/") && len(head) > 0 && len(head) < 400 && bytes.Count(bytes.TrimSpace(head), []byte("\n")) == 0
}

func (l *look) sysctlFile(it item) int {
	_, name, _ := strings.Cut("/"+it.command, "/proc/sys/")
	l.sysctl(it, strings.ReplaceAll(name, "/", "."), string(it.data), "/proc/sys/"+name)
	return 0
}

func (l *look) kernel(it item, release, source string) {
	l.told.Machine.Kernel = release
	l.fact(it.t, "kernel.release", release, source)
}

// host takes the host's name; two names are told.
func (l *look) host(name string) {
	name, _, _ = strings.Cut(name, ".")
	if name == "" || name == "localhost" || name == "(none)" {
		return
	}
	if l.told.Host != "" && l.told.Host != name {
		l.doubt("it names two hosts, %s and %s: the first is taken", l.told.Host, name)
		return
	}
	l.told.Host = name
}

var oneName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$`)

// isHostname: the file "hostname" of a sosreport, /etc/hostname, /proc/sys/kernel/hostname.
func isHostname(base, _ string, head []byte) bool {
	return (base == "hostname" || strings.HasPrefix(base, "hostname.") || strings.HasPrefix(base, "hostname ")) && oneName.Match(bytes.TrimSpace(head))
}

func (l *look) hostname(it item) int {
	l.host(string(bytes.TrimSpace(it.data)))
	return 0
}

// uname reads uname -a: "Linux HOST RELEASE #1 SMP … x86_64 GNU/Linux".
func (l *look) uname(it item) int {
	f := strings.Fields(string(it.data))
	if len(f) < 4 {
		return 1
	}
	l.host(f[1])
	l.kernel(it, f[2], "uname -a")
	for _, arch := range []string{"x86_64", "aarch64", "ppc64le", "s390x", "riscv64", "armv7l"} {
		if slices.Contains(f, arch) {
			l.told.Machine.Arch = arch
		}
	}
	return 0
}

func (l *look) lscpu(it item) int {
	for line := range lines(it.data) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(name) {
		case "Architecture":
			l.told.Machine.Arch = value
		case "CPU(s)":
			if n, err := strconv.Atoi(value); err == nil && n > 0 && n < 1<<16 {
				l.told.Machine.CPUs = n
			}
		case "Model name":
			l.fact(it.t, "cpu.model", value, "lscpu")
		}
	}
	return 0
}

// nothing is for what only tells the time.
func (l *look) nothing(item) int { return 0 }

// logBefore: lines of the kernel log as old as that, before the first moment, are
// kept, as the host probe keeps them.
const logBefore = 10 * time.Minute

// mostLogLines that name a cause are kept.
const mostLogLines = 1000

var (
	logSeconds = regexp.MustCompile(`^(?:<\d+>)?\[ *(\d+)\.(\d{6})\] (.*)$`)
	logDate    = regexp.MustCompile(`^\[([A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})\] (.*)$`)
)

// dmesg reads the kernel log for lines that name a cause: seconds since boot, or the
// local time with -T.
func (l *look) dmesg(it item) int {
	l.settled("host.kernel-log", it.t)
	kept := 0
	for line := range lines(it.data) {
		var t recording.Time
		text := ""
		if m := logSeconds.FindStringSubmatch(line); m != nil {
			text = m[3]
			if l.told.Boot != 0 {
				s, _ := strconv.ParseInt(m[1], 10, 64)
				us, _ := strconv.ParseInt(m[2], 10, 64)
				t = l.told.Boot.Add(time.Duration(s)*time.Second + time.Duration(us)*time.Microsecond)
			}
		} else if m := logDate.FindStringSubmatch(line); m != nil {
			text = m[2]
			if at, err := time.ParseInLocation("Mon Jan _2 15:04:05 2006", m[1], l.zone); err == nil {
				t = recording.Time(at.UnixNano())
			}
		} else {
			continue
		}
		cause, subject, ok := kernellog.CauseOf(text)
		if !ok || kept >= mostLogLines {
			continue
		}
		switch {
		case t == 0:
			l.doubt("%s: the kernel log counts from boot, and nothing shows when that was: add /proc/stat, or dmesg -T", it.path)
			return 0
		case t < it.t.Add(-logBefore) && (l.told.First == 0 || t < l.told.First.Add(-logBefore)):
			continue
		}
		kept++
		l.out.Append(recording.Event{T: t, End: t, Kind: recording.EventKernelLog, Subject: subject,
			Attrs: map[string]string{"cause": cause, "line": kernellog.Clean([]byte(text))}})
	}
	return 0
}

// conntrackFields are those that node_exporter exports (collector/conntrack_linux.go).
var conntrackFields = []string{"found", "invalid", "ignore", "insert", "insert_failed", "drop", "early_drop", "search_restart"}

func (l *look) conntrack(it item, sums map[string]float64) {
	for _, f := range conntrackFields {
		if v, ok := sums[f]; ok {
			l.out.Sample(it.t, "node_nf_conntrack_stat_"+f, nil, v)
		}
	}
	l.counted("routes.conntrack", it.t)
}

// conntrackStat reads /proc/net/stat/nf_conntrack.
func (l *look) conntrackStat(it item) int {
	sums, err := procfile.Statistics(it.data)
	if err != nil {
		return 1
	}
	if v, ok := sums["entries"]; ok {
		l.out.Sample(it.t, "node_nf_conntrack_entries", nil, v)
	}
	l.conntrack(it, sums)
	return 0
}

// conntrackCommand reads conntrack -S: "cpu=0   found=0 invalid=3 …".
func (l *look) conntrackCommand(it item) (bad int) {
	sums := map[string]float64{}
	for _, f := range strings.Fields(string(it.data)) {
		name, value, ok := strings.Cut(f, "=")
		v, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil {
			bad++
			continue
		}
		if name != "cpu" {
			sums[name] += v
		}
	}
	l.conntrack(it, sums)
	return bad
}
