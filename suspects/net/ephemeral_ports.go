package net

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var ephemeralPorts = &suspect.Suspect{
	Name:  "ephemeral-ports",
	Title: "no local port left towards a destination",
	About: "Each connection to one destination needs its own local port from ip_local_port_range, and keeps it for a minute after it closed it (TIME-WAIT). A client that makes a connection for each request runs out: connect fails with EADDRNOTAVAIL. TIME-WAIT on a server, or spread over many destinations, takes nothing away.",
	Needs: []suspect.Need{
		{Measure: "sockets.ports", Must: true, Why: "ports in use towards each destination, TIME-WAIT included"},
		{Measure: "host.sysctl", Must: true, Why: "net.ipv4.ip_local_port_range of the namespace"},
		{Measure: "sockets.connections", Must: false, Why: "connects that failed, and the process that made them"},
		{Measure: "sockets.errors", Must: false, Why: "EADDRNOTAVAIL, as the program got it"},
	},
	For: []string{
		"decisive: as many ports are in use towards one destination as the range has, and connects to it failed",
		"strong: connects to it returned EADDRNOTAVAIL",
	},
	Against: []string{
		"decisive: ports are left towards every destination, and no connect failed",
		"trap: TIME-WAIT of a listener's own port, or spread over many destinations; bind before connect without IP_BIND_ADDRESS_NO_PORT takes a port from all destinations",
	},
	LeadsTo: []suspect.Lead{{To: "error-answers", Lag: measure.FeltWithin}, {To: scene.ConnectionErrors, Lag: 2e9}, {To: scene.RequestLatency, Lag: 5e9}},
	Remedy: suspect.Remedy{
		Now:         "sysctl -w net.ipv4.tcp_tw_reuse=1",
		Permanently: "net.ipv4.ip_local_port_range = 1024 65535 and net.ipv4.tcp_tw_reuse = 1 in /etc/sysctl.d. Or more addresses of the destination.",
		Program:     "Keep connections open (a pool, keep-alive).",
	},
	Verified: "connects succeed, and ss -tan state time-wait dst DEST stays under the range",
	Next:     "ss -Htan state time-wait | awk '{print $4}' | sort | uniq -c | sort -rn | head; sysctl net.ipv4.ip_local_port_range net.ipv4.tcp_tw_reuse",
	Weigh:    weighEphemeralPorts,
}

const (
	// portsOut: the last of a range are hard to hit at random, and connect tries
	// them all; 2 % are reserved or bound at most.
	portsOut = 0.98
	// portsLow: at this share of a range half as many again are gone in seconds.
	portsLow = 0.8
	// fewConnectErrors: a handful of failed connects are somebody's reload button.
	fewConnectErrors = 5
)

func weighEphemeralPorts(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	type place struct {
		netns         uint64
		local, remote string
	}
	most := map[place]recording.Ports{}
	full := map[place][]recording.Interval{}
	var order []place
	for _, p := range r.Ports {
		k := place{measure.Namespace(r, p.Netns), p.Local, p.Remote}
		was, seen := most[k]
		if !seen {
			order = append(order, k)
		}
		if !seen || p.InUse >= was.InUse {
			most[k] = p
		}
		if n, ok := portRange(r, k.netns); ok && float64(p.InUse) >= portsOut*n {
			full[k] = append(full[k], measure.OneSecond(p.T))
		}
	}
	// Where nobody counted the ports in use towards a destination, connect may still have said that
	// there was none.
	for _, e := range r.CallErrors {
		k := place{measure.Namespace(r, e.Netns), recording.Host(e.Local), e.Remote}
		counted := slices.ContainsFunc(order, func(o place) bool {
			return o.netns == k.netns && scene.Address(o.remote) == scene.Address(k.remote)
		})
		if e.Remote == "" { // where to was not seen: then of a namespace for which nothing was counted
			counted = slices.ContainsFunc(order, func(o place) bool { return o.netns == k.netns })
		}
		if e.Errno == "EADDRNOTAVAIL" && e.Call == "connect" && !counted && !slices.Contains(order, k) {
			order = append(order, k)
			most[k] = recording.Ports{Netns: e.Netns, Local: k.local, Remote: k.remote}
		}
	}
	var out []suspect.Finding
	for _, k := range order {
		n, ok := portRange(r, k.netns)
		// The range may have been another between two looks: then connect says so.
		if p := most[k]; ok && (p.InUse == 0 || float64(p.InUse) >= 0.1*n || connectsTo(s, r, k.netns, scene.Address(k.remote)).noAddress >= fewConnectErrors) {
			out = append(out, portsFinding(s, r, k.netns, p, n, full[k]))
		}
	}
	return out
}

// portRange is how many ports a namespace lets the kernel choose from.
func portRange(r *recording.Recording, netns uint64) (float64, bool) {
	text, ok := r.FactOf("net.ipv4.ip_local_port_range", netns)
	if !ok {
		text, ok = r.FactOf("net.ipv4.ip_local_port_range", 0)
	}
	f := strings.Fields(text)
	if !ok || len(f) != 2 {
		return 0, false
	}
	low, err := strconv.Atoi(f[0])
	high, err2 := strconv.Atoi(f[1])
	return float64(high - low + 1), err == nil && err2 == nil && high >= low
}

// failedConnects are connects of a namespace to a destination that failed, of
// how many, with who made them.
type failedConnects struct {
	failed, opened float64
	noAddress      float64 // that returned EADDRNOTAVAIL
	steps          measure.Steps
	who            []recording.Subject
}

func connectsTo(s *scene.Scene, r *recording.Recording, netns uint64, remote string) failedConnects {
	var out failedConnects
	seen := map[int]bool{}
	caller := func(pid int, comm string) {
		if pid != 0 && !seen[pid] && len(out.who) < measure.MostRelated {
			seen[pid] = true
			out.who = append(out.who, recording.Subject{Kind: recording.KindProcess, PID: pid, Comm: comm, Netns: netns})
		}
	}
	for _, c := range r.Connections {
		if c.Role != "connect" || measure.Namespace(r, c.Netns) != netns || scene.Address(c.Remote) != remote {
			continue
		}
		out.opened += float64(c.Opened)
		if c.Failed > 0 {
			out.failed += float64(c.Failed)
			out.steps = append(out.steps, measure.Step{Interval: measure.OneSecond(c.T), N: float64(c.Failed)})
			caller(c.PID, c.Comm)
		}
	}
	for _, e := range r.CallErrors {
		if e.Errno == "EADDRNOTAVAIL" && measure.Namespace(r, e.Netns) == netns && (e.Remote == "" || scene.Address(e.Remote) == remote) {
			out.noAddress += float64(e.N)
			out.steps = append(out.steps, measure.Step{Interval: measure.OneSecond(e.T), N: float64(e.N)})
			caller(e.PID, e.Comm)
		}
	}
	for _, k := range s.Sockets {
		if k.First().Netns == netns && k.First().Remote == remote && k.Owner() != nil {
			caller(k.Owner().Subject.PID, k.Owner().Subject.Comm)
		}
	}
	return out
}

func portsFinding(s *scene.Scene, r *recording.Recording, netns uint64, p recording.Ports, most float64, full []recording.Interval) suspect.Finding {
	c := connectsTo(s, r, netns, scene.Address(p.Remote))
	used := float64(p.InUse)
	f := suspect.Finding{
		Subject: recording.Subject{Kind: recording.KindFlow, Netns: netns, Proto: "tcp", Local: p.Local, Remote: p.Remote},
		Related: c.who, Active: c.steps.Active(),
		Next: remedy.InNetns(s, netns, "ss -Htan state time-wait dst "+p.Remote+" | wc -l"),
	}
	if len(c.who) == 1 {
		f.Subject.PID, f.Subject.Comm = c.who[0].PID, c.who[0].Comm
		if p.Remote == "" {
			f.Subject = c.who[0]
		}
	}
	if len(f.Active) == 0 {
		f.Active = intervals.Merge(full, 6e9)
	}
	inUse := fmt.Sprintf("%s of %s ports of ip_local_port_range were in use from %s to %s, %s of them in TIME-WAIT", units.Count(used), units.Count(most), p.Local, p.Remote, units.Count(float64(p.TimeWait)))
	e := suspect.Evidence{Value: used, Unit: "ports", Source: source.Of("ss -tan dst "+p.Remote+"; sysctl net.ipv4.ip_local_port_range", source.Ref{Series: "node_sockstat_TCP_tw"}), Origin: "ports in use", Text: inUse}
	failed := max(c.failed, c.noAddress)
	switch {
	case used < portsOut*most:
		e.Side, e.Grade = suspect.Against, suspect.Decisive
		e.Text += ": some were left all the time"
		if c.noAddress >= fewConnectErrors { // the range, or what is in use, is another between two looks
			e.Grade, e.Text = suspect.Weak, inUse+": some were left in each sample"
		}
		if used >= portsLow*most {
			e.Side, e.Grade = suspect.For, suspect.Weak
		}
	case failed >= fewConnectErrors:
		e.Side, e.Grade = suspect.For, suspect.Decisive
		e.Text += fmt.Sprintf("; %s connects to it failed, %s succeeded", units.Count(failed), units.Count(c.opened))
		e.Source = e.Source.And(source.Connections)
	default:
		e.Side, e.Grade = suspect.For, suspect.Strong
	}
	if used > 0 {
		f.Evidence = []suspect.Evidence{e}
	}
	if c.noAddress > 0 {
		grade := suspect.Strong
		if c.noAddress >= fewConnectErrors {
			grade = suspect.Decisive // the kernel looked for a port and found none
		}
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: grade, Value: c.noAddress, Unit: "errors", Source: source.Of("strace -e connect"), Origin: "errno",
			Text: fmt.Sprintf("connect returned EADDRNOTAVAIL %s times", units.Count(c.noAddress))})
	}
	towards := cmp.Or(p.Remote, "its peers")
	f.Text = fmt.Sprintf("all local ports towards %s are taken, most by connections closed in the last minute: connect fails", towards)
	if c.noAddress < fewConnectErrors && used < portsOut*most {
		f.Text = inUse
		return f
	}
	if used < portsOut*most {
		f.Text = fmt.Sprintf("connect found no local port towards %s: the range, or what is in use of it, changes between two samples", towards)
	}
	if p.Remote == "" {
		f.Text = fmt.Sprintf("connect finds none of the %s local ports of ip_local_port_range free", units.Count(most))
		f.Next = remedy.InNetns(s, netns, "ss -Htan state time-wait | awk '{print $4}' | sort | uniq -c | sort -rn | head")
	}
	f.Settings, f.Calls = portsSettings(s, r, netns, p, most, c)
	f.Remedy = suspect.Remedy{Now: remedy.Now(s, r, f.Settings), Permanently: remedy.Kept(s, r, f.Settings),
		Program: fmt.Sprintf("%s: keep the connections to %s open (a pool).", measure.OrProgram(f.Subject.Comm), towards)}
	if len(f.Settings) == 0 {
		f.Remedy.Permanently = fmt.Sprintf("A second address of the destination: %s ports are all that there are for one.", units.Count(most))
	}
	if failed > 0 {
		f.Harm = suspect.Harm{Symptom: scene.ConnectionErrors, Amount: failed, Of: failed + c.opened, Unit: "connections",
			Text: fmt.Sprintf("%s connects to %s failed", units.OfAll(failed, failed+c.opened), towards)}
	}
	return f
}
