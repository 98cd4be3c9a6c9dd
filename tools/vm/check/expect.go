package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"snag/internal/cli"
	"snag/recording"
	"snag/report"
	"snag/verdict"
)

// since are the measures that not every kernel has, and the first that has each.
var since = map[string]version{
	"sockets.holds":   {6, 3},  // tracepoint sock_send_length
	"sockets.turns":   {6, 3},  // tracepoints sock_send_length, sock_recv_length
	"sockets.queries": {6, 3},  // tracepoints sock_send_length, sock_recv_length
	"sockets.dns":     {6, 3},  // tracepoints sk_data_ready, sock_send_length
	"sockets.errors":  {5, 15}, // tracepoint inet_sk_error_report
	"drops.reason":    {5, 17}, // argument reason of kfree_skb
	"drops.socket":    {6, 11}, // argument rx_sk of kfree_skb
}

// inPart are the measures of which a kernel that has them still lacks a part, and the
// first that lacks none.
var inPart = map[string]version{
	"sockets.errors": {6, 3}, // what calls return: tracepoints sock_send_length, sock_recv_length
}

// measures are those that snag find takes by itself: not of streams that were not
// asked for.
func measures() []string {
	return slices.DeleteFunc(slices.Clone(recording.Measures), func(m string) bool { return strings.HasPrefix(m, "streams.") || recording.OfFiles(m) })
}

// closer reports whether a measure is taken only where something is suspected of a
// process, and how much of it depends on how much that process does.
func closer(measure string) bool {
	return slices.ContainsFunc([]string{"syscalls.", "offcpu.", "locks.", "jvm.safepoints", "jvm.gc-log", "runtimes.go-"}, func(p string) bool { return strings.HasPrefix(measure, p) })
}

// version is a kernel's major and minor number.
type version struct{ major, minor int }

func (v version) String() string { return fmt.Sprintf("%d.%d", v.major, v.minor) }

func (v version) before(o version) bool {
	return v.major < o.major || v.major == o.major && v.minor < o.minor
}

func parseVersion(release string) (v version, err error) {
	if _, err := fmt.Sscanf(release, "%d.%d", &v.major, &v.minor); err != nil {
		return v, fmt.Errorf("no version in the kernel's release %q: %w", release, err)
	}
	return v, nil
}

// wrong lists what is not as it should be on this kernel.
func (m *machine) wrong() (out []string) {
	v, err := parseVersion(m.release)
	if err != nil {
		return []string{err.Error()}
	}
	for _, run := range []string{quiet, udp, nagle} {
		for _, measure := range measures() {
			if w := wrongCoverage(v, measure, covered(m.finds[run].doc, measure), run == udp); w != "" {
				out = append(out, run+": "+w)
			}
		}
	}
	for _, measure := range measures() {
		if w := wrongCoverage(v, measure, covered(m.finds[convoy].doc, measure), true); closer(measure) && w != "" {
			out = append(out, convoy+": "+w)
		}
	}
	for run, w := range map[string]string{
		convoy: wrongVerdict(m.finds[convoy], "lock-convoy", "thread-server"),
		quiet:  wrongVerdict(m.finds[quiet], "", ""),
		udp:    wrongVerdict(m.finds[udp], "udp-receive-buffer-full", "rtp-sink"),
		nagle:  wrongNagle(v, m.finds[nagle]),
		nobody: wrongNobody(m.finds[nobody]),
	} {
		if w != "" {
			out = append(out, run+": "+w)
		}
	}
	for name, exit := range m.lab {
		if exit != 0 {
			out = append(out, fmt.Sprintf("lab %s: exit %d", name, exit))
		}
	}
	for name, exit := range m.inside {
		if exit != 0 {
			out = append(out, fmt.Sprintf("inside, %s: exit %d", name, exit))
		}
	}
	out = append(out, wrongRing(v, m.ring)...)
	slices.Sort(out)
	return out
}

// wrongRing wants the operations of probes/syscalls/testdata/uring.c, each of them.
func wrongRing(v version, calls report.Calls) (out []string) {
	want := map[string]uint64{"nop": 500, "read": 1000, "send": 300, "recv": 300, "openat": 50}
	if !v.before(version{5, 17}) { // operations without a completion
		want["nop"] += 40
	}
	got := map[string]uint64{}
	for _, c := range calls.Calls {
		if op, ok := strings.CutPrefix(c.Call, recording.UringPrefix); ok {
			got[op] = c.N
			if op == "recv" { // the one that goes on ends with the program
				got[op] -= c.Errors["ECANCELED"]
			}
		}
	}
	// Polls that complete more than once came with 5.13, and to some older ones later.
	if !v.before(version{5, 13}) || got["poll_add"] > 0 {
		want["poll_add"], want["poll_remove"] = 21, 1
	}
	if !maps.Equal(got, want) {
		out = append(out, fmt.Sprintf("inside, uring: operations %v, want %v", got, want))
	}
	return out
}

// covered is the coverage of a measure: its own row, else its probe's.
func covered(d report.Document, measure string) report.Coverage {
	probe, _, _ := strings.Cut(measure, ".")
	found := report.Coverage{State: "none"}
	for _, c := range d.Coverage {
		if c.Probe == measure {
			return c
		}
		if c.Probe == probe {
			found = c
		}
	}
	return found
}

// wrongCoverage holds a measure taken as root against what the kernel has. Threads
// are looked at where a socket is suspicious only, the inside of a process where
// something is suspected of it, and nothing is peeked into unless it is asked for. Who has
// requests is looked at, too, where the kernel shows requests. What is partial of a process,
// or of names, is so for what ran and not for the kernel.
func wrongCoverage(v version, measure string, c report.Coverage, suspicious bool) string {
	first := since[measure]
	switch {
	case v.before(first):
		if c.State != recording.CoverageUnavailable || !strings.Contains(c.Cure, first.String()) {
			return fmt.Sprintf("%s is %s (%s; %s), want unavailable and the cure to name %v", measure, c.State, c.Why, c.Cure, first)
		}
	case v.before(inPart[measure]):
		if c.State != recording.CoveragePartial || !strings.Contains(c.Cure, inPart[measure].String()) {
			return fmt.Sprintf("%s is %s (%s; %s), want partial and the cure to name %v", measure, c.State, c.Why, c.Cure, inPart[measure])
		}
	case c.State == recording.CoverageOff && strings.HasPrefix(measure, "threads.") && !suspicious:
	case c.State == recording.CoverageOff && measure == "states" && !suspicious && v.before(since["sockets.turns"]):
	case c.State == recording.CoverageOff && closer(measure):
	case c.State == recording.CoveragePartial && (closer(measure) || strings.HasPrefix(measure, "oncpu.")):
	case c.State != recording.CoverageOK:
		return fmt.Sprintf("%s is %s (%s), want ok", measure, c.State, c.Why)
	}
	return ""
}

// wrongVerdict wants the culprit first, and its subject to name a process; without
// a culprit wanted, none.
func wrongVerdict(f find, suspect, process string) string {
	var culprits []string
	for _, e := range f.doc.Verdict {
		if e.State == "culprit" {
			culprits = append(culprits, e.Suspect+" of "+e.Subject)
		}
	}
	said := strings.Join(culprits, ", ")
	// Where requests can't be counted, by this kernel or this user, nothing wrong is not said.
	unseen := f.exit == cli.ExitCantTell && f.doc.Standing == string(verdict.Blind)
	switch {
	case suspect == "" && (f.exit != 0 && !unseen || said != ""):
		return fmt.Sprintf("exit %d, culprits: %q; want exit 0 and none", f.exit, said)
	case suspect != "" && (f.exit != 10 || !strings.HasPrefix(said, suspect+" of "+process+"[")):
		return fmt.Sprintf("exit %d, culprits: %q; want exit 10 and %s of %s", f.exit, said, suspect, process)
	}
	return ""
}

// wrongNagle wants the pair found, or said not to be seen where it can't be.
func wrongNagle(v version, f find) string {
	if !v.before(since["sockets.holds"]) {
		return wrongVerdict(f, "nagle-delayed-ack", "api-client")
	}
	for _, e := range f.doc.Verdict {
		if e.Suspect == "nagle-delayed-ack" && (e.State != "not-seen" || !strings.Contains(e.Text, "sockets.holds")) {
			return fmt.Sprintf("%s (%s), want not-seen for want of sockets.holds", e.State, e.Text)
		}
	}
	return wrongVerdict(f, "", "")
}

// wrongNobody wants of a user without capabilities: no failure, what needs none
// measured, and the capability named for what needs one.
func wrongNobody(f find) string {
	for _, c := range f.doc.Coverage {
		if c.State == recording.CoverageFailed {
			return fmt.Sprintf("%s failed: %s", c.Probe, c.Why)
		}
		if c.State == recording.CoverageUnavailable && !strings.Contains(c.Why+" "+c.Cure, "CAP_") {
			return fmt.Sprintf("%s is unavailable and names no capability: %s", c.Probe, c.Why)
		}
	}
	for measure, want := range map[string]string{
		"drops.kfree_skb":     recording.CoverageUnavailable,
		"sockets.connections": recording.CoverageUnavailable,
		"sockets.diag":        recording.CoverageOK,
		"host.netstat":        recording.CoverageOK,
		"host.cpu":            recording.CoverageOK,
	} {
		if c := covered(f.doc, measure); c.State != want {
			return fmt.Sprintf("%s is %s (%s), want %s", measure, c.State, c.Why, want)
		}
	}
	return wrongVerdict(f, "", "")
}
