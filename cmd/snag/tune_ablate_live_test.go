package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/internal/built"
	"snag/internal/netns"
	"snag/remedies/knob"
	"snag/remedies/plan"
)

// farServer is an HTTP server in a network namespace of its own, 20 ms away from the
// client's, and what the tests of ablate need beside it.
type farServer struct {
	snag, client, server, url, store string
}

func startFarServer(t *testing.T, bytes int) farServer {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces and settings of the kernel need root")
	}
	dir := t.TempDir()
	f := farServer{snag: filepath.Join(dir, "snag"), client: fmt.Sprintf("snagac%d", os.Getpid()), store: filepath.Join(dir, "store"), url: "http://10.78.3.2:8080/"}
	built.Program(t, "snag", f.snag)
	lab := filepath.Join(t.TempDir(), "snag-lab")
	built.Program(t, "snag-lab", lab)
	f.server = fmt.Sprintf("snagas%d", os.Getpid())
	for _, name := range []string{f.client, f.server} {
		must(t, "ip", "netns", "add", name)
		t.Cleanup(func() { must(t, "ip", "netns", "delete", name) })
	}
	relay := exec.Command(lab, "actor", "tun-relay", "--a", f.client+"/wan0/10.78.3.1/24", "--b", f.server+"/wan0/10.78.3.2/24", "--delay", "10ms")
	startReady(t, relay)
	var l net.Listener
	if err := netns.DoNamed(f.server, func() (err error) { l, err = net.Listen("tcp4", "10.78.3.2:8080"); return err }); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, bytes)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			_, _ = w.Write(body)
		}
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return f
}

func must(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
	return string(out)
}

// startReady starts a program that says when it is ready, and ends with the test.
func startReady(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := out.Read(make([]byte, 64)); err != nil {
		t.Fatalf("%v did not begin: %v", cmd.Args, err)
	}
}

// sysctls is all that the namespaces have set.
func (f farServer) sysctls(t *testing.T) (all string) {
	for _, name := range []string{f.client, f.server} {
		all += must(t, "ip", "netns", "exec", name, "sysctl", "-a", "--pattern", sysctlPattern)
	}
	return all
}

const sysctlPattern = `^net\.(ipv4\.tcp_|ipv4\.ip_local|core\.somax)`

// longWhenSwitched is a load that lasts long in the runs in which settings are switched.
// The order of the runs is drawn: a long one of the settings as they are may be first.
func (f farServer) longWhenSwitched(t *testing.T) string {
	dir := t.TempDir()
	now := must(t, "ip", "netns", "exec", f.client, "sysctl", "-a", "--pattern", sysctlPattern)
	if err := os.WriteFile(dir+"/before", []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nsysctl -a --pattern '%s' 2>&1 | cmp -s - %s/before || exec sleep 50\n", sysctlPattern, dir)
	if err := os.WriteFile(dir+"/load", []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir + "/load"
}

// inherited are eight that do nothing for one download, and what a line makes of them.
const inherited = `# kernel tuning 2014, do not touch
net.core.somaxconn = 65535
net.ipv4.tcp_max_syn_backlog = 65536
net.ipv4.tcp_fin_timeout = 15
net.ipv4.tcp_tw_reuse = 1
net.ipv4.tcp_keepalive_time = 300
net.ipv4.tcp_syncookies = 2
net.ipv4.ip_local_port_range = 10240 65000
net.ipv4.tcp_abort_on_overflow = 1
net.ipv4.tcp_magic = 1
`

func (f farServer) files(t *testing.T, line string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "99-blog.conf"), []byte(inherited+line+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (f farServer) ablate(args ...string) *exec.Cmd {
	return exec.Command(f.snag, append([]string{"tune", "ablate", "--store", f.store, "--run", f.store + "-run", "--netns", f.client, "--load", "curl -sS -o /dev/null " + f.url}, args...)...)
}

func (f farServer) run(t *testing.T, args ...string) ablateDocument {
	t.Helper()
	cmd := f.ablate(append(args, "--json")...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, said.String())
	}
	var d ablateDocument
	if err := json.Unmarshal(out, &d); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return d
}

// verdicts are the settings by what is said of them.
func (d ablateDocument) verdicts() map[string][]string {
	m := map[string][]string{}
	for _, s := range d.Settings {
		v := string(d.Study.Settings[s.Study].Verdict)
		m[v] = append(m[v], strings.Fields(s.Name)[0])
	}
	return m
}

func TestAblate(t *testing.T) {
	f := startFarServer(t, 600_000)
	t.Run("of a real load", f.ofARealLoad)
	t.Run("that ends early", f.thatEndsEarly)
}

func (f farServer) ofARealLoad(t *testing.T) {
	before := f.sysctls(t)
	t.Run("one did it", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "kept.yaml")
		d := f.run(t, f.files(t, "net.ipv4.tcp_rmem = 4096 131072 6291456"), "--default", "net.ipv4.tcp_rmem=4096 32768 65536", "--rounds", "9", "--smallest", "20%", "--out", out)
		v := d.verdicts()
		if !slices.Equal(v["did it"], []string{"net.ipv4.tcp_rmem"}) || len(v["hurts"])+len(v["either of"]) > 0 {
			t.Errorf("%+v", d.Study)
		}
		if !d.Restored || len(d.Left) != 1 || d.Left[0].Name != "net.ipv4.tcp_magic" {
			t.Errorf("restored %t, not tested %+v", d.Restored, d.Left)
		}
		p, err := plan.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Valid(knob.ForPlan()); err != nil || len(p.Changes) != 1 || p.Changes[0].Then != "4096 131072 6291456" {
			t.Errorf("%v\n%+v", err, p.Changes)
		}
		t.Logf("%v; %d runs, %.0f s", v, d.Study.Runs, d.Seconds)
	})
	t.Run("none matters", func(t *testing.T) {
		d := f.run(t, f.files(t, ""), "--rounds", "4", "--smallest", "20%")
		if v := d.verdicts(); len(v["did it"])+len(v["hurts"])+len(v["either of"]) > 0 {
			t.Errorf("%v\n%+v", v, d.Study)
		}
	})
	t.Run("a plan, by a counter", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "plan.yaml")
		text := fmt.Sprintf(`version: 1
for: {text: a test}
changes:
  - {id: "1", target: {kind: sysctl, name: net.ipv4.tcp_fin_timeout, netns: %[1]s}, now: "60", then: "15", why: a test}
  - {id: "2", target: {kind: sysctl, name: net.ipv4.tcp_syncookies, netns: %[1]s}, now: "1", then: "2", why: a test}
`, f.server)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		// Every connection gets a cookie where they are always sent.
		load := "ip netns exec " + f.client + " curl -sS -o /dev/null -H 'Connection: close' " + f.url + "[1-10]"
		d := f.run(t, file, "--load", load, "--netns", f.server, "--measure", "counter:TcpExtSyncookiesSent", "--for", "400ms", "--rounds", "9", "--smallest", "30%")
		v := d.verdicts()
		if !slices.Equal(v["hurts"], []string{"net.ipv4.tcp_syncookies"}) || len(v["did it"]) > 0 {
			t.Errorf("%v\n%+v", v, d.Study)
		}
		t.Logf("%v; %d runs, %.0f s", v, d.Study.Runs, d.Seconds)
	})
	if after := f.sysctls(t); after != before {
		t.Errorf("settings are not what they were:\n%s\n%s", before, after)
	}
}

// guard is the process that waits for the last trial.
func (f farServer) guard(t *testing.T) int {
	t.Helper()
	all := regexp.MustCompile(`"step":"armed".*"by":"process (\d+)"`).FindAllStringSubmatch(must(t, "sh", "-c", "cat $(ls -td "+f.store+"/*/ | head -1)journal.jsonl"), -1)
	if len(all) == 0 {
		t.Fatal("nobody waits")
	}
	pid, err := strconv.Atoi(all[len(all)-1][1])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// Ctrl-C, kill -9 and the deadline: the values come back, each time.
func (f farServer) thatEndsEarly(t *testing.T) {
	before := f.sysctls(t)
	dir := f.files(t, "")
	for name, c := range map[string]struct {
		sig   syscall.Signal
		args  []string
		first func(t *testing.T, f farServer)
	}{
		"kill -9 of the guard, and then of snag": {sig: syscall.SIGKILL, first: func(t *testing.T, f farServer) {
			first := f.guard(t)
			if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			within(t, "another guard waits", func() bool { now := f.guard(t); return now != first && syscall.Kill(now, 0) == nil })
		}},
		"Ctrl-C":                {sig: syscall.SIGINT},
		"kill -9":               {sig: syscall.SIGKILL},
		"the terminal goes":     {sig: syscall.SIGHUP},
		"kill -9 in a long run": {sig: syscall.SIGKILL, args: []string{"--load", f.longWhenSwitched(t)}},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := f.ablate(append([]string{dir, "--rounds", "1000", "--smallest", "0.1%"}, c.args...)...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			within(t, "settings are switched", func() bool { return f.sysctls(t) != before })
			if c.first != nil {
				c.first(t, f)
			}
			if err := cmd.Process.Signal(c.sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			within(t, "the settings are what they were", func() bool { return f.sysctls(t) == before })
			within(t, "nothing is open", func() bool {
				return !strings.Contains(must(t, f.snag, "tune", "status", "--store", f.store, "--run", f.store+"-run"), "trying")
			})
			if c.sig == syscall.SIGKILL {
				time.Sleep(time.Second)
				if f.sysctls(t) != before {
					t.Error("they are switched again")
				}
			}
		})
	}
}
