package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"snag/remedies/knob"
	"snag/remedies/plan"
)

// anyKind takes every target: the formats are tested here, not the kinds' bounds.
type anyKind struct{}

func (anyKind) Valid(plan.Target, string) error { return nil }

func kinds() map[string]plan.Kind {
	m := map[string]plan.Kind{}
	for _, name := range []string{"sysctl", "ring", "channels", "coalesce", "feature", "qdisc", "irq", "thp", "unit", "route", "rps", "xps", "rfs", "txqueuelen", "cpu-quota", "nofile"} {
		m[name] = anyKind{}
	}
	return m
}

func at(n int) *int { return &n }

// whole has a change of every kind.
func whole() *plan.Plan {
	p := &plan.Plan{Version: plan.Version, For: plan.Cause{Suspect: "nic-ring-overflow", Text: "eth0 dropped 2,874 packets: its ring was full"}}
	for _, c := range []plan.Change{
		{Target: plan.Target{Kind: "sysctl", Name: "net.core.rmem_max"}, Now: "212992", Then: "8388608", Why: "the buffer held 208 KiB"},
		{Target: plan.Target{Kind: "sysctl", Name: "net.ipv4.tcp_rmem"}, Now: "4096\t131072\t6291456", Then: "4096 131072 16777216", Why: "rate × RTT is 7 MiB"},
		{Target: plan.Target{Kind: "sysctl", Name: "net.core.somaxconn", Netns: "shop"}, Now: "128", Then: "4096"},
		{Target: plan.Target{Kind: "sysctl", Name: "net.ipv4.conf.eth0/100.rp_filter"}, Now: "1", Then: "2"},
		{Target: plan.Target{Kind: "ring", Device: "eth0", Name: "rx"}, Now: "512", Then: "4096", Risk: "the link goes down for a second"},
		{Target: plan.Target{Kind: "channels", Device: "eth0", Name: "combined"}, Now: "2", Then: "8"},
		{Target: plan.Target{Kind: "coalesce", Device: "eth0", Name: "rx-usecs"}, Now: "3", Then: "50"},
		{Target: plan.Target{Kind: "coalesce", Device: "eth0", Name: "adaptive-rx"}, Now: "off", Then: "on"},
		{Target: plan.Target{Kind: "feature", Device: "eth0", Name: "rx-gro"}, Now: "off", Then: "on"},
		{Target: plan.Target{Kind: "txqueuelen", Device: "eth0"}, Now: "1000", Then: "5000"},
		{Target: plan.Target{Kind: "qdisc", Device: "eth1", Parent: "root", Name: "flow_limit"}, Now: "100", Then: "1000"},
		{Target: plan.Target{Kind: "qdisc", Device: "eth0", Queue: at(9), Name: "limit"}, Now: "10000", Then: "20000"},
		{Target: plan.Target{Kind: "rps", Device: "eth0", Queue: at(0)}, Now: "00000000", Then: "1,000000ff"},
		{Target: plan.Target{Kind: "xps", Device: "eth0", Queue: at(1)}, Now: "0", Then: "f0"},
		{Target: plan.Target{Kind: "rfs", Device: "eth0", Queue: at(0)}, Now: "0", Then: "5000"},
		{Target: plan.Target{Kind: "irq", IRQ: 33}, Now: "ff", Then: "0c"},
		{Target: plan.Target{Kind: "thp", Name: "enabled"}, Now: "always", Then: "madvise"},
		{Target: plan.Target{Kind: "unit", Unit: "relay.service", Name: "CPUQuota"}, Now: "50%", Then: "200%"},
		{Target: plan.Target{Kind: "cpu-quota", Path: "/system.slice/relay.service"}, Now: "50000 100000", Then: "333333 200000"},
		{Target: plan.Target{Kind: "cpu-quota", Path: "/docker/0123"}, Now: "50000 100000", Then: "max 100000"},
		{Target: plan.Target{Kind: "nofile", PID: 812, Started: 5}, Now: "1024:4096", Then: "65536:65536"},
		{Target: plan.Target{Kind: "route", Name: "quickack", Route: "10.10.0.0/16"}, Now: "0", Then: "1"},
	} {
		c.ID = string(rune('a' + len(p.Changes)))
		if c.Why == "" {
			c.Why = "a test"
		}
		p.Changes = append(p.Changes, c)
	}
	return p
}

func facts() Facts {
	return Facts{
		Devices: map[string]Device{"eth0": {PermanentMAC: "02:00:00:aa:bb:cc", Link: []string{"NamePolicy=keep", "MACAddressPolicy=none"}, Network: "20-wan.network"}},
		Routes:  map[string]Route{"route quickack 10.10.0.0/16": {Gateway: "10.9.0.2", Device: "eth0", Protocol: "static", Metric: 7, Metrics: map[string]string{"mtu": "1400"}}},
		Qdiscs:  map[string]string{"eth1 root": "fq limit 10000 flow_limit 100 quantum 3028", "eth0 root": "mq", "eth0 :a": "fq limit 10000 flow_limit 100"},
		Units:   map[int]string{812: "relay.service"},
	}
}

func as(t *testing.T, format string, p *plan.Plan, f Facts) (Result, map[string]string) {
	t.Helper()
	r, err := As(format, p, "", kinds(), f)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, file := range r.Files {
		if _, ok := texts[file.Path]; ok {
			t.Errorf("%s is there twice", file.Path)
		}
		texts[file.Path] = file.Text
	}
	return r, texts
}

// lines tells whether a text has each of some lines, whole.
func lines(t *testing.T, name, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains("\n"+text, "\n"+w+"\n") {
			t.Errorf("%s has no line %q:\n%s", name, w, text)
		}
	}
}

func TestSysctlD(t *testing.T) {
	r, texts := as(t, "sysctl.d", whole(), facts())
	text := texts["/etc/sysctl.d/90-snag-nic-ring-overflow.conf"]
	lines(t, "sysctl.d", text, "net.core.rmem_max = 8388608", "net.ipv4.tcp_rmem = 4096 131072 16777216", "net.ipv4.conf.eth0/100.rp_filter = 2",
		"# Why: the buffer held 208 KiB", "# Source: net/core/sysctl_net_core.c, net/core/sock.c (sock_setsockopt)")
	if strings.Contains(text, "somaxconn =") && !strings.Contains(text, "# sysctl net.core.somaxconn in netns shop") {
		t.Error("a namespace's sysctl is set on the host:\n" + text)
	}
	if len(r.Left) != len(whole().Changes)-3 {
		t.Errorf("%d are left out of %d", len(r.Left), len(whole().Changes))
	}
}

func TestNetworkd(t *testing.T) {
	r, texts := as(t, "networkd", whole(), facts())
	lines(t, ".link", texts["/etc/systemd/network/00-snag-nic-ring-overflow-eth0.link"], "[Match]", "PermanentMACAddress=02:00:00:aa:bb:cc", "[Link]",
		"NamePolicy=keep", "RxBufferSize=4096", "CombinedChannels=8", "RxCoalesceSec=50us", "UseAdaptiveRxCoalesce=yes", "GenericReceiveOffload=yes", "TransmitQueueLength=5000")
	lines(t, ".network", texts["/etc/systemd/network/20-wan.network.d/50-snag-nic-ring-overflow.conf"],
		"[Route]", "Destination=10.10.0.0/16", "Gateway=10.9.0.2", "Metric=7", "MTUBytes=1400", "QuickAck=yes")
	lines(t, ".network", texts["/etc/systemd/network/eth1.network.d/50-snag-nic-ring-overflow.conf"],
		"[FairQueueing]", "Parent=root", "PacketLimit=10000", "FlowLimit=1000", "QuantumBytes=3028")
	if len(r.Left) != 14 {
		t.Errorf("%d are left", len(r.Left))
	}
	// Where nothing is known of the interface, the default file's lines keep its name.
	_, texts = as(t, "networkd", whole(), Facts{})
	lines(t, ".link", texts["/etc/systemd/network/00-snag-nic-ring-overflow-eth0.link"], "OriginalName=eth0", "NamePolicy=keep kernel database onboard slot path")
}

func TestUnits(t *testing.T) {
	r, texts := as(t, "unit", whole(), facts())
	const system, name = "/etc/systemd/system/", "nic-ring-overflow"
	lines(t, "the drop-in of eth0", texts[system+"snag-"+name+"@eth0.service.d/50-snag-"+name+".conf"],
		"ExecStart=/usr/sbin/ethtool -G %I rx 4096", "ExecStart=/usr/sbin/ip link set dev %I txqueuelen 5000",
		"ExecStart=/usr/sbin/tc qdisc replace dev %I root handle 1: mq", "ExecStart=/usr/sbin/tc qdisc replace dev %I parent 1:a fq limit 20000 flow_limit 100",
		"ExecStart=/usr/bin/systemd-tmpfiles --create /etc/snag/tune/"+name+"-%I.conf")
	lines(t, "the drop-in of eth1", texts[system+"snag-"+name+"@eth1.service.d/50-snag-"+name+".conf"],
		"ExecStart=/usr/sbin/tc qdisc replace dev %I root fq limit 10000 flow_limit 1000 quantum 3028")
	lines(t, "eth0's values", texts["/etc/snag/tune/"+name+"-eth0.conf"],
		"w /sys/class/net/eth0/queues/rx-0/rps_cpus - - - - 1,000000ff", "w /sys/class/net/eth0/queues/tx-1/xps_cpus - - - - f0", "w /sys/class/net/eth0/queues/rx-0/rps_flow_cnt - - - - 5000")
	lines(t, "the host's service", texts[system+"snag-"+name+".service"],
		"ExecStart=/usr/sbin/ip netns exec shop /usr/bin/systemd-tmpfiles --create /etc/snag/tune/"+name+"-in-shop.conf", "ConditionPathExists=/run/netns/shop",
		"ExecStart=/usr/sbin/ip route replace 10.10.0.0/16 via 10.9.0.2 dev eth0 proto static metric 7 mtu 1400 quickack 1", "WantedBy=multi-user.target")
	lines(t, "the namespace's values", texts["/etc/snag/tune/"+name+"-in-shop.conf"], "w /proc/sys/net/core/somaxconn - - - - 4096")
	lines(t, "the host's values", texts["/etc/snag/tune/"+name+".conf"], "w /proc/irq/33/smp_affinity - - - - 0c", "w /sys/kernel/mm/transparent_hugepage/enabled - - - - madvise")
	lines(t, "relay's drop-in", texts[system+"relay.service.d/50-snag-"+name+".conf"], "CPUQuota=200%", "CPUQuota=166.67%", "CPUQuotaPeriodSec=200000us", "LimitNOFILE=65536:65536", "[Service]")
	if got := strings.Join(r.Start, " "); got != "snag-"+name+"@eth0.service snag-"+name+"@eth1.service snag-"+name+".service" {
		t.Errorf("to be started: %s", got)
	}
	if len(r.Left) != 1 || r.Left[0].Change.Target.Path != "/docker/0123" {
		t.Errorf("left: %+v", r.Left)
	}
}

// One interface alone has its commands in the template, which any other can use too.
func TestATemplateOfOneInterface(t *testing.T) {
	p := whole()
	p.Changes = p.Changes[4:5]
	_, texts := as(t, "unit", p, Facts{})
	text := texts["/etc/systemd/system/snag-nic-ring-overflow@.service"]
	lines(t, "the template", text, "ExecStart=/usr/sbin/ethtool -G %I rx 4096", "WantedBy=sys-subsystem-net-devices-%i.device", "# Risk: the link goes down for a second")
	if len(texts) != 1 {
		t.Errorf("%d files", len(texts))
	}
}

func TestUnitsAreWhatSystemdTakes(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Fatal("make setup installs systemd:", err)
	}
	for _, device := range []string{"my-nic.100", `w$e%i"r\d`} {
		p := whole()
		for i := range p.Changes {
			if p.Changes[i].Target.Device == "eth0" {
				p.Changes[i].Target.Device = device
			}
		}
		for i, line := range [][2]string{{"CPUAffinity", "0-3,8"}, {"NUMAPolicy", "bind"}, {"NUMAMask", "0-1"}, {"LimitNPROC", "512:infinity"}, {"MemoryHigh", "1073741824"}, {"CPUWeight", "unset"}, {"TasksMax", "infinity"}} {
			p.Changes = append(p.Changes, plan.Change{ID: "u" + string(rune('a'+i)), Target: plan.Target{Kind: "unit", Unit: "relay.service", Name: line[0]}, Now: "x", Then: line[1], Why: "a test"})
		}
		f := facts()
		f.Qdiscs[device+" root"], f.Qdiscs[device+" :a"] = "mq", "fq limit 10000"
		r, err := As("unit", p, "", kinds(), f)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		write(t, dir, r)
		if err := os.WriteFile(filepath.Join(dir, "etc/systemd/system/relay.service"), []byte("[Service]\nExecStart=/bin/true\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		args := []string{"verify", "--man=no", "--recursive-errors=no", "relay.service"}
		args = append(args, r.Start...)
		cmd := exec.Command("systemd-analyze", args...)
		cmd.Env = append(cmd.Environ(), "SYSTEMD_UNIT_PATH="+filepath.Join(dir, "/etc/systemd/system")+":")
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), "snag-") {
			t.Errorf("%s: %v\n%s", device, err, out)
		}
	}
}

func TestTuned(t *testing.T) {
	r, texts := as(t, "tuned", whole(), facts())
	text := texts["/etc/tuned/snag-nic-ring-overflow/tuned.conf"]
	lines(t, "tuned.conf", text, "[sysctl]", "net.core.rmem_max = 8388608", "[net_eth0]", "devices = eth0", "ring = rx 4096", "coalesce = rx-usecs 50 adaptive-rx on", "features = gro on", "txqueuelen = 5000",
		"[vm]", "transparent_hugepages = madvise", "[sysfs]", "/sys/class/net/eth0/queues/rx-0/rps_cpus = 1,000000ff", "[script]", "script = ${i:PROFILE_DIR}/script.sh")
	if !strings.Contains(texts["/etc/tuned/snag-nic-ring-overflow/script.sh"], "sysctl net.core.somaxconn in netns shop") {
		t.Error("the script lacks what tuned can't hold")
	}
	if len(r.Left) != 2 { // of one process, of a unit
		t.Errorf("left: %+v", r.Left)
	}
	dir := t.TempDir()
	write(t, dir, r)
	// As tuned reads it (tuned/utils/config_parser.py: RawConfigParser, strict).
	out, err := exec.Command("python3", "-c", `import configparser, sys
c = configparser.RawConfigParser(delimiters=("="), inline_comment_prefixes="#"); c.optionxform = str
c.read_string(open(sys.argv[1]).read())
print(c["net_eth0"]["coalesce"], "|", c["sysctl"]["net.ipv4.tcp_rmem"])`, filepath.Join(dir, "etc/tuned/snag-nic-ring-overflow/tuned.conf")).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "rx-usecs 50 adaptive-rx on | 4096 131072 16777216" {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAnsible(t *testing.T) {
	_, texts := as(t, "ansible", whole(), facts())
	text := texts["snag-nic-ring-overflow.yml"]
	var tasks []map[string]any
	if err := yaml.Unmarshal([]byte(text), &tasks); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	modules := map[string]int{}
	copied := map[string]string{}
	for _, task := range tasks {
		if task["name"] == "" || len(task) != 2 {
			t.Errorf("a task is %v", task)
		}
		for k, v := range task {
			modules[k]++
			if k == "ansible.builtin.copy" {
				m := v.(map[string]any)
				copied[m["dest"].(string)] = m["content"].(string)
			}
		}
	}
	if modules["ansible.posix.sysctl"] != 3 || modules["ansible.builtin.systemd"] != 4 {
		t.Errorf("%v\n%s", modules, text)
	}
	if !strings.Contains(text, "snag-nic-ring-overflow@.service: a test") || !strings.Contains(text, "Set net.core.rmem_max: the buffer held 208 KiB") {
		t.Errorf("tasks do not say why:\n%s", text)
	}
	_, units := as(t, "unit", whole(), facts())
	for path, want := range units {
		if !strings.HasPrefix(path, "/etc/sysctl.d/") && copied[path] != want {
			t.Errorf("%s is %q, want %q", path, copied[path], want)
		}
	}
}

// What a plan's words hold reaches no file but as a comment or a quoted word.
func TestHostileWords(t *testing.T) {
	const evil = "x\nrm -rf /\r\nkernel.core_pattern = |/bin/sh\n[Service]\nExecStart=/bin/sh\u2028{{ lookup('pipe','id') }} ${f:exec:id} `id` $(id)"
	p := whole()
	p.For.Text, p.Host, p.Kernel = evil, evil, evil
	for i := range p.Changes {
		c := &p.Changes[i]
		c.Why, c.Risk, c.Needs = evil, evil, evil
		if c.Target.Device != "" {
			c.Target.Device = "a';id;`id`\"$(id)%n{{x}}"
		}
	}
	for _, format := range Formats() {
		r, err := As(format, p, "", kinds(), facts())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Files {
			if !strings.HasPrefix(f.Text, Mark) && !strings.HasPrefix(f.Text, "#!/bin/sh\n"+Mark) {
				t.Errorf("%s does not begin with the mark", f.Path)
			}
			for l := range strings.Lines(f.Text) {
				l = strings.TrimSpace(l)
				for _, bad := range []string{"rm -rf", "kernel.core_pattern", "ExecStart=/bin/sh"} {
					if strings.HasPrefix(l, bad) {
						t.Errorf("%s, %s: a line is %q", format, f.Path, l)
					}
				}
				if format == "ansible" && strings.Contains(l, "{{") && !strings.HasPrefix(l, "#") && !strings.Contains(l, "!unsafe") && !strings.Contains(f.Text, "!unsafe |") {
					t.Errorf("%s: a template: %q", f.Path, l)
				}
			}
		}
	}
}

func TestWhatIsNotExported(t *testing.T) {
	p := whole()
	if _, err := As("ini", p, "", kinds(), Facts{}); err == nil || !strings.Contains(err.Error(), "it knows sysctl.d, networkd") {
		t.Error(err)
	}
	for _, name := range []string{"../x", "a b", "A", "a--b", "-a", "x\n"} {
		if _, err := As("sh", p, name, kinds(), Facts{}); err == nil || !strings.Contains(err.Error(), "not a name for files") {
			t.Errorf("%q: %v", name, err)
		}
	}
	p.Changes[0].Then = "x"
	if _, err := As("sh", p, "", knob.ForPlan(), Facts{}); err == nil || !strings.Contains(err.Error(), "not valid") {
		t.Error(err)
	}
	p.Changes = nil
	if _, err := As("sh", p, "", kinds(), Facts{}); err == nil || !strings.Contains(err.Error(), "nothing to write") {
		t.Error(err)
	}
}

func TestPropertiesOfUnits(t *testing.T) {
	for in, want := range map[string]string{"CPUAffinity 0-3": "CPUAffinity=|CPUAffinity=0-3", "CPUQuota infinity": "CPUQuota=", "CPUQuota 150%": "CPUQuota=150%", "NUMAPolicy unset": "NUMAPolicy=", "TasksMax infinity": "TasksMax=infinity"} {
		name, value, _ := strings.Cut(in, " ")
		if got := strings.Join(propertyLines(name, value), "|"); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for unit, want := range map[string]string{"x.service": "Service", "x.slice": "Slice", "x.socket": "Socket", "run-1.scope": ""} {
		d, _ := in{}.dropIn(plan.Change{Target: plan.Target{Kind: "unit", Unit: unit, Name: "TasksMax"}, Then: "9"})
		if d.section != want || (want == "") != (d.why != "") {
			t.Errorf("%s: %+v", unit, d)
		}
	}
}

func TestNamesOfUnits(t *testing.T) {
	for name, want := range map[string]string{"eth0": "eth0", "my-nic": `my\x2dnic`, "eth0.100": "eth0.100", ".x": `\x2ex`, "a b%": `a\x20b\x25`} {
		if got := escapeUnit(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestWhatIsWrittenOfAQdisc(t *testing.T) {
	for now, want := range map[string]string{
		"fq limit 10000 flow_limit 100 quantum 3028 nopacing maxrate 34359738360bit buckets 1024 refill_delay 40000us horizon 10000000us horizon_drop bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1 ce_threshold 4294967295us": "fq limit 10000 flow_limit 500 quantum 3028 nopacing buckets 1024 refill_delay 40000us",
		"default fq": "fq flow_limit 500",
	} {
		p := whole()
		p.Changes = p.Changes[10:11]
		p.Changes[0].Then = "500"
		n := in{p, "x", Facts{Qdiscs: map[string]string{"eth1 root": now}}}
		words, why := n.wholeQdisc(p.Changes[0])
		if got := strings.Join(words, " "); got != want || why != "" {
			t.Errorf("%q: %q %s, want %q", now, got, why, want)
		}
	}
	if got := strings.Join(setOption(strings.Fields("fq pacing limit 5"), "pacing", "off"), " "); got != "fq limit 5 nopacing" {
		t.Error(got)
	}
	c := plan.Change{ID: "1", Target: plan.Target{Kind: "qdisc", Device: "eth1", Parent: "root"}, Now: "default fq", Then: "fq limit 5 nopacing maxrate 8000000bit ce_threshold 5000us"}
	_, k, why := in{&plan.Plan{}, "x", Facts{}}.qdiscNetwork(c)
	if got := strings.Join(k.lines, " "); got != "Parent=root PacketLimit=5 Pacing=no MaximumRate=8000000 CEThresholdSec=5000us" || why != "" {
		t.Errorf("%q %s", got, why)
	}
	c.Then = "default fq"
	if _, why := (in{&plan.Plan{}, "x", Facts{}}).actions(c); !strings.Contains(why, "kernel's default") {
		t.Error(why)
	}
}
