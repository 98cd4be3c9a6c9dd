package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"snag/report"
)

// datagrams answers each datagram on 127.0.0.1:9000 as it is, one after the other, each after so many seconds.
const datagrams = `
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 9000))
print("ready", flush=True)
while True:
    b, a = s.recvfrom(65536)
    time.sleep(float(sys.argv[1]))
    s.sendto(b, a)
`

// resolver answers queries on 127.0.0.2:53 with 10.0.0.1 after so many seconds, any number at a time.
const resolver = `
import socket, sys, threading, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.2", 53))
print("ready", flush=True)
def answer(b, a):
    time.sleep(float(sys.argv[1]))
    end = b.index(0, 12) + 5
    s.sendto(b[:2] + bytes((0x84 | b[2] & 1, 0x80, 0, 1, 0, 1, 0, 0, 0, 0)) + b[12:end]
             + b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04\x0a\x00\x00\x01", a)
while True:
    threading.Thread(target=answer, args=s.recvfrom(65536), daemon=True).start()
`

// overUDP is a service over UDP in a network namespace of its own, and what snag find --eliminate is to make of it.
type overUDP struct {
	name     string
	prepare  string   // commands in the namespace
	programs []string // they print "ready"
	forward  string   // dnsmasq at 127.0.0.1:53 has this option; "": there is none
	target   string
	port     string // --port; "": the whole namespace
	culprit  string // "": none
	symptom  string // of its entry by experiments; "": none
	text     string // in the symptom
	ruledOut bool   // that nobody listens
}

var casesOverUDP = []overUDP{
	{name: "well", programs: []string{python(datagrams, "0")}, target: "udp://127.0.0.1:9000 --size 200", port: "9000", ruledOut: true},
	{name: "slow reader", programs: []string{python(datagrams, "0.04")}, target: "udp://127.0.0.1:9000 --size 200", port: "9000",
		symptom: "request-latency", text: "more than 20 ms was called slow (snag eliminate)", ruledOut: true},
	{name: "filter", programs: []string{python(datagrams, "0")}, target: "udp://127.0.0.1:9000 --size 200", port: "9000",
		prepare: "nft add table inet f; nft add chain inet f in '{ type filter hook input priority 0; }'; nft add rule inet f in udp dport 9000 drop",
		culprit: "netfilter-drop", symptom: "datagrams-lost", text: "got no answer (snag eliminate)"},
	{name: "closed port", target: "udp://127.0.0.1:9000 --size 200", culprit: "udp-port-closed", symptom: "datagrams-lost", text: "got no answer (snag eliminate)"},
	{name: "dnsmasq", forward: "--address=/lab.test/10.0.0.1", target: "dns://127.0.0.1/www.lab.test", port: "53", ruledOut: true},
	{name: "dnsmasq before a slow resolver", programs: []string{python(resolver, "0.3")}, forward: "--server=127.0.0.2", target: "dns://127.0.0.1/www.lab.test", port: "53",
		culprit: "slow-dependency", symptom: "request-latency", text: "half of the requests to dns://127.0.0.1/www.lab.test took 30", ruledOut: true},
}

// python is a shell's command that runs a program of Python.
func python(program, seconds string) string {
	return "exec python3 -c '" + program + "' " + seconds
}

// The experiments of snag find --eliminate over UDP: their symptoms, what they rule out, and what they add to what
// the host's own probes see.
func TestFindEliminateOverUDP(t *testing.T) {
	h := newTrouble(t)
	for n, c := range casesOverUDP {
		t.Run(c.name, func(t *testing.T) {
			ns := "snagudp" + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(n)
			c.start(t, ns)
			findArgs := []string{"netns", "exec", ns, h.snag, "find", "-q", "--json", "--for", "14s", "--out"}
			args := append(slices.Clone(findArgs), "", "--eliminate", c.target+" --all")
			if c.port != "" {
				args = append(args, "--port", c.port)
			} else {
				args = append(args, "--netns", ns)
			}
			for try := 0; try < 3; try++ {
				args[len(findArgs)] = filepath.Join(t.TempDir(), "r")
				if d := documentOf(t, "ip", args...); !busyHere(d) {
					c.check(t, d)
					return
				}
			}
			t.Fatal("three times the experiments found that snag itself was late (client-busy): they prove nothing")
		})
	}
}

// busyHere reports whether the experiments found that snag itself ran late: they are no evidence then.
func busyHere(d report.Document) bool {
	return slices.ContainsFunc(d.Experiments, func(e report.Experiment) bool {
		return slices.ContainsFunc(e.Suspects, func(s report.ExperimentSuspect) bool { return s.Suspect == "client-busy" && s.State == "found" })
	})
}

// start makes the namespace with the service in it.
func (c overUDP) start(t *testing.T, ns string) {
	t.Helper()
	sh(t, "ip netns add "+ns)
	t.Cleanup(func() { sh(t, "ip netns del "+ns) }) // after the programs in it have ended
	sh(t, "ip -n "+ns+" link set lo up")
	if c.prepare != "" {
		sh(t, "ip netns exec "+ns+" sh -ec \""+c.prepare+"\"")
	}
	for _, program := range c.programs {
		readily(t, "ip", "netns", "exec", ns, "sh", "-c", program)
	}
	if c.forward == "" {
		return
	}
	if _, err := exec.LookPath("dnsmasq"); err != nil {
		t.Skip("dnsmasq is not installed: make setup installs it")
	}
	readily(t, "ip", "netns", "exec", ns, "sh", "-c", "dnsmasq --no-daemon --no-resolv --no-hosts --conf-file=/dev/null --cache-size=0 --pid-file= "+
		"--listen-address=127.0.0.1 --bind-interfaces --user=root "+c.forward+" 2>/dev/null & until ss -Hlun 'sport = 53' | grep -q 127.0.0.1; do sleep 0.05; done; echo ready; wait")
}

func (c overUDP) check(t *testing.T, d report.Document) {
	t.Helper()
	culprits := culpritsIn(d)
	if c.culprit == "" && len(culprits) > 0 || c.culprit != "" && !slices.Equal(culprits, []string{c.culprit}) {
		t.Errorf("culprits %v, want %q; %s", culprits, c.culprit, d.Standing)
	}
	var symptoms []string
	found := false
	for _, s := range d.Symptoms {
		if strings.Contains(s.Text, "(snag eliminate)") {
			symptoms = append(symptoms, s.Name+": "+s.Text)
			found = found || s.Name == c.symptom && strings.Contains(s.Text, c.text)
		}
	}
	if found != (c.symptom != "") || c.symptom == "" && len(symptoms) > 0 {
		t.Errorf("symptoms by experiments %v, want %q with %q", symptoms, c.symptom, c.text)
	}
	ruledOut := false
	for _, e := range d.Verdict {
		ruledOut = ruledOut || e.Suspect == "udp-port-closed" && e.State == "cleared" && strings.Contains(e.Text, "datagrams answered")
	}
	if ruledOut != c.ruledOut {
		t.Errorf("ruled out that nobody listens: %v, want %v", ruledOut, c.ruledOut)
	}
	if !slices.ContainsFunc(d.Experiments, func(e report.Experiment) bool { return e.Experiment == "request" && e.NotDone == "" }) {
		t.Errorf("the request was not asked: %+v", d.Experiments)
	}
}
