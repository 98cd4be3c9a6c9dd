package scene

import (
	"slices"
	"strings"
	"time"

	"snag/recording"
)

// Captured is what captures show of the TCP connections to one server, those on which
// somebody waited in vain apart.
type Captured struct {
	Netns   uint64 // which capture: recording.Flow.Netns
	Server  string // address:port
	Subject recording.Subject
	// Connections are all that were asked for, or that stood; Opened those of them that the
	// server let in.
	Connections, Opened int
	// Asked are the requests on all of them.
	Asked uint64
	// Unanswered got neither a SYN-ACK nor a reset for two SYNs and more, Refused a reset; Late
	// were opened after a second SYN.
	Unanswered, Refused, Late []recording.Flow
	// Silent have a request after which nothing came of the server for three seconds and more; Cut
	// lost an answer by a reset of the server.
	Silent, Cut []recording.Flow
}

// HeldWay is one direction of a captured connection in which the sender had to wait: the receiver
// offered no window, or what was lost had to be sent again.
type HeldWay struct {
	Flow             recording.Flow
	Way              recording.FlowWay // what the sender sent
	Sender, Receiver string
}

const (
	// silentFloor is from when a server is called silent: nobody waits so long for a page.
	silentFloor = 3.0 // s
	// A window that is shut so long, or for such a share of its connection's time and half a
	// second, held its sender up. Healthy readers shut it for some 10 ms.
	shutFloor      = 2.0 // s
	shutShare      = 0.3
	shutShareFloor = 0.5 // s
	// Who fails at so many addresses on as many ports, or on so many hosts, looks for what is
	// there.
	looksPorts, looksHosts = 5, 20
	leavesPorts            = 2
	// firstWindow is what is sent before anything is acknowledged (RFC 6928), bytes.
	firstWindow = 14600
)

// answersAll are ports of protocols in which each request is answered at once (IANA).
var answersAll = map[string]bool{
	"21": true, "25": true, "53": true, "80": true, "88": true, "110": true, "111": true, "135": true, "139": true, "143": true,
	"389": true, "445": true, "587": true, "1433": true, "1521": true, "2049": true, "3306": true, "5432": true, "6379": true, "8000": true, "8080": true, "11211": true,
}

// answersInTLS are ports of such protocols within TLS. What a client says last there may be a word that
// nobody answers (HTTP/2's WINDOW_UPDATE, close_notify): only answers that came tell.
var answersInTLS = map[string]bool{"443": true, "465": true, "636": true, "853": true, "993": true, "995": true, "8443": true}

type capturedKey struct{}

// CapturedServers are the servers of all captures, in the order in which they were asked first.
func CapturedServers(s *Scene, r *recording.Recording) []*Captured {
	return Keep(s, capturedKey{}, func() []*Captured { return capturedServers(s, r) })
}

func capturedServers(s *Scene, r *recording.Recording) (out []*Captured) {
	type key struct {
		netns  uint64
		server string
	}
	by := map[key]*Captured{}
	around := lookingAround(r)
	for _, f := range r.Flows {
		if f.Proto != "tcp" {
			continue
		}
		k := key{f.Netns, Address(f.Server)}
		c := by[k]
		if c == nil {
			c = &Captured{Netns: k.netns, Server: k.server, Subject: callee(s, recording.Turns{Netns: k.netns, Remote: k.server})}
			by[k] = c
			out = append(out, c)
		}
		c.add(f, around[clientOf(f)])
	}
	for _, c := range out {
		c.Refused = slices.DeleteFunc(c.Refused, func(f recording.Flow) bool { return triedAnother(r, f) })
	}
	return out
}

func (c *Captured) add(f recording.Flow, around bool) {
	c.Connections++
	c.Asked += f.Asked
	switch {
	case f.Closed == "refused":
		if !around {
			c.Refused = append(c.Refused, f)
		}
		return
	case f.Closed == "unanswered" || f.SYNs > 0 && f.SYNACKs == 0 && f.Down.Packets == 0:
		if !around && leftAlone(f) {
			c.Unanswered = append(c.Unanswered, f)
		}
		return
	}
	c.Opened++
	if f.SYNs > 1 && f.Handshake != nil && *f.Handshake >= slowHandshake {
		c.Late = append(c.Late, f)
	}
	if silent(f) {
		c.Silent = append(c.Silent, f)
	}
	if f.Cut {
		c.Cut = append(c.Cut, f)
	}
}

// leftAlone: its kernel sent the SYN again, so that no answer had come, and never went on. A capture
// of one direction has the ACK that follows.
func leftAlone(f recording.Flow) bool {
	return f.SYNs >= 2 && f.Up.Packets-min(f.Up.Packets, f.Up.Copies) <= uint64(f.SYNs) && f.End.Sub(f.T).Seconds() >= slowHandshake
}

// silent reports whether a request waited so long for the first byte of its answer that somebody
// minds. What a client says without waiting for words (a report, a message to a broker) is told
// from a request by its first bytes, by its port, or by how the server answers as a rule.
func silent(f recording.Flow) bool {
	q := f.Silence
	switch {
	case q == nil || q.Length < silentFloor:
		return false
	case q.Begins != "" || answersAll[recording.Port(f.Server)] || q.Open && q.Acked == nil && f.Down.Packets > 0:
		return true // the last: it was sent again and never acknowledged
	case answersInTLS[recording.Port(f.Server)]:
		return !q.Open
	case q.Usual != nil && f.Asked-f.Silent >= fewServed:
		// What is open when the client leaves may be its last word.
		return fewFactor**q.Usual <= q.Length && 4*f.Silent <= f.Asked && (!q.Open || f.First != "client")
	}
	// The connection was opened, the client sent a request, and no answer came for long, or ever. A
	// client that sends more than an initial window is sending a file, not a request.
	return f.Handshake != nil && q.First && (!q.Open || f.Asked == 1 && f.Up.Bytes <= firstWindow)
}

type capturedClient struct {
	netns uint64
	host  string
}

func clientOf(f recording.Flow) capturedClient {
	return capturedClient{f.Netns, recording.Host(f.Client)}
}

// lookingAround are the hosts that look for what is there: they fail at many addresses (a scan of
// ports, a peer-to-peer program), or leave at several ports as soon as they were let in, and never
// say a word (nmap -sS, -sT).
func lookingAround(r *recording.Recording) map[capturedClient]bool {
	type seen struct {
		ports, hosts, addresses, left map[string]bool
		said                          uint64 // bytes
	}
	by := map[capturedClient]*seen{}
	for _, f := range r.Flows {
		if f.Proto != "tcp" {
			continue
		}
		k := clientOf(f)
		if by[k] == nil {
			by[k] = &seen{ports: map[string]bool{}, hosts: map[string]bool{}, addresses: map[string]bool{}, left: map[string]bool{}}
		}
		by[k].said += f.Up.Bytes
		if f.Closed == "client rst" && f.SYNACKs > 0 && f.Down.Bytes == 0 {
			by[k].left[recording.Port(f.Server)] = true
		}
		if f.Closed != "refused" && f.Closed != "unanswered" {
			continue
		}
		by[k].ports[recording.Port(f.Server)] = true
		by[k].hosts[recording.Host(f.Server)] = true
		by[k].addresses[f.Server] = true
	}
	out := map[capturedClient]bool{}
	for k, v := range by {
		out[k] = len(v.addresses) >= looksPorts && len(v.ports) >= looksPorts || len(v.hosts) >= looksHosts || len(v.left) >= leavesPorts && v.said == 0
	}
	return out
}

// anotherSoon is how soon after a refusal a program has gone on to the next address of a name
// (RFC 8305, section 5: 250 ms).
const anotherSoon = 300 * time.Millisecond

// triedAnother: the client was let in at the same port of another address at that very moment: it
// tries one after the other.
func triedAnother(r *recording.Recording, f recording.Flow) bool {
	return slices.ContainsFunc(r.Flows, func(o recording.Flow) bool {
		return o.Proto == "tcp" && o.Netns == f.Netns && o.Handshake != nil && recording.Port(o.Server) == recording.Port(f.Server) && o.Server != f.Server &&
			o.T.Add(anotherSoon) >= f.T && o.T <= f.End.Add(anotherSoon) && (recording.Host(o.Client) == recording.Host(f.Client) || otherFamily(o.Client, f.Client))
	})
}

// otherFamily: one address is IPv4's and one is IPv6's.
func otherFamily(a, b string) bool {
	return strings.Contains(recording.Host(a), ":") != strings.Contains(recording.Host(b), ":")
}

// ShutWays are the captured directions that a shut window held up.
func ShutWays(r *recording.Recording) []HeldWay {
	return heldWays(r, func(w recording.FlowWay, length float64) bool {
		return w.ShutMore && (w.WindowShut >= shutFloor || w.WindowShut >= shutShareFloor && w.WindowShut >= shutShare*length)
	})
}

func heldWays(r *recording.Recording, held func(w recording.FlowWay, length float64) bool) (out []HeldWay) {
	for _, f := range r.Flows {
		if f.Proto != "tcp" {
			continue
		}
		client, server := Address(f.Client), Address(f.Server)
		length := f.End.Sub(f.T).Seconds()
		for _, w := range []HeldWay{{f, f.Up, client, server}, {f, f.Down, server, client}} {
			if held(w.Way, length) {
				out = append(out, w)
			}
		}
	}
	return out
}

// Who stands still for so long before the timer sends again what was lost, and for such a share of
// the connection's time, is held up by it.
const (
	timedOutFloor = 1.0 // s
	timedOutShare = 0.1
)

// LostWays are the captured directions that stood still until lost segments were sent again.
func LostWays(r *recording.Recording) []HeldWay {
	return heldWays(r, func(w recording.FlowWay, length float64) bool {
		return w.LastAck != 0 && w.Timeouts > w.Needless+1 && w.TimedOut >= max(timedOutFloor, timedOutShare*length)
	})
}

// WaitedOn is how long somebody waited in vain on a captured connection, s: the harm by which
// connections are ordered.
func WaitedOn(f recording.Flow) (sum float64) {
	length := f.End.Sub(f.T).Seconds()
	switch {
	case f.Proto != "tcp":
		return 0
	case f.Closed == "refused":
		return againAfter
	case leftAlone(f) && f.SYNACKs == 0 && f.Down.Packets == 0:
		return length
	}
	if f.SYNs > 1 && f.Handshake != nil {
		sum += *f.Handshake
	}
	if silent(f) {
		sum += f.SilentSum
	}
	if f.Cut {
		sum += againAfter
	}
	for _, w := range []recording.FlowWay{f.Up, f.Down} {
		if w.ShutMore {
			sum += w.WindowShut
		}
		if w.LastAck != 0 && w.Timeouts > w.Needless+1 {
			sum += w.TimedOut
		}
	}
	return sum
}

// againAfter is how long who was refused or cut off waits until he asks again (RFC 6298, 2).
const againAfter = 1.0 // s
