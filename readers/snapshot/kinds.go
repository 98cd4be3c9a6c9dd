package snapshot

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// kind is one sort of output.
type kind struct {
	name string
	// is tells it by the content alone; nil where the name is needed.
	is func(head []byte) bool
	// named tells it by the name, and a content that does not speak against it.
	named func(base, full string, head []byte) bool
	// read returns how many lines it did not understand.
	read func(l *look, it item) int
}

// kinds in the order in which they are tried.
func kinds() []kind {
	return []kind{
		{name: "ethtool -S", is: begins("NIC statistics:"), read: (*look).ethtoolStatistics},
		{name: "ethtool -g", is: begins("Ring parameters for "), read: (*look).ethtoolRings},
		{name: "ethtool -c", is: begins("Coalesce parameters for "), read: (*look).ethtoolCoalesce},
		{name: "ethtool -l", is: begins("Channel parameters for "), read: (*look).ethtoolChannels},
		{name: "ethtool -k", is: either(begins("Features for "), begins("Offload parameters for ")), read: (*look).ethtoolFeatures},
		{name: "ethtool -i", is: isDriver, read: (*look).ethtoolDriver},
		{name: "ethtool", is: begins("Settings for "), read: (*look).ethtoolLink},
		{name: "tc -s qdisc", is: matches(`^qdisc \S+ [0-9a-f]*: `), read: (*look).tcText},
		{name: "tc -j -s qdisc", is: matches(`^\[\s*\{\s*"kind"\s*:`), read: (*look).tcJSON},
		{name: "ss", is: matches(`^(Netid\s+)?State\s+Recv-Q\s+Send-Q\s+Local Address`), read: (*look).ss},
		{name: "netstat -s", is: matches(`^Ip:\n    (Forwarding: |\d+ total packets received)`), read: (*look).netstatText},
		{name: "nstat", is: matches(`^#(kernel|\d+\.\d+ sampling.*|[\w.]+)\n[A-Z]\w+ +\d+ +\d+\.\d`), read: (*look).nstatText},
		{name: "nstat -j", is: matches(`^\{\s*"kernel"\s*:\s*\{`), read: (*look).nstatJSON},
		{name: "numastat -m", is: either(begins("Per-node system memory usage"), matches(`^\s+Node 0 .*\n(\s*-+)*\s*\nMemTotal `)), read: (*look).numastatMemory},
		{name: "numastat", is: matches(`^\s+node0( +node\d+)*\s*\nnuma_hit `), read: (*look).numastat},
		{name: "/proc/net/snmp", is: matches(`^Ip: Forwarding DefaultTTL `), read: (*look).pairs},
		{name: "/proc/net/netstat", is: begins("TcpExt: SyncookiesSent "), read: (*look).pairs},
		{name: "/proc/net/snmp6", is: matches(`^Ip6InReceives\s`), read: (*look).snmp6},
		{name: "/proc/net/sockstat", is: either(begins("sockets: used "), begins("TCP6: inuse ")), read: (*look).sockstat},
		{name: "/proc/net/softnet_stat", is: matches(`^([0-9a-f]{8} ){8,}[0-9a-f]{8}`), read: (*look).softnet},
		{name: "/proc/net/dev", is: begins("Inter-|   Receive"), read: (*look).dev},
		{name: "meminfo of a node", is: matches(`^\s*Node \d+ MemTotal:`), read: (*look).nodeMeminfo},
		{name: "/proc/meminfo", is: matches(`^MemTotal: +\d+ kB\n`), read: (*look).meminfo},
		{name: "/proc/vmstat", is: begins("nr_free_pages "), read: (*look).vmstat},
		{name: "/proc/buddyinfo", is: matches(`^Node \d+, zone +\w+ +\d+ +\d+`), read: (*look).buddyinfo},
		{name: "/proc/zoneinfo", is: matches(`^Node \d+, zone +\w+\n`), read: (*look).zoneinfo},
		{name: "numastat of a node", is: matches(`^numa_hit \d+\nnuma_miss `), read: (*look).nodeNumastat},
		{name: "/proc/interrupts", is: matches(`^ +CPU\d+ .*\n +\w+: +\d+`), read: (*look).perCPU},
		{name: "/proc/stat", is: matches(`^cpu  \d+ \d+ \d+ \d+`), read: (*look).stat},
		{name: "/proc/loadavg", is: matches(`^\d+\.\d\d \d+\.\d\d \d+\.\d\d \d+/\d+ \d+\n`), read: (*look).loadavg},
		{name: "/proc/pressure", is: begins("some avg10="), read: (*look).pressure},
		{name: "nf_conntrack's statistics", is: begins("entries  "), read: (*look).conntrackStat},
		{name: "conntrack -S", is: matches(`^cpu=0 +\t?(found|searched)=`), read: (*look).conntrackCommand},
		{name: "sysctl -a", is: matches(`^[a-z][\w./-]*\.[\w./-]+ = `), read: (*look).sysctls},
		{name: "dmesg", is: both(matches(`^(\[ *\d+\.\d{6}\]|\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\]|<\d+>\[ *\d+\.\d{6}\]) `), isNot(matches(`^\[[^\]]*\] \[(\w*:)?(emerg|alert|crit|error|warn|notice|info|debug|trace\d)\] `))), read: (*look).dmesg}, // an Apache's error log has the same times
		{name: "lscpu", is: begins("Architecture: "), read: (*look).lscpu},
		{name: "uname -a", is: matches(`^Linux \S+ \d+\.\d+\S* #`), read: (*look).uname},
		{name: "uptime", is: matches(`^ \d\d:\d\d:\d\d up .* load average:`), read: (*look).nothing},
		{name: "date", is: isDate, read: (*look).nothing},
		{name: "a sysctl's file", named: isSysctlFile, read: (*look).sysctlFile},
		{name: "hostname", named: isHostname, read: (*look).hostname},
	}
}

var all = kinds()

// kindOf reports what an output is; nil: nothing that is known.
func kindOf(head []byte, name string) *kind {
	head = head[:min(len(head), 4096)]
	for i := range all {
		if k := &all[i]; k.is != nil && k.is(head) {
			return k
		}
	}
	full := strings.TrimSpace(name)
	for i := range all {
		if k := &all[i]; k.named != nil && k.named(path.Base(full), full, head) {
			return k
		}
	}
	return nil
}

// Sniff reports whether a file's beginning is of this kind: an output that is known, or
// one behind the command that printed it.
func Sniff(head []byte) bool {
	for i := range all {
		if k := &all[i]; k.is != nil && k.is(head) {
			return true
		}
	}
	for _, s := range sections(head) {
		if s.command != "" && kindOf(s.data, "") != nil {
			return true
		}
	}
	return false
}

// Named tells files by their name where the content can't say what they are: a
// sysctl's own file, the host's name.
func Named(file string, head []byte) bool { return kindOf(head, file) != nil }

func begins(text string) func([]byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(head, "\n"), []byte(text)) }
}

func matches(pattern string) func([]byte) bool {
	re := regexp.MustCompile(pattern)
	return func(head []byte) bool { return re.Match(bytes.TrimLeft(head[:min(len(head), 2048)], "\n")) }
}

func both(a, b func([]byte) bool) func([]byte) bool {
	return func(head []byte) bool { return a(head) && b(head) }
}

func isNot(a func([]byte) bool) func([]byte) bool {
	return func(head []byte) bool { return !a(head) }
}

func either(a, b func([]byte) bool) func([]byte) bool {
	return func(head []byte) bool { return a(head) || b(head) }
}

// isDriver: ethtool -i names a driver and then its version.
var isDriver = matches(`^driver: \S+\nversion:`)

// section is a command's part of a file.
type section struct {
	command string
	data    []byte
}

// prompted is a line that shows a command before its output, as people and scripts
// write them: "# ethtool -S eth0", "+ tc -s qdisc", "=== ss -tin ===".
var prompted = regexp.MustCompile(`^(?:\S*[#$>%]|\++|=+|-+|\*+|\[[^\]]*\][#$])\s*((?:/\S*/)?(?:ethtool|tc|ss|netstat|nstat|numastat|cat|sysctl|dmesg|date|uname|uptime|lscpu|conntrack|hostname|free|lspci|ip|sudo|for|echo)\b.*?)\s*(?:=*|-*|\**)$`)

// mostSections of one file are taken apart.
const mostSections = 10_000

// sections parts a file at the commands that it shows; what stands before the first
// has none. A file without is one section.
func sections(data []byte) (out []section) {
	begin, command := 0, ""
	for at := 0; at < len(data) && len(out) < mostSections; {
		line, _, _ := bytes.Cut(data[at:], []byte("\n"))
		next := min(len(data), at+len(line)+1)
		if len(line) < 300 && len(line) > 3 && strings.IndexByte("#$>%+=-*[", line[0]) >= 0 || bytes.ContainsAny(line[:min(len(line), 80)], "#$") && len(line) < 300 {
			if m := prompted.FindSubmatch(bytes.TrimRight(line, " \r")); m != nil {
				if at > begin {
					out = append(out, section{command, data[begin:at]})
				}
				begin, command = next, string(m[1])
			}
		}
		at = next
	}
	if len(data) > begin || command != "" {
		out = append(out, section{command, data[begin:]})
	}
	return out
}

// items parts a file into outputs. "for i in …; do ethtool -S $i; done" prints several
// of one kind without their commands between.
func (l *look) items(file string, data []byte) (out []item) {
	for _, s := range sections(data) {
		it := item{path: file, command: s.command, data: bytes.TrimLeft(s.data, "\n")}
		if it.command == "" {
			it.command = file
		}
		out = append(out, it)
	}
	return out
}
