// Package reconnectstorm makes edge relays that ask an RTMP origin for a stream
// that it does not have, and reconnect at once each time they are refused.
package reconnectstorm

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/actor"
	"snag/lab/origin"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "reconnect-storm",
	Title: "edge relays pull a stream that the RTMP origin does not have, and reconnect at once",
	Apart: true,
	Needs: append([]lab.Tool{lab.IP}, origin.Tools...),
	Want: lab.Want{
		Suspect: "reconnect-storm",
		Subject: `nginx.*:1935|:1935.*nginx`,
	},
	Distractor: "the same edges are refused as well, and back off with jitter",
	Start:      start,
}

// Missing is the stream that the edges ask for and nobody publishes.
const Missing = "match-hd"

const (
	at      = "10.79.1.1:1935"
	edges   = 3
	clients = 6 // connections of an edge
)

// edgeAddr is the address that an edge connects from.
func edgeAddr(n int) string { return fmt.Sprintf("10.79.1.%d", 11+n) }

func start(s *lab.Stage, v lab.Variant) error {
	org, edge, users := s.Netns("origin"), s.Netns("edges"), s.Netns("users")
	s.Veth(lab.End{Netns: org, Device: "eth0", Addr: "10.79.1.1/24"}, lab.End{Netns: edge, Device: "eth0", Addr: edgeAddr(0) + "/24"})
	s.Veth(lab.End{Netns: org, Device: "eth1", Addr: "10.79.2.1/24"}, lab.End{Netns: users, Device: "eth0", Addr: "10.79.2.2/24"})
	for n := 1; n < edges; n++ {
		s.Command(edge, "ip", "addr", "add", edgeAddr(n)+"/24", "dev", "eth0")
	}
	// nginx-rtmp answers in several small writes without TCP_NODELAY, and each
	// refusal would take the 40 ms of a delayed ACK: another incident's cause
	// (nagle-delayed-ack). Hosts that acknowledge at once keep this one single.
	quickACK(s, org, "10.79.1.0/24", "eth0")
	quickACK(s, org, "10.79.2.0/24", "eth1")
	quickACK(s, edge, "10.79.1.0/24", "eth0")
	quickACK(s, users, "10.79.2.0/24", "eth0")
	origin.Serve(s, org, "0.0.0.0:1935")
	s.Await("nginx to listen", 10*time.Second, s.Listens(org, ":1935"))
	origin.Publish(s, users, "10.79.2.1:1935")
	var players []*lab.Process
	for n := range 3 {
		players = append(players, origin.Play(s, users, "10.79.2.1:1935", fmt.Sprintf("player%d", n+1)))
	}
	for _, p := range players {
		s.AwaitOutput(p, "frames come", origin.Moving)
	}
	var relays []*lab.Process
	for n := range edges {
		args := []string{"--to", at, "--from", edgeAddr(n), "--app", origin.App, "--clients", fmt.Sprint(lab.At(s, clients, clients, 4*clients))}
		switch v {
		case lab.Sick:
			args = append(args, "--stream", Missing, "--pause", lab.At(s, "120ms", "50ms", "20ms"))
		case lab.Distractor:
			args = append(args, "--stream", Missing, "--pause", "2s", "--backoff", "16s")
		case lab.Healthy:
			args = append(args, "--stream", origin.Stream, "--pause", "50ms")
		}
		relays = append(relays, s.Actor(edge, fmt.Sprintf("edge-relay%d", n+1), "edge-relay", args))
	}
	if v == lab.Sick {
		s.AwaitGrowth(org, "Tcp", "PassiveOpens", lab.At[uint64](s, 200, 400, 1000))
	}
	for _, p := range relays {
		s.AwaitOutput(p, "the edges were answered", func(printed string) bool {
			line, _ := actor.LastLine(printed)
			return line.Count["playing"]+line.Count["not-found"] >= clients
		})
	}
	return s.Err()
}

func quickACK(s *lab.Stage, ns, network, device string) {
	s.Command(ns, "ip", "route", "change", network, "dev", device, "proto", "kernel", "scope", "link", "quickack", "1")
}
