package drawn

import (
	"fmt"
	"time"

	"snag/lab"
)

// The kinds of traffic that a family of packets may have.
const (
	Datagrams = "datagrams" // media-sender to media-receiver :5004
	Requests  = "requests"  // app-client to app-server :8080
	Uploads   = "uploads"   // streams of uploader to upload-server :8000
	// Bodies are Requests, and their answers, of more than one segment.
	Bodies = "bodies"
)

// TrafficSubject matches the programs, ports and addresses of Traffic.
const TrafficSubject = `media-|app-|upload|:5004|:8080|:8000|10\.7[789]\.\d+\.`

// Traffic is what clients send to a server, of one kind.
type Traffic struct {
	Kind           string
	Rate           float64 // datagrams, requests or bytes per second
	Wire           float64 // bytes per second that the clients send, with headers
	Server, Client *lab.Process
}

// mostBytes per second may go over a path: the actor that delays packets copies each.
const mostBytes = 2e6

// Traffic draws what flows from the clients to the server, one of the kinds, and starts it.
func (b *Bench) Traffic(n Net, kinds ...string) Traffic {
	kind := Pick(b.Draw, "traffic", kinds...)
	switch kind {
	case Datagrams:
		return b.datagrams(n)
	case Requests:
		return b.requests(n, b.Int("bytes of a request", 16, 16384))
	case Bodies:
		return b.requests(n, b.Int("bytes of a body", 2000, 60000))
	default:
		return b.uploads(n)
	}
}

func (b *Bench) datagrams(n Net) Traffic {
	t := Traffic{Kind: Datagrams, Rate: b.LogUniform("datagrams per second", 20, 3000)}
	size, burst, flows := b.Int("bytes of a datagram", 64, 1400), b.Int("datagrams at once", 1, 16), b.Int("senders' sockets", 1, 32)
	t.Wire = t.Rate * float64(size+42)
	flows = max(1, min(flows, int(t.Rate/float64(burst)/4))) // each sends some times per second
	t.Server = b.Actor(n.Server, "media-receiver", "udp-sink", []string{"--listen", n.At(5004), "--force-rcvbuf", "8000000", "--log", b.ClientLog("arrived")})
	b.AwaitPrinted(t.Server, "ready")
	t.Client = b.Actor(n.Client, "media-sender", "udp-source", []string{"--to", n.At(5004), "--rate", fmt.Sprint(t.Rate), "--burst", fmt.Sprint(burst),
		"--size", fmt.Sprint(size), "--flows", fmt.Sprint(flows), "--log", b.ClientLog("sent")})
	return t
}

func (b *Bench) requests(n Net, size int) Traffic {
	takes := b.Duration("answers take", 10*time.Microsecond, 20*time.Millisecond)
	l := b.LoadOf(2000)
	l.Size = size
	l.Rate = max(leastRate, min(l.Rate, mostBytes/2/float64(size))) // an answer is as large
	l = l.Within(n.RTT + takes)
	l.Fresh = b.Chance("a connection for each request", 0.25)
	t := Traffic{Kind: Requests, Rate: l.Rate, Wire: l.Rate * (1.05*float64(l.Size) + 66)}
	t.Server = b.Actor(n.Server, "app-server", "rr-server", []string{"--listen", n.At(8080), "--wait", takes.String(), "--size", fmt.Sprint(l.Size)})
	b.AwaitPrinted(t.Server, "ready")
	t.Client = b.Ask(n.Client, "app-client", n.At(8080), l)
	return t
}

func (b *Bench) uploads(n Net) Traffic {
	t := Traffic{Kind: Uploads, Rate: b.LogUniform("bytes per second", 20e3, mostBytes)}
	t.Wire = 1.1 * t.Rate
	flows := b.Int("streams", 1, 8)
	chunk := max(64, min(16384, int(t.Rate/float64(flows)/b.LogUniform("chunks per second", 10, 50))))
	b.Values["bytes of a chunk"] = chunk
	t.Server = b.Actor(n.Server, "upload-server", "tcp-sink", []string{"--listen", n.At(8000), "--chunk", fmt.Sprint(chunk), "--log", b.ClientLog("upload")})
	b.AwaitPrinted(t.Server, "ready")
	t.Client = b.Actor(n.Client, "uploader", "tcp-source", []string{"--to", n.At(8000), "--rate", fmt.Sprint(t.Rate), "--flows", fmt.Sprint(flows),
		"--chunk", fmt.Sprint(chunk), "--stamp"})
	b.AwaitPrinted(t.Client, "ready")
	return t
}

// DatagramMemory is how many bytes a datagram of that size takes of a receive buffer: the
// kernel's allocations are of a few sizes.
func DatagramMemory(size int) float64 {
	switch {
	case size < 350:
		return 768
	case size < 850:
		return 1280
	}
	return 2304
}
