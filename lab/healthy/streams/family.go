// Package streams has streams that pause, end and come again as they should.
package streams

import (
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/healthy/site"
)

// Voice is a call with silence suppression: nothing is sent in the pauses, nothing is lost.
var Voice = drawn.Family{
	Name: "voice-with-pauses", Kind: drawn.Media, Origin: drawn.Healthy, Software: []string{"Python"},
	Needs: []lab.Tool{lab.IP, site.Python}, Build: func(b *drawn.Bench) {
		net := b.Net()
		every, size := b.Duration("a datagram every", 2*time.Millisecond, 30*time.Millisecond), b.Int("bytes of a datagram", 60, 1200)
		talk, pause := b.Duration("talks for", 300*time.Millisecond, 3*time.Second), b.Duration("pauses for", 200*time.Millisecond, 3*time.Second)
		log := b.ClientLog("call")
		site.Program(b, net.Server, "phone", "voice.py", "receive", net.At(5004), log, every, size)
		site.Program(b, net.Client, "caller", "voice.py", "send", net.At(5004), log, every, size, talk, pause)
	},
}

// Players come back, later each time, when their stream has ended.
var Players = drawn.Family{
	Name: "players-that-come-back", Kind: drawn.Media, Origin: drawn.Healthy, Software: []string{"Python"},
	Needs: []lab.Tool{lab.IP, site.Python}, Build: func(b *drawn.Bench) {
		net := b.Net()
		rate := b.LogUniform("bytes per second of a stream", 2000, 100_000)
		site.Program(b, net.Server, "radio", "feeds.py", "serve", net.At(8000), b.Duration("a stream lasts", 500*time.Millisecond, 10*time.Second), rate)
		site.Program(b, net.Client, "player", "feeds.py", "play", net.At(8000), b.Int("players", 2, 60), b.Duration("comes back after", 50*time.Millisecond, time.Second), b.ClientLog("players"))
	},
}
