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
		switched := f.Bool("switched", false, "--wait and --silent hold while SIGUSR1 has turned them on")
		if err := parse(); err != nil {
			return err
		}
		c, err := net.ListenPacket("udp4", *listen)
		if err != nil {
			return err
		}
		defer c.Close()
		context.AfterFunc(ctx, func() { c.Close() })
		broken := toggled(!*switched)
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
			answer, ok := answerName(buf[:n])
			is := broken.isOn()
			if *silent && is || !ok {
				continue
			}
			late := *wait
			if !is {
				late = 0
			}
			time.AfterFunc(late, func() { _, _ = c.WriteTo(answer, from) })
		}
	},
}

// answerName is the answer to a query: 10.0.0.1 to whoever asks for an address of IPv4,
// nothing of any other kind. False: it is no query.
func answerName(query []byte) ([]byte, bool) {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || m.Response || len(m.Questions) != 1 {
		return nil, false
	}
	q := m.Questions[0]
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	if q.Type == dnsmessage.TypeA {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
			Body:   &dnsmessage.AResource{A: [4]byte{10, 0, 0, 1}},
		}}
	}
	out, err := m.Pack()
	return out, err == nil
}
