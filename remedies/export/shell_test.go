package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"snag/remedies/plan"
)

func write(t *testing.T, dir string, r Result) {
	t.Helper()
	for _, f := range r.Files {
		path := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if f.Run {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(f.Text), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func TestScriptsAreWellFormed(t *testing.T) {
	hostile := whole()
	for i := range hostile.Changes {
		if hostile.Changes[i].Target.Device != "" {
			hostile.Changes[i].Target.Device = "a';id;`id`\"$(id)"
		}
	}
	for name, p := range map[string]*plan.Plan{"whole": whole(), "hostile": hostile} {
		r, _ := as(t, "sh", p, Facts{})
		dir := t.TempDir()
		write(t, dir, r)
		path := filepath.Join(dir, r.Files[0].Path)
		// SC2016: that nothing is expanded in a quoted word is what is wanted.
		for _, with := range [][]string{{"sh", "-n"}, {"dash", "-n"}, {"bash", "--posix", "-n"}, {"shellcheck", "-s", "sh", "-e", "SC2016"}} {
			if _, err := exec.LookPath(with[0]); err != nil {
				t.Errorf("%s is not installed: make setup", with[0])
				continue
			}
			if out, err := exec.Command(with[0], append(with[1:], path)...).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %v\n%s", name, with, err, out)
			}
		}
		if len(r.Left) != 2 || r.Left[0].Change.Target.Kind != "unit" || r.Left[1].Change.Target.Kind != "nofile" {
			t.Errorf("%s: left: %+v", name, r.Left)
		}
	}
}

// host is a network namespace of the test's with a pair of interfaces.
func host(t *testing.T) (name string, in func(args ...string) string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	name = "snagexport" + strconv.Itoa(os.Getpid())
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("ip", "netns", "add", name)
	t.Cleanup(func() { run("ip", "netns", "delete", name) })
	in = func(args ...string) string { return run(append([]string{"ip", "netns", "exec", name}, args...)...) }
	in("ip", "link", "add", "nic0", "numtxqueues", "2", "numrxqueues", "2", "type", "veth", "peer", "name", "nic1", "numtxqueues", "2", "numrxqueues", "2")
	in("ip", "address", "add", "10.9.0.1/24", "dev", "nic0")
	in("ip", "link", "set", "nic0", "up")
	in("ip", "link", "set", "nic1", "up")
	in("ip", "route", "add", "10.10.0.0/16", "via", "10.9.0.2", "metric", "7", "mtu", "1450")
	in("tc", "qdisc", "replace", "dev", "nic0", "root", "pfifo", "limit", "100")
	in("tc", "qdisc", "replace", "dev", "nic1", "root", "handle", "7:", "mq")
	in("tc", "qdisc", "replace", "dev", "nic1", "parent", "7:2", "bfifo", "limit", "30")
	return name, in
}

func TestAScriptSetsAndUndoes(t *testing.T) {
	ns, in := host(t)
	see := func() string {
		return in("cat", "/proc/sys/net/core/somaxconn", "/proc/sys/net/ipv4/tcp_rmem", "/sys/class/net/nic0/queues/rx-1/rps_cpus", "/sys/class/net/nic0/queues/rx-0/rps_flow_cnt") +
			in("ip", "-d", "link", "show", "nic0") + in("ip", "route", "show", "10.10.0.0/16") + in("tc", "qdisc", "show", "dev", "nic0") + in("sh", "-c", "tc qdisc show dev nic1 | grep bfifo") + in("sh", "-c", "ethtool -k nic0 | grep ^generic-receive-offload")
	}
	before := see()
	p := &plan.Plan{Version: plan.Version, For: plan.Cause{Suspect: "listen-overflow"}}
	for _, c := range []plan.Change{
		{Target: plan.Target{Kind: "sysctl", Name: "net.core.somaxconn"}, Now: "4096", Then: "16384"},
		{Target: plan.Target{Kind: "sysctl", Name: "net.ipv4.tcp_rmem"}, Now: in("cat", "/proc/sys/net/ipv4/tcp_rmem"), Then: "4096 131072 16777216"},
		{Target: plan.Target{Kind: "txqueuelen", Device: "nic0"}, Now: "1000", Then: "5000"},
		{Target: plan.Target{Kind: "route", Name: "quickack", Route: "10.10.0.0/16"}, Now: "0", Then: "1"},
		{Target: plan.Target{Kind: "route", Name: "mtu", Route: "10.10.0.0/16"}, Now: "1450", Then: "1400"},
		{Target: plan.Target{Kind: "route", Name: "rto_min", Route: "10.9.0.0/24", Device: "nic0"}, Now: "0", Then: "40"},
		{Target: plan.Target{Kind: "qdisc", Device: "nic0", Parent: "root", Name: "limit"}, Now: "100", Then: "2000"},
		{Target: plan.Target{Kind: "qdisc", Device: "nic1", Queue: at(1), Name: "limit"}, Now: "30", Then: "60p"},
		{Target: plan.Target{Kind: "feature", Device: "nic0", Name: "rx-gro"}, Now: "off", Then: "on"},
		{Target: plan.Target{Kind: "rps", Device: "nic0", Queue: at(1)}, Now: "0", Then: "00000003"},
		{Target: plan.Target{Kind: "rfs", Device: "nic0", Queue: at(0)}, Now: "0", Then: "3000"},
	} {
		c.ID, c.Why, c.Target.Netns, c.Now = strconv.Itoa(len(p.Changes)+1), "a test", ns, strings.TrimSpace(c.Now)
		if c.Target.Kind == "feature" && strings.Contains(before, "generic-receive-offload: on") {
			c.Now, c.Then = c.Then, c.Now
		}
		p.Changes = append(p.Changes, c)
	}
	r, _ := as(t, "sh", p, Facts{})
	dir := t.TempDir()
	write(t, dir, r)
	script := func(fails bool, args ...string) string {
		t.Helper()
		out, err := exec.Command("dash", append([]string{filepath.Join(dir, r.Files[0].Path)}, args...)...).CombinedOutput()
		if (err != nil) != fails {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	script(true) // neither apply nor undo
	script(true, "verify")
	script(false, "apply")
	script(false, "verify")
	now := see()
	for _, want := range []string{"16384\n", "16777216", "3\n4096\n", "qlen 5000", "metric 7", "mtu 1400", "quickack 1", "limit 2000p", "limit 60b"} {
		if !strings.Contains(now, want) {
			t.Errorf("applied, there is no %q:\n%s", want, now)
		}
	}
	if got := in("ip", "route", "show", "10.9.0.0/24"); !strings.Contains(got, "rto_min lock 40ms") {
		t.Error(got)
	}
	script(false, "apply") // once more changes nothing
	script(false, "undo")
	if got := see(); got != before {
		t.Errorf("undone:\n%s\nbefore:\n%s", got, before)
	}

	// A value that is not what the plan found: nothing is changed, unless forced.
	in("tc", "qdisc", "replace", "dev", "nic0", "root", "pfifo", "limit", "50")
	if out := script(true, "apply"); !strings.Contains(out, `it is "50" now, and was "100" when the plan was made`) || !strings.Contains(out, "nothing was changed") {
		t.Error(out)
	}
	if got := in("cat", "/proc/sys/net/core/somaxconn"); got != "4096\n" {
		t.Errorf("a refused script set %s", got)
	}
	script(false, "apply", "--force")
	script(false, "undo")

	// A change that the kernel refuses: those before it are undone.
	in("ip", "link", "delete", "nic0")
	if out := script(true, "apply", "--force"); !strings.Contains(out, "undoing what was changed before") {
		t.Error(out)
	}
	if got := in("cat", "/proc/sys/net/core/somaxconn"); got != "4096\n" {
		t.Errorf("a script that failed half-way left %s", got)
	}
}

// The unit's commands are run here one by one as systemd would: without a shell.
func TestAUnitsCommandsDoWhatTheySay(t *testing.T) {
	ns, in := host(t)
	p := &plan.Plan{Version: plan.Version, For: plan.Cause{Suspect: "listen-overflow"}}
	for _, c := range []plan.Change{
		{Target: plan.Target{Kind: "sysctl", Name: "net.core.somaxconn"}, Now: "4096", Then: "16384"},
		{Target: plan.Target{Kind: "txqueuelen", Device: "nic0"}, Now: "1000", Then: "5000"},
		{Target: plan.Target{Kind: "route", Name: "quickack", Route: "10.10.0.0/16"}, Now: "0", Then: "1"},
		{Target: plan.Target{Kind: "qdisc", Device: "nic0", Parent: "root", Name: "limit"}, Now: "100", Then: "2000"},
		{Target: plan.Target{Kind: "rps", Device: "nic0", Queue: at(1)}, Now: "0", Then: "3"},
	} {
		c.ID, c.Why, c.Target.Netns = strconv.Itoa(len(p.Changes)+1), "a test", ns
		p.Changes = append(p.Changes, c)
	}
	f := Facts{
		Qdiscs: map[string]string{"nic0 root in " + ns: "pfifo limit 100"},
		Routes: map[string]Route{p.Changes[2].Target.String(): {Gateway: "10.9.0.2", Device: "nic0", Metric: 7, Metrics: map[string]string{"mtu": "1450"}}},
	}
	r, texts := as(t, "unit", p, f)
	dir := t.TempDir()
	write(t, dir, r)
	ran := 0
	for l := range strings.Lines(texts["/etc/systemd/system/snag-listen-overflow.service"]) {
		command, ok := strings.CutPrefix(strings.TrimSpace(l), "ExecStart=")
		if !ok {
			continue
		}
		ran++
		words := strings.Fields(strings.ReplaceAll(command, "/etc/snag", dir+"/etc/snag"))
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
	if ran != 4 {
		t.Errorf("%d commands", ran)
	}
	now := in("cat", "/proc/sys/net/core/somaxconn", "/sys/class/net/nic0/queues/rx-1/rps_cpus") + in("ip", "-d", "link", "show", "nic0") + in("ip", "route", "show", "10.10.0.0/16") + in("tc", "qdisc", "show", "dev", "nic0")
	for _, want := range []string{"16384\n3\n", "qlen 5000", "via 10.9.0.2", "metric 7", "mtu 1450", "quickack 1", "limit 2000p"} {
		if !strings.Contains(now, want) {
			t.Errorf("there is no %q:\n%s", want, now)
		}
	}
}

func TestCoupledChangesStandTogether(t *testing.T) {
	p := whole()
	p.Changes[0].With = []string{p.Changes[3].ID}
	_, texts := as(t, "sh", p, Facts{})
	text := texts["snag-nic-ring-overflow.sh"]
	if !strings.Contains(text, "what_2() { printf '%s' 'sysctl net.ipv4.conf.eth0/100.rp_filter'") {
		t.Error(text[:2000])
	}
}

func TestValuesAsAScriptReadsThem(t *testing.T) {
	for in, want := range map[string]string{"00000003": "3", "00000000,000000FF": "ff", "1,00000000": "1,00000000", "0": "0", "00000000,00000000": "0"} {
		if got := mask(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{"0": "0", "1": "1", "4096": "4096", "5000": "8192"} {
		if got := roundUp(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if got := choice("always [madvise] never"); got != "madvise" {
		t.Error(got)
	}
}
