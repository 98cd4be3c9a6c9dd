package pool

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// longQuery is how long a query to a name server must be under way to be seen to
// wait: answers come in milliseconds, and samples are a second apart.
const longQuery = 2.0 // s

// slowNames is a process whose queries to a name server are not answered, or late:
// counted where the kernel lets that be done, else told by the sockets.
func slowNames(all *pool, s *scene.Scene, r *recording.Recording) (suspect.Finding, bool) {
	if c, counted := r.Measured("sockets.queries"); counted {
		if f, ok := forwards(all, s, r); ok {
			return f, true
		}
		// A query that is given up takes longer than a slice.
		if f, ok := askedNames(all, s, r); ok || !c.InSlices() {
			return f, ok
		}
	}
	for _, p := range all.workers {
		if f, ok := namesBySockets(p, s, r); ok {
			return f, true
		}
	}
	return suspect.Finding{}, false
}

// namesBySockets goes by how long sockets to a name server live: a resolver's lives
// until its answer came, and it asks again after 5 s (resolv.conf(5), timeout).
func namesBySockets(p *scene.Process, s *scene.Scene, r *recording.Recording) (suspect.Finding, bool) {
	var worst *scene.Socket
	waiting, longest := 0, 0.0
	for _, k := range p.Sockets {
		if k.First().Proto != "udp" || recording.Port(k.First().Remote) != "53" {
			continue
		}
		lived := k.Last().T.Sub(k.First().T).Seconds()
		if lived < longQuery || k.Last().RecvQ > 0 {
			continue
		}
		waiting++
		if lived > longest {
			worst, longest = k, lived
		}
	}
	if worst == nil {
		return suspect.Finding{}, false
	}
	server := worst.First().Remote
	f := suspect.Finding{Subject: worst.Subject, Related: []recording.Subject{p.Subject},
		Active: []recording.Interval{{Start: worst.First().T, End: worst.Last().T}},
		Text:   fmt.Sprintf("%s waits for the name server %s, for %s and longer", p.Subject.Name, server, units.Lasting(longest))}
	f.Subject.PID, f.Subject.Comm = p.Subject.PID, p.Subject.Comm
	f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: longest, Unit: "s", Source: source.Lookups.As("ss -unp dst :53"), Origin: "its sockets",
		Text: fmt.Sprintf("%s to %s waited for %s and longer (an answer takes milliseconds; resolvers ask again after 5 s)", units.Plural(waiting, "query"), server, units.Lasting(longest))})
	if polls, looks := polling(p, worst); looks >= 3 && 2*polls >= looks {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(polls), Unit: "samples", Source: source.CallsOf(p.Subject.PID), Origin: "threads' calls",
			Text: fmt.Sprintf("a thread of it waited in poll or a read in %d of %d samples meanwhile", polls, looks)})
	}
	netns := worst.First().Netns
	sent, ok1 := measure.Grew(r, netns, "node_netstat_Udp_OutDatagrams")
	got, ok2 := measure.Grew(r, netns, "node_netstat_Udp_InDatagrams")
	if ok1 && ok2 && sent >= 2 && got < 0.9*sent {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: sent - got, Unit: "datagrams", Source: source.SNMP("Udp", "OutDatagrams", "InDatagrams"), Origin: "udp counters",
			Text: fmt.Sprintf("%s datagrams went and %s came in this namespace", units.Count(sent), units.Count(got))})
	} else if ok1 && ok2 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Weak, Source: source.SNMP("Udp", "OutDatagrams", "InDatagrams"), Origin: "udp counters",
			Text: fmt.Sprintf("%s datagrams went and %s came in this namespace: slow, but answered", units.Count(sent), units.Count(got))})
	}
	if _, suffers := latencyOf(s, p.Subject.PID); suffers {
		f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: longest, Unit: "s", Text: fmt.Sprintf("whoever needs the name waits for %s and longer", units.Lasting(longest))}
	}
	f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("Find out why %s does not answer. In /etc/resolv.conf: options timeout:1 attempts:2, a second nameserver, or a resolver on this host.", server)}
	f.Next = fmt.Sprintf("dig @%s . NS +tries=1; tcpdump -ni any host %s and port 53", recording.Host(server), recording.Host(server))
	return f, true
}

// polling counts the looks, while the query waited, with a thread in poll or in a
// read from that socket.
func polling(p *scene.Process, k *scene.Socket) (polls, looks int) {
	for _, l := range measure.LooksAt(p) {
		if l.T < k.First().T || l.T > k.Last().T {
			continue
		}
		looks++
		for _, row := range l.Rows {
			if row.Syscall == "poll" || row.Syscall == "ppoll" || measure.ReadCalls[row.Syscall] && measure.SocketOn(p, row.FD) == k {
				polls++
				break
			}
		}
	}
	return polls, looks
}
