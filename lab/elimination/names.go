package elimination

import (
	"net"
	"net/netip"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// names answers queries for names: each has these addresses of IPv4.
func names(c net.PacketConn, addresses []string, wait time.Duration) {
	b := make([]byte, 1500)
	for {
		n, from, err := c.ReadFrom(b)
		if err != nil {
			return // it was closed
		}
		if answer, ok := answerOf(b[:n], addresses); ok {
			time.AfterFunc(wait, func() { _, _ = c.WriteTo(answer, from) }) // who asked has ended
		}
	}
}

func answerOf(query []byte, addresses []string) ([]byte, bool) {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || m.Response || len(m.Questions) != 1 {
		return nil, false
	}
	q := m.Questions[0]
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	for _, a := range addresses {
		if q.Type == dnsmessage.TypeA {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
				Body:   &dnsmessage.AResource{A: netip.MustParseAddr(a).As4()},
			})
		}
	}
	out, err := m.Pack()
	return out, err == nil
}
