// Package chain puts a live stream on a stage that passes three servers: an encoder
// publishes it to the ingest, a relay (ffmpeg -c copy, which begins its time stamps
// anew) takes it on to the origin, and the origin pushes it to the edge. Each server
// is an nginx in a network namespace of its own, all on one switch. snag find is
// started at the viewer's and watches the stream at the three of them.
package chain

import (
	"fmt"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/broadcast"
	"snag/lab/origin"
)

// Places where the stream is watched, in its order.
var Places = []string{"ingest", "origin", "edge"}

// addresses on the switch; the ingest's is the one that broadcast's encoders publish to.
var addresses = map[string]string{"ingest": "10.88.1.1", "encoder": "10.88.1.2", "origin": "10.88.1.3", "edge": "10.88.1.4", "viewer": "10.88.1.5"}

// pushed is the edge's end of the link of its own that the origin pushes over.
const pushed = "10.88.3.2"

// Chain is the servers, with the programs that bring the stream from one to the next.
type Chain struct {
	*broadcast.Broadcast
	Servers map[string]*lab.Process // by place
	Source  *lab.Process            // the encoder
	Relay   *lab.Process            // from the ingest to the origin

	ns map[string]string
}

// New makes the chain and waits until the edge plays the stream. path is what the
// origin's packets to the edge meet, as flags of the actor tun-relay (--delay 300ms).
func New(s *lab.Stage, path ...string) *Chain {
	return Of(s, broadcast.Usual, path...)
}

// Of is New with that picture.
func Of(s *lab.Stage, p broadcast.Picture, path ...string) *Chain {
	c := &Chain{Servers: map[string]*lab.Process{}, ns: map[string]string{}}
	var ends []lab.End
	for _, name := range []string{"encoder", "ingest", "origin", "edge", "viewer"} {
		c.ns[name] = s.Netns(name)
		ends = append(ends, lab.End{Netns: c.ns[name], Device: "eth0", Addr: addresses[name] + "/24"})
	}
	s.Bridge(s.Netns("switch"), ends...)
	link := s.Actor("", "carrier", "tun-relay", append([]string{"--a", c.ns["origin"] + "/tun0/10.88.3.1/24", "--b", c.ns["edge"] + "/tun0/" + pushed + "/24"}, path...))
	s.AwaitPrinted(link, "ready")

	c.serve(s, "edge")
	c.serve(s, "origin", pushed+":1935")
	c.serve(s, "ingest")
	c.Broadcast = &broadcast.Broadcast{Stage: s, Encoder: c.ns["encoder"], Server: c.ns["ingest"], Viewer: c.ns["viewer"], Nginx: c.Servers["ingest"]}
	c.Send(p)
	c.Source = c.Encode(broadcast.FileClock, "")
	c.Relay = c.relay(origin.Stream)
	c.AwaitPlaying("edge")
	return c
}

// relay takes a stream from the ingest on to the origin.
func (c *Chain) relay(name string) *lab.Process {
	p := c.Stage.Run(c.ns["ingest"], "relay-"+name, []string{"ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-progress", "pipe:1",
		"-analyzeduration", "1M", "-i", urlOf("ingest", name), "-c", "copy", "-t", fmt.Sprint(int(lab.MaxLife.Seconds())), "-f", "flv", urlOf("origin", name)})
	c.Stage.AwaitOutput(p, "the relay sends", origin.Moving)
	return p
}

func (c *Chain) serve(s *lab.Stage, place string, push ...string) {
	c.Servers[place] = origin.ServeAs(s, c.ns[place], "nginx-"+place, "0.0.0.0:1935", push...)
	s.Await("nginx to listen at the "+place, 20*time.Second, s.Listens(c.ns[place], ":1935"))
}

// AwaitPlaying starts a player at a place and waits until the stream comes.
func (c *Chain) AwaitPlaying(place string) {
	p := c.Stage.Actor(c.Viewer, "player", "edge-relay", []string{"--to", addresses[place] + ":1935", "--app", origin.App, "--stream", origin.Stream, "--clients", "1"})
	c.Stage.AwaitOutput(p, "the stream comes from the "+place, func(printed string) bool { return strings.Contains(printed, "message") })
}

// URL of the stream at a place.
func (c *Chain) URL(place string) string { return urlOf(place, origin.Stream) }

func urlOf(place, name string) string { return origin.URL(addresses[place]+":1935", name) }

// Netns is a place's namespace.
func (c *Chain) Netns(place string) string { return c.ns[place] }

// WorkerAt is the pid of a server's process that handles its connections.
func (c *Chain) WorkerAt(place string) int { return broadcast.WorkerOf(c.Stage, c.Servers[place]) }

// Layers is what --layers is given.
func (c *Chain) Layers() string {
	var all []string
	for _, place := range Places {
		all = append(all, place+"="+c.URL(place))
	}
	return strings.Join(all, ",")
}

// WatchLayers has snag find watch the stream at all places, from the viewer's
// namespace.
func (c *Chain) WatchLayers() { c.Stage.FindLayers(c.Viewer, c.Layers()) }

// Throttle shapes what the origin pushes to the edge.
func (c *Chain) Throttle(rate string) {
	c.Stage.Command(c.ns["origin"], "tc", "qdisc", "add", "dev", "tun0", "root", "tbf", "rate", rate, "burst", "16kb", "limit", "1mb")
}
