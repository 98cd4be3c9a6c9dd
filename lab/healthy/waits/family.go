// Package waits has services with requests and connections that wait by design.
package waits

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/healthy/site"
	"snag/lab/pyclient"
)

// Redis has workers that wait in blocking pops, and subscribers.
var Redis = drawn.Family{
	Name: "redis-blocking-pops", Kind: drawn.Cache, Origin: drawn.Healthy, Software: []string{"Redis"},
	Needs: []lab.Tool{lab.IP, site.Redis, site.Python}, Build: func(b *drawn.Bench) {
		s := site.RedisAt(b, b.Net())
		site.Program(b, s.Client, "job-worker", "waiters.py", "blpop", s.At(6379), b.Int("workers", 2, 300), 0)
		site.Program(b, s.Client, "subscriber", "waiters.py", "subscribe", s.At(6379), b.Int("subscribers", 1, 100), 0)
		site.Program(b, s.Client, "producer", "waiters.py", "feed", s.At(6379), 1, b.Duration("a job every", 50*time.Millisecond, 5*time.Second))
	},
}

// LongPoll has long polls and server-sent events on Node, beside pages that are answered
// at once.
var LongPoll = drawn.Family{
	Name: "long-polls", Kind: drawn.EventLoop, Origin: drawn.Healthy, Software: []string{"Node.js"},
	Needs: []lab.Tool{lab.IP, site.Python, {Command: "node", Package: "nodejs"}}, Build: func(b *drawn.Bench) {
		net := b.Net()
		site.Program(b, net.Server, "app", "events.js", net.Addr, 8080, b.Duration("a poll waits", time.Second, 30*time.Second), b.Duration("an event every", 200*time.Millisecond, 10*time.Second))
		site.Program(b, net.Client, "poller", "waiters.py", "poll", net.At(8080), b.Int("polls", 1, 200), 0)
		site.Program(b, net.Client, "follower", "waiters.py", "events", net.At(8080), b.Int("followers", 1, 200), 0)
		site.Pages(b, net, net.At(8080), "/page", 500)
	},
}

// WebSockets are idle but for a ping now and then.
var WebSockets = drawn.Family{
	Name: "idle-websockets", Kind: drawn.EventLoop, Origin: drawn.Healthy, Software: []string{"Python websockets", "asyncio"},
	Needs: []lab.Tool{lab.IP, site.Python}, Build: func(b *drawn.Bench) {
		net := b.Net()
		site.Program(b, net.Server, "chat", "sockets.py", net.Addr, 8080)
		site.Program(b, net.Client, "chatter", "waiters.py", "websocket", net.At(8080), b.Int("idle clients", 10, 500), b.Duration("a ping every", 2*time.Second, 30*time.Second))
		pyclient.Start(b, net.Client, "talker", "websocket", net.At(8080), site.LoadOf(b, net, 500), fmt.Sprintf("bytes=%d", b.Int("bytes of a message", 10, 10_000)))
	},
}
