package protocol

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"slices"
	"time"
)

// TLS is a protocol inside of TLS.
type TLS struct {
	Protocol
	Config *tls.Config
}

// OverTLS wraps a protocol. host is the name that the certificate has to have; alpn is the
// protocol's name (RFC 7301; "": none is asked for); insecure: any certificate is accepted.
func OverTLS(p Protocol, host, alpn string, insecure bool) TLS {
	c := &tls.Config{ServerName: host, InsecureSkipVerify: insecure}
	if alpn != "" {
		c.NextProtos = []string{alpn}
	}
	return TLS{p, c}
}

// Trusting is the same client, which accepts any certificate.
func (p TLS) Trusting() *tls.Config {
	c := p.Config.Clone()
	c.InsecureSkipVerify = true
	return c
}

// WithoutLogin is a protocol whose connections begin with the first request.
func WithoutLogin(p Protocol) Protocol { return bare{p} }

type bare struct{ p Protocol }

func (b bare) New() Conversation { return b.p.New() }
func (b bare) Server() Server    { return b.p.Server() }

// Login implements Login.
func (p TLS) Login(ctx context.Context, c net.Conn) (net.Conn, error) {
	t := tls.Client(c, p.Config)
	if err := t.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	if got := t.ConnectionState().NegotiatedProtocol; got != "h2" && slices.Contains(p.Config.NextProtos, "h2") {
		return nil, errors.New("the server does not offer HTTP/2 over TLS (ALPN)")
	}
	if inner, also := p.Protocol.(Login); also {
		return inner.Login(ctx, t)
	}
	return t, nil
}

// Certificate makes one for a server of this process: a client that checks certificates refuses it.
func Certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
