package elimination

import (
	"fmt"
	"time"

	"snag/lab"
)

// Situation is one thing that is wrong, or nothing.
type Situation struct {
	Name string
	// Guilty are the suspects that are; none: all is well.
	Guilty []string
	Needs  []lab.Tool
	build  func(b *Bench) error
}

// slow is how much longer than usual something takes.
func (b *Bench) slow(name string) time.Duration {
	return b.Duration(name, 40*time.Millisecond, 500*time.Millisecond)
}

// Situations are those over TCP and those over UDP.
var Situations = append(overConnections, overDatagrams...)

// overConnections are fifteen, of which each has another suspect guilty, and three in which all is well.
var overConnections = []Situation{
	{"slow-resolver", []string{"resolver"}, nil, func(b *Bench) error {
		b.by, b.lookup = apiName, b.slow("a lookup takes")
		b.short()
		return b.listen()
	}},
	{"dead-address", []string{"dead-address"}, []lab.Tool{lab.NFT}, deadAddress},
	{"long-path", []string{"path-length"}, nil, func(b *Bench) error {
		b.far(b.slow("long round trip"))
		return b.listen()
	}},
	{"queue-on-path", []string{"path-queue"}, nil, func(b *Bench) error {
		b.by = "" // lookups would wait as well
		b.far(b.Duration("round trip", 500*time.Microsecond, 4*time.Millisecond), "--jitter", b.Duration("packets wait up to", 60*time.Millisecond, 150*time.Millisecond).String())
		return b.listen()
	}},
	{"lossy-path", []string{"packet-loss"}, nil, func(b *Bench) error {
		b.by = "" // lookups would be lost on the way as well
		b.far(b.Duration("round trip", 500*time.Microsecond, 30*time.Millisecond), "--loss", fmt.Sprint(b.LogUniform("lost", 0.02, 0.15)))
		return b.listen()
	}},
	{"full-listen-queue", []string{"listen-queue"}, []lab.Tool{lab.Sysctl}, fullQueue},
	{"pmtu-blackhole", []string{"large-to-server", "large-from-server"}, nil, func(b *Bench) error {
		b.service.size = b.Int("bytes of an answer", 3000, 60_000)
		b.far(b.Duration("round trip", 300*time.Microsecond, 20*time.Millisecond), "--max-size", fmt.Sprint(b.Int("bytes that pass", 620, 1450)))
		return b.listen()
	}},
	{"slow-tls", []string{"tls"}, nil, func(b *Bench) error {
		b.short()
		return b.secure(b.slow("a handshake takes"))
	}},
	{"slow-handler", []string{"handler"}, nil, func(b *Bench) error {
		b.service.work = b.slow("the slow request takes")
		b.short()
		return b.listen()
	}},
	{"slow-service", []string{"service"}, nil, func(b *Bench) error {
		b.service.all = b.slow("every request takes")
		b.short()
		return b.listen()
	}},
	{"nagle-in-service", []string{"nagle-service"}, nil, func(b *Bench) error {
		b.service.split, b.service.size = true, b.Int("bytes of an answer", 50, 1000)
		b.short()
		return b.listen()
	}},
	{"nagle-in-client", []string{"nagle-client"}, nil, func(b *Bench) error {
		b.args = append(b.args, "--nodelay=false", "--split", fmt.Sprintf("%d,%d", b.Int("first write", 5, 20), b.Int("second write", 5, 40)))
		b.short()
		return b.listen()
	}},
	{"slow-new-connections", []string{"new-connections"}, nil, func(b *Bench) error {
		b.service.first = b.slow("a new connection takes")
		b.short()
		return b.listen()
	}},
	{"small-pool", []string{"pool"}, nil, func(b *Bench) error {
		b.service.work = b.Duration("a worker takes", 2*time.Millisecond, 12*time.Millisecond)
		workers := max(1, int(b.LogUniform("answers per second at most", 100, 500)*b.service.work.Seconds()))
		b.service.turns = make(chan struct{}, workers)
		b.short()
		return b.listen()
	}},
	{"busy-client", []string{"client-busy"}, nil, busyClient},
	{"well-near", nil, nil, func(b *Bench) error {
		b.near()
		return b.listen()
	}},
	{"well-away", nil, nil, func(b *Bench) error {
		b.by = apiName
		b.far(b.Duration("round trip", time.Millisecond, 5*time.Millisecond))
		return b.listen()
	}},
	{"well-over-tls", nil, nil, func(b *Bench) error {
		b.short()
		return b.secure(0)
	}},
}
