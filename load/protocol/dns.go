package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// DNS asks a resolver for one name over UDP (RFC 1035).
type DNS struct{ query []byte }

// types of records that can be asked for.
var types = map[string]dnsmessage.Type{
	"A": dnsmessage.TypeA, "AAAA": dnsmessage.TypeAAAA, "CNAME": dnsmessage.TypeCNAME, "MX": dnsmessage.TypeMX, "NS": dnsmessage.TypeNS,
	"PTR": dnsmessage.TypePTR, "SOA": dnsmessage.TypeSOA, "SRV": dnsmessage.TypeSRV, "TXT": dnsmessage.TypeTXT,
}

// NewDNS asks for the records of a type, such as A, that a name has.
func NewDNS(name, kind string) (*DNS, error) {
	t, known := types[strings.ToUpper(kind)]
	if !known {
		return nil, fmt.Errorf("unknown type of DNS record %q: A, AAAA, CNAME, MX, NS, PTR, SOA, SRV or TXT", kind)
	}
	full, err := dnsmessage.NewName(strings.TrimSuffix(name, ".") + ".")
	if err != nil {
		return nil, fmt.Errorf("%q is not a DNS name: %w", name, err)
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{RecursionDesired: true}, Questions: []dnsmessage.Question{{Name: full, Type: t, Class: dnsmessage.ClassINET}}}
	q, err := m.Pack()
	if err != nil {
		return nil, fmt.Errorf("%q is not a DNS name: %w", name, err)
	}
	return &DNS{q}, nil
}

// New implements Protocol.
func (p *DNS) New() Conversation {
	own := append([]byte(nil), p.query...)
	return &dnsClient{writes: [][]byte{own}}
}

// Server implements Protocol.
func (p *DNS) Server() Server { return dnsServer{} }

type dnsServer struct{}

// Serve answers that the name has no such records.
func (dnsServer) Serve(b []byte) []byte {
	answer := append([]byte(nil), b...)
	if len(answer) > 3 {
		answer[2] |= 0x80
		answer[3] = 0x80
	}
	return answer
}

type dnsClient struct {
	writes [][]byte
	id     uint16
}

func (c *dnsClient) Ask(number int64) [][]byte {
	c.id = uint16(number)
	binary.BigEndian.PutUint16(c.writes[0], c.id)
	return c.writes
}

// Read implements Conversation. A name that does not exist is an answer; a server that fails or
// refuses gives an error.
func (c *dnsClient) Read(b []byte) (Got, error) {
	if len(b) < 12 || b[2]&0x80 == 0 {
		return Got{}, errors.New("the datagram is not a DNS answer")
	}
	if binary.BigEndian.Uint16(b) != c.id {
		return Got{Stale: 1}, nil
	}
	got := Got{Done: 1}
	if code := dnsmessage.RCode(b[3] & 0xf); code != dnsmessage.RCodeSuccess && code != dnsmessage.RCodeNameError {
		got.Failed = 1
	}
	return got, nil
}
