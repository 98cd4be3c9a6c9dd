// Package closes has healthy services whose clients end early: browsers that cancel,
// players that switch, connections that are opened for later and never used.
package closes

import (
	"fmt"
	"time"

	"snag/lab/drawn"
	"snag/lab/healthy/site"
)

// most is how many readers of a sort leave per second.
const most = 15

// Cancel is a web server whose readers leave in the middle, or before the first byte.
var Cancel = drawn.Family{
	Name: "readers-that-leave", Kind: drawn.Proxy, Origin: drawn.Healthy, Software: []string{"nginx"},
	Needs: site.WebNeeds(), Build: func(b *drawn.Bench) {
		s := site.Web(b)
		for i := range b.Int("sorts of readers", 1, 3) {
			form := drawn.Pick(b.Draw, fmt.Sprintf("reader %d", i), "first-bytes", "header", "unread", "preconnect")
			path := drawn.Pick(b.Draw, fmt.Sprintf("reader %d reads", i), "/page", "/large")
			every := b.Duration(fmt.Sprintf("reader %d every", i), 50*time.Millisecond, 2*time.Second)
			count := min(b.Int(fmt.Sprintf("readers %d", i), 1, 24), int(most*every.Seconds())+1)
			site.Program(b, s.Client, fmt.Sprintf("visitor-%d", i), "readers.py", form, s.At(80), path, every, count)
		}
		s.Browse(b)
	},
}

// Players read at the pace of their video, and go over to another in the middle of a
// segment.
var Players = drawn.Family{
	Name: "players-that-switch", Kind: drawn.Media, Origin: drawn.Healthy, Software: []string{"nginx"},
	Needs: site.WebNeeds(), Build: func(b *drawn.Bench) {
		s := site.Web(b)
		rate := b.LogUniform("bytes per second of a player", 30_000, 400_000)
		count := min(b.Int("players", 1, 24), int(3e6/rate)+1)
		pause := b.Duration("pause between segments", 100*time.Millisecond, 3*time.Second)
		site.Program(b, s.Client, "player", "readers.py", "switch", s.At(80), "/large", pause, count, rate)
		s.Browse(b)
	},
}

// Proxied is an app behind nginx whose clients leave while it still computes: nginx closes
// the connection to the app as well.
var Proxied = drawn.Family{
	Name: "readers-that-leave-a-proxy", Kind: drawn.Proxy, Origin: drawn.Healthy, Software: []string{"nginx", "Python's http.server"},
	Needs: site.WebNeeds(), Build: func(b *drawn.Bench) {
		s := site.Site{Net: b.Net(), Page: 500}
		wait := b.Duration("an answer waits", time.Millisecond, 300*time.Millisecond)
		site.Program(b, s.Net.Server, "app", "app.py", "127.0.0.1:8000", 0.0005, wait, "-", 0)
		site.NginxOf(b, s.Net, "upstream app { server 127.0.0.1:8000; keepalive 16; }",
			`server { listen ADDR:80; location / { proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection ""; } }`)
		every := b.Duration("hasty client every", 50*time.Millisecond, time.Second)
		count := min(b.Int("hasty clients", 1, 8), int(most*every.Seconds())+1)
		site.Program(b, s.Client, "hasty", "checks.py", "hasty", s.At(80), every, count)
		s.Browse(b)
	},
}
