package conflict

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snag/remedies/plan"
	"snag/remedies/sysctld"
)

func change(t plan.Target, then string) *plan.Plan {
	return &plan.Plan{Changes: []plan.Change{{ID: "1", Target: t, Then: then}}}
}

func sysctl(name, then string) *plan.Plan {
	return change(plan.Target{Kind: "sysctl", Name: name}, then)
}

func TestWhatWorksAgainstAChange(t *testing.T) {
	zero := 0
	mq := Facts{Devices: map[string]Device{"eth0": {Children: []string{":1", ":2"}}}}
	wmem := sysctl("net.core.wmem_max", "1")
	wmem.Changes[0].Needs = "a restart"
	forUDP := sysctl("net.ipv4.tcp_rmem", "4096 87380 9000000")
	forUDP.For.Suspect, forUDP.Changes[0].Needs = "udp-receive-buffer-full", "new connections"
	both := sysctl("net.core.netdev_budget", "600")
	both.Changes = append(both.Changes, plan.Change{ID: "2", Target: plan.Target{Kind: "sysctl", Name: "net.core.netdev_budget_usecs"}, Then: "16000"})
	for name, c := range map[string]struct {
		p     *plan.Plan
		facts Facts
		want  string // "": nothing
	}{
		"a budget alone":          {sysctl("net.core.netdev_budget", "600"), Facts{}, "netdev_budget_usecs as well"},
		"a time alone":            {sysctl("net.core.netdev_budget_usecs", "16000"), Facts{}, "ends at net.core.netdev_budget as well"},
		"both":                    {both, Facts{}, ""},
		"fq in place of mq":       {change(plan.Target{Kind: "qdisc", Device: "eth0", Parent: "root"}, "fq"), mq, "one lock for all CPUs"},
		"one child of two":        {change(plan.Target{Kind: "qdisc", Name: "flow_limit", Device: "eth0", Parent: ":1"}, "300"), mq, "1 of the 2 children"},
		"no mq":                   {change(plan.Target{Kind: "qdisc", Name: "flow_limit", Device: "eth1", Parent: "root"}, "300"), mq, ""},
		"bbr without fq, of old":  {change(plan.Target{Kind: "qdisc", Device: "eth0", Parent: "root"}, "fq_codel limit 1000"), Facts{Kernel: [2]int{4, 9}, Congestion: "bbr"}, "paced by fq alone"},
		"bbr without fq, of now":  {change(plan.Target{Kind: "qdisc", Device: "eth0", Parent: "root"}, "fq_codel limit 1000"), Facts{Kernel: [2]int{6, 1}, Congestion: "bbr"}, ""},
		"ntuple":                  {change(plan.Target{Kind: "feature", Name: "rx-ntuple-filter", Device: "eth0"}, "on"), Facts{Devices: map[string]Device{"eth0": {Driver: "ixgbe"}}}, "ATR) off"},
		"ntuple elsewhere":        {change(plan.Target{Kind: "feature", Name: "rx-ntuple-filter", Device: "eth0"}, "on"), Facts{Devices: map[string]Device{"eth0": {Driver: "mlx5_core"}}}, ""},
		"tcp_rmem for UDP":        {forUDP, Facts{}, "UDP does not look at"},
		"a buffer that is set":    {sysctl("net.ipv4.tcp_rmem", "4096 87380 9000000"), Facts{Fixed: []Fixed{{"server[9]", 65536}}}, "server[9] set SO_RCVBUF"},
		"open sockets":            {sysctl("net.core.rmem_default", "1000000"), Facts{}, "keep their size"},
		"that is said already":    {wmem, Facts{}, ""},
		"RPS beside queues":       {change(plan.Target{Kind: "rps", Device: "eth0", Queue: &zero}, "f"), Facts{CPUs: 4, Devices: map[string]Device{"eth0": {RxQueues: 4}}}, "4 receive queues for 4 CPUs"},
		"RPS off":                 {change(plan.Target{Kind: "rps", Device: "eth0", Queue: &zero}, "0"), Facts{CPUs: 4, Devices: map[string]Device{"eth0": {RxQueues: 4}}}, ""},
		"RPS with one queue":      {change(plan.Target{Kind: "rps", Device: "eth0", Queue: &zero}, "f"), Facts{CPUs: 4, Devices: map[string]Device{"eth0": {RxQueues: 1}}}, ""},
		"irqbalance":              {change(plan.Target{Kind: "irq", IRQ: 30}, "2"), Facts{Files: Files{IRQBalance: true}}, "irqbalance runs"},
		"irqbalance, no mask":     {sysctl("net.core.somaxconn", "1"), Facts{Files: Files{IRQBalance: true}}, ""},
		"another namespace":       {change(plan.Target{Kind: "sysctl", Name: "net.core.somaxconn", Netns: "a"}, "1"), Facts{Files: Files{Sysctl: []sysctld.Line{{File: "/etc/sysctl.conf", Path: "net/core/somaxconn", Value: "9"}}}}, ""},
		"a later file, the same":  {sysctl("net.core.somaxconn", "9"), Facts{Files: Files{Sysctl: []sysctld.Line{{File: "/etc/sysctl.conf", Path: "net/core/somaxconn", Value: "9"}}}}, ""},
		"a later file":            {sysctl("net.core.somaxconn", "8"), Facts{Files: Files{Sysctl: []sysctld.Line{{File: "/etc/sysctl.conf", N: 3, Path: "net/core/somaxconn", Value: "9"}}}}, `/etc/sysctl.conf:3 sets net.core.somaxconn to "9"`},
		"an earlier file":         {sysctl("net.core.somaxconn", "8"), Facts{Files: Files{Sysctl: []sysctld.Line{{File: "/usr/lib/sysctl.d/50-default.conf", Path: "net/core/somaxconn", Value: "9"}}}}, ""},
		"our own file":            {sysctl("net.core.somaxconn", "8"), Facts{Files: Files{Sysctl: []sysctld.Line{{File: "/etc/sysctl.d/90-snag-qdisc.conf", Path: "net/core/somaxconn", Value: "9"}}}}, ""},
		"tuned, which comes last": {sysctl("vm.swappiness", "8"), Facts{Files: Files{Profile: "p", TunedLast: true, Tuned: []Line{{File: "/usr/lib/tuned/p/tuned.conf", N: 2, Section: "sysctl", Key: "vm.swappiness", Value: "30"}}}}, "tuned (profile p, /usr/lib/tuned/p/tuned.conf:2)"},
		"tuned, before sysctl.d":  {sysctl("vm.swappiness", "8"), Facts{Files: Files{Profile: "p", Tuned: []Line{{File: "x", Section: "sysctl", Key: "vm.swappiness", Value: "30"}}}}, ""},
		"tuned's rings":           {change(plan.Target{Kind: "ring", Name: "rx", Device: "eth0"}, "4096"), Facts{Files: Files{Profile: "p", Tuned: []Line{{File: "x", N: 5, Section: "net", Key: "ring", Value: "rx 512"}}}}, `sets ring = "rx 512"`},
	} {
		got := Of(c.p, c.facts)
		if c.want == "" && len(got) > 0 || c.want != "" && !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, c.want) }) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	at := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFilesOfAHost(t *testing.T) {
	root := t.TempDir()
	write(t, root, "usr/lib/sysctl.d/50-default.conf", "# x\nnet.ipv4.conf.*.rp_filter = 2\n")
	write(t, root, "usr/lib/sysctl.d/99-mine.conf", "net.core.somaxconn = 1\n") // another of that name takes its place
	write(t, root, "etc/sysctl.d/99-mine.conf", "; y\n-net/core/somaxconn=300\n\nnet/ipv4/conf/eth0.100/rp_filter = 1\n")
	write(t, root, "etc/sysctl.d/99-zz.conf", "net.ipv4.conf.*.rp_filter = 0\n") // a pattern: it takes nobody's place
	write(t, root, "etc/sysctl.conf", "vm.swappiness=60\n")
	if err := os.Symlink("../sysctl.conf", filepath.Join(root, "etc/sysctl.d/99-sysctl.conf")); err != nil {
		t.Fatal(err)
	}
	write(t, root, "etc/tuned/active_profile", "mine\n")
	write(t, root, "etc/tuned/mine/tuned.conf", "[main]\ninclude=throughput-performance\n[sysctl]\nvm.swappiness=5\n")
	write(t, root, "usr/lib/tuned/throughput-performance/tuned.conf", "[main]\ninclude=mine\n[net]\nring=rx 512\n")
	write(t, root, "etc/tuned/tuned-main.conf", "reapply_sysctl = 0\n")
	write(t, root, "run/systemd/network/10-netplan-eth0.link", "[Match]\nOriginalName=eth*\n[Link]\nRxBufferSize=512\n")
	write(t, root, "etc/systemd/network/20-eth1.network", "[Match]\nName=eth1\n[Network]\nDHCP=yes\nIPv4ReversePathFilter=strict\n[FairQueueing]\nFlowLimit=100\n")
	write(t, root, "proc/77/comm", "irqbalance\n")
	f := ReadFiles(root)
	if !f.IRQBalance || !f.TunedLast || f.Profile != "mine" {
		t.Errorf("%+v", f)
	}
	if len(f.Sysctl) != 5 || f.Sysctl[1] != (sysctld.Line{File: "/etc/sysctl.d/99-mine.conf", N: 2, Path: "net/core/somaxconn", Value: "300"}) ||
		f.Sysctl[2].Path != "net/ipv4/conf/eth0.100/rp_filter" || f.Sysctl[3].File != "/etc/sysctl.d/99-sysctl.conf" {
		t.Errorf("%+v", f.Sysctl)
	}
	facts := Facts{Files: f}
	for want, p := range map[string]*plan.Plan{
		`99-mine.conf:2 sets net.core.somaxconn to "300", after`:          sysctl("net.core.somaxconn", "1024"),
		`99-mine.conf:4 sets net.ipv4.conf.eth0.100.rp_filter`:            sysctl("net.ipv4.conf.eth0.100.rp_filter", "2"),
		`tuned (profile mine, /etc/tuned/mine/tuned.conf:4)`:              sysctl("vm.swappiness", "10"),
		`/usr/lib/tuned/throughput-performance/tuned.conf:4) sets ring`:   change(plan.Target{Kind: "ring", Name: "rx", Device: "eth0"}, "4096"),
		`10-netplan-eth0.link:4 has RxBufferSize=512 for eth0`:            change(plan.Target{Kind: "ring", Name: "rx", Device: "eth0"}, "4096"),
		`20-eth1.network:7 makes the qdisc of eth1 ([FairQueueing]`:       change(plan.Target{Kind: "qdisc", Name: "flow_limit", Device: "eth1", Parent: "root"}, "300"),
		`IPv4ReversePathFilter=strict for eth1, which networkd sets when`: sysctl("net.ipv4.conf.eth1.rp_filter", "2"),
	} {
		if got := Of(p, facts); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Of(change(plan.Target{Kind: "qdisc", Name: "flow_limit", Device: "eth0", Parent: "root"}, "300"), facts); len(got) > 0 {
		t.Errorf("another interface's file: %q", got)
	}
	if got := ReadFiles(filepath.Join(root, "nothing")); len(got.Sysctl)+len(got.Links)+len(got.Tuned) > 0 || got.IRQBalance {
		t.Errorf("of an empty host: %+v", got)
	}
}

func FuzzFiles(f *testing.F) {
	f.Add([]byte("[a]\nb = c\n-net/ipv4/x.y=1\n[\n=\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := sysctl("net.core.somaxconn", "1")
		p.Changes[0].Target.Device = "eth0"
		lines := parseINI("/etc/x", b)
		_ = Of(p, Facts{Files: Files{Sysctl: sysctld.Lines("/etc/z.conf", b), Links: lines, Networks: lines, Tuned: lines}})
	})
}
