package main

import (
	"strings"
	"testing"

	"snag/recording"
	"snag/report"
)

func doc(verdict []report.Entry, coverage ...report.Coverage) find {
	f := find{doc: report.Document{Verdict: verdict, Coverage: coverage}}
	for _, e := range verdict {
		if e.State == "culprit" {
			f.exit = 10
		}
	}
	return f
}

// entry is a culprit or a suspect in another state.
func entry(suspect, state, subject, text string) []report.Entry {
	return []report.Entry{{Suspect: suspect, State: state, Subject: subject, Text: text}}
}

// ringOf is what is said of operations of io_uring.
func ringOf(n map[string]uint64) (c report.Calls) {
	for op, n := range n {
		c.Calls = append(c.Calls, report.CallTotal{Call: recording.UringPrefix + op, N: n})
	}
	c.Calls = append(c.Calls, report.CallTotal{Call: "io_uring_enter", N: 7})
	return c
}

// whole is a machine of a kernel that has everything, on which all was right.
func whole() *machine {
	var all []report.Coverage
	for _, m := range recording.Measures {
		all = append(all, report.Coverage{Probe: m, State: recording.CoverageOK})
	}
	user := doc(nil, append([]report.Coverage{
		{Probe: "drops", State: recording.CoverageUnavailable, Why: "neither CAP_BPF nor CAP_SYS_ADMIN"},
		{Probe: "sockets.connections", State: recording.CoverageUnavailable, Why: "neither CAP_BPF nor CAP_SYS_ADMIN"},
	}, report.Coverage{Probe: "sockets", State: recording.CoverageOK}, report.Coverage{Probe: "host", State: recording.CoverageOK})...)
	return &machine{
		release: "6.12.1-test",
		finds: map[string]find{
			quiet:  doc(nil, all...),
			udp:    doc(entry("udp-receive-buffer-full", "culprit", "rtp-sink[1] udp 127.0.0.1:5004", ""), all...),
			nagle:  doc(entry("nagle-delayed-ack", "culprit", "api-client[2] tcp", ""), all...),
			convoy: doc(entry("lock-convoy", "culprit", "thread-server[3]", ""), all...),
			nobody: user,
		},
		lab:    map[string]int{"packet-loss": 0},
		inside: map[string]int{"profile": 0},
		ring:   ringOf(map[string]uint64{"nop": 540, "read": 1000, "send": 300, "recv": 300, "openat": 50, "poll_add": 21, "poll_remove": 1}),
	}
}

func TestWrong(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*machine)
		want   string // in what is wrong; "" nothing is
	}{
		{"all right", func(*machine) {}, ""},
		{"a newer kernel", func(m *machine) { m.release = "6.18.44" }, ""},
		{"measures that an old kernel can't have", func(m *machine) { m.release = "5.10.0-46" }, "sockets.holds is ok"},
		{"no version", func(m *machine) { m.release = "test" }, "no version"},
		{"a measure missing", func(m *machine) { m.finds[quiet].doc.Coverage[0].State = "unavailable" }, "quiet: host.netstat is unavailable"},
		{"a false culprit", func(m *machine) { m.finds[quiet] = m.finds[nagle] }, "want exit 0 and none"},
		{"the wrong process", func(m *machine) { m.finds[udp].doc.Verdict[0].Subject = "nginx[7]" }, "of rtp-sink"},
		{"no culprit", func(m *machine) { m.finds[nagle] = m.finds[quiet] }, "nagle: exit 0"},
		{"no capability named", func(m *machine) { m.finds[nobody].doc.Coverage[0].Why = "refused" }, "names no capability"},
		{"a probe failed", func(m *machine) { m.finds[nobody].doc.Coverage[3].State = "failed" }, "host failed"},
		{"a profile wrong", func(m *machine) { m.inside["profile"] = 1 }, "inside, profile: exit 1"},
		{"operations missing", func(m *machine) { m.ring.Calls = m.ring.Calls[:3] }, "inside, uring: operations"},
		{"no closer look", func(m *machine) {
			for i, c := range m.finds[convoy].doc.Coverage {
				if c.Probe == "offcpu.waits" {
					m.finds[convoy].doc.Coverage[i].State = "unavailable"
				}
			}
		}, "closer: offcpu.waits is unavailable"},
		{"an incident wrong", func(m *machine) { m.lab["packet-loss"] = 1 }, "lab packet-loss: exit 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := whole()
			c.change(m)
			got := strings.Join(m.wrong(), "\n")
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("wrong:\n%s\nwant %q", got, c.want)
			}
		})
	}
}

// TestOldKernel has the measures that 5.10 lacks said to be unavailable, by the
// kernel that has them.
func TestOldKernel(t *testing.T) {
	m := whole()
	m.release = "5.10.0-46-cloud-amd64"
	m.ring = ringOf(map[string]uint64{"nop": 500, "read": 1000, "send": 300, "recv": 300, "openat": 50})
	for _, run := range []string{quiet, udp, nagle} {
		for i, c := range m.finds[run].doc.Coverage {
			if first, ok := since[c.Probe]; ok {
				m.finds[run].doc.Coverage[i].State = recording.CoverageUnavailable
				m.finds[run].doc.Coverage[i].Cure = "use a kernel from " + first.String() + " on"
			}
		}
	}
	m.finds[nagle] = doc(entry("nagle-delayed-ack", "not-seen", "", "sockets.holds was not measured"), m.finds[quiet].doc.Coverage...)
	if w := m.wrong(); len(w) > 0 {
		t.Errorf("wrong: %q", w)
	}
	m.finds[nagle].doc.Verdict[0].State = "cleared"
	if w := m.wrong(); len(w) != 1 || !strings.Contains(w[0], "want not-seen") {
		t.Errorf("what could not be seen was cleared, and is not found wrong: %q", w)
	}
}

// Where requests can't be seen, nobody is looked at but who has a suspicious socket.
func TestStatesOfNobody(t *testing.T) {
	off := report.Coverage{Probe: "states", State: recording.CoverageOff, Why: "no process was watched"}
	for _, c := range []struct {
		kernel     version
		suspicious bool
		right      bool
	}{
		{version{5, 10}, false, true},
		{version{5, 10}, true, false},
		{version{6, 12}, false, false},
	} {
		if wrong := wrongCoverage(c.kernel, "states", off, c.suspicious); (wrong == "") != c.right {
			t.Errorf("%v, suspicious %v: %q", c.kernel, c.suspicious, wrong)
		}
	}
}
