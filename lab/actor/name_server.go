package actor

import (
	"context"
	"flag"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

var nameServer = Actor{
	Name:  "name-server",
	About: "answers queries for names over UDP: every name is 10.0.0.1 and has no IPv6 address; or answers none",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port")
		wait := f.Duration("wait", 0, "time until an answer")
		silent := f.Bool("silent", false, "answer nothing")
		var b nameBreak
		f.StringVar(&b.then, "then", "", "what SIGUSR2 switches on and off: slow, silent, servfail, refused")
		f.DurationVar(&b.slow, "slow", time.Second, "time until an answer while it is slow")
		f.Float64Var(&b.share, "share", 1, "of the queries meet what was switched on")
		ttl := f.Uint("ttl", 1, "seconds that an answer may be kept")
		if err := parse(); err != nil {
			return err
		}
		c, err := net.ListenPacket("udp4", *listen)
		if err != nil {
			return err
		}
		defer c.Close()
		context.AfterFunc(ctx, func() { c.Close() })
		b.watch(ctx)
		ready()
		var asked, told atomic.Uint64
		go func() {
			for sleep(ctx, time.Second) {
				if n := asked.Load(); n != told.Load() {
					told.Store(n)
					fmt.Printf("queries %d\n", n)
				}
			}
		}()
		buf := make([]byte, 1500)
		for {
			n, from, err := c.ReadFrom(buf)
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			asked.Add(1)
			late, rcode, ok := b.now(*wait)
			if *silent || !ok {
				continue
			}
			answer, ok := answerName(buf[:n], rcode, uint32(*ttl)) //nolint:gosec // a flag of some seconds
			if !ok {
				continue
			}
			time.AfterFunc(late, func() { _, _ = c.WriteTo(answer, from) })
		}
	},
}

// answerName is the answer to a query: 10.0.0.1 to whoever asks for an address of IPv4,
// nothing of any other kind, and nothing with an error. False: it is no query.
func answerName(query []byte, rcode dnsmessage.RCode, ttl uint32) ([]byte, bool) {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || m.Response || len(m.Questions) != 1 {
		return nil, false
	}
	q := m.Questions[0]
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	m.RCode = rcode
	if q.Type == dnsmessage.TypeA && rcode == dnsmessage.RCodeSuccess {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: ttl},
			Body:   &dnsmessage.AResource{A: [4]byte{10, 0, 0, 1}},
		}}
	}
	out, err := m.Pack()
	return out, err == nil
}
