package sockets

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// identity is a certificate that signs itself, as Go and as openssl take it.
type identity struct {
	cert       tls.Certificate
	pool       *x509.CertPool
	file, keys string
}

func newIdentity(t *testing.T, name string) identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	id := identity{tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, x509.NewCertPool(), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	pemOf := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	id.pool.AppendCertsFromPEM(pemOf)
	for path, text := range map[string][]byte{id.file: pemOf, id.keys: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return id
}

// secured are a server and its clients.
type secured struct {
	what   string
	server func(c net.Conn) // of Go; nil: openssl s_server with args
	args   []string
	client func(c net.Conn) // of Go; nil: openssl s_client with asks
	asks   []string
	as     string // what failed, "" nothing
}

const tlsRounds = 3

// Handshakes that fail, and all that looks like one: by programs of two libraries.
func TestFailedHandshakes(t *testing.T) {
	t.Parallel()
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed")
	}
	b := newBench(t)
	shop, user, nobody := newIdentity(t, "shop"), newIdentity(t, "user"), newIdentity(t, "nobody")
	all := tlsCases(t, shop, user, nobody)
	r := b.start()
	for i, c := range all {
		addr := fmt.Sprint("127.0.0.1:", 7800+i)
		if c.server != nil {
			l := b.listen(addr)
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					go c.server(conn)
				}
			}()
		} else {
			cmd := exec.Command(openssl, append([]string{"s_server", "-quiet", "-accept", addr, "-cert", shop.file, "-key", shop.keys}, c.args...)...)
			stdin, err := cmd.StdinPipe() // s_server ends with it
			if err != nil {
				t.Fatal(err)
			}
			b.do(cmd.Start)
			t.Cleanup(func() { stdin.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
			b.awaitListener(addr)
		}
		for range tlsRounds {
			if c.client != nil {
				c.client(b.dial(addr))
				continue
			}
			cmd := exec.Command(openssl, append([]string{"s_client", "-quiet", "-no_ign_eof", "-connect", addr, "-servername", "shop", "-CAfile", shop.file}, c.asks...)...)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			b.do(cmd.Start)
			if c.as != "" { // it ends when it learns that the handshake has failed
				give := time.AfterFunc(5*time.Second, func() { stdin.Close() })
				_ = cmd.Wait()
				give.Stop()
				continue
			}
			stdin.Close()
			_ = cmd.Wait()
		}
	}
	time.Sleep(300 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for i, c := range all {
		n, as := failedAt(rec, b, fmt.Sprint(7800+i))
		want := uint64(0)
		if c.as != "" {
			want = tlsRounds
		}
		if n != want || as != c.as {
			t.Errorf("%s: %d failed as %q, want %d as %q", c.what, n, as, want, c.as)
		}
	}
}

// awaitListener waits for a program that listens, without a connection to it.
func (b *bench) awaitListener(addr string) {
	b.t.Helper()
	for range 100 {
		out, _ := exec.Command("ip", "netns", "exec", b.name, "ss", "-Hltn", "src", addr).Output()
		if len(out) > 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Fatalf("nothing listens at %s", addr)
}

func tlsCases(t *testing.T, shop, user, nobody identity) []secured {
	server := &tls.Config{Certificates: []tls.Certificate{shop.cert}}
	with := func(of *tls.Config, change func(*tls.Config)) *tls.Config {
		of = of.Clone()
		change(of)
		return of
	}
	bare := func(c *tls.Config) { c.SessionTicketsDisabled = true }
	old := func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }
	mutual := with(server, func(c *tls.Config) { c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, user.pool })
	trusts := &tls.Config{ServerName: "shop", RootCAs: shop.pool}
	doubts := &tls.Config{ServerName: "shop", RootCAs: nobody.pool}
	known := with(trusts, func(c *tls.Config) { c.Certificates = []tls.Certificate{user.cert} })
	// Whatever the server asks for: Go's client shows none that it thinks is not wanted.
	shows := with(trusts, func(c *tls.Config) {
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &nobody.cert, nil }
	})
	again := func(c *tls.Config) { c.CurvePreferences = []tls.CurveID{tls.CurveP384} } // a server's: HelloRetryRequest
	chacha := func(c *tls.Config) {
		old(c)
		c.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256} // three bytes are as long as an alert of 1.3
	}
	const silent = 0
	hidden, hiddenToo := recording.TLSAlert(0xff, true), recording.TLSAlert(0xff, false)
	cert, key := []string{"-cert", nobody.file, "-key", nobody.keys}, []string{"-cert", user.file, "-key", user.keys}
	wants := []string{"-Verify", "1", "-verify_return_error", "-CAfile", user.file}
	return []secured{
		{what: "a client of Go that does not know the authority", server: echoes(server), client: asks(doubts, 10), as: hidden},
		{what: "the same, at OpenSSL", client: asks(doubts, 10), as: hidden},
		{what: "the same, after a second ClientHello", server: echoes(with(server, again)), client: asks(doubts, 10), as: hidden},
		{what: "the same with TLS 1.2", server: echoes(server), client: asks(with(doubts, old), 10), as: recording.TLSAlert(42, true)},
		{what: "a client of OpenSSL that does not know the authority", server: echoes(server), asks: []string{"-CAfile", nobody.file, "-verify_return_error"}, as: recording.TLSAlert(48, true)},
		{what: "the same with TLS 1.2, at OpenSSL", asks: []string{"-CAfile", nobody.file, "-verify_return_error", "-tls1_2"}, as: recording.TLSAlert(48, true)},
		{what: "a client's certificate of nobody", server: echoes(mutual), client: asks(shows, 10), as: hiddenToo},
		{what: "the same, whose handshake is all it does", server: echoes(mutual), client: waits(shows), as: hiddenToo},
		{what: "no certificate of the client", server: echoes(mutual), client: asks(trusts, 10), as: hiddenToo},
		{what: "a client's certificate of nobody, at OpenSSL", args: wants, client: asks(shows, 10), as: hiddenToo},
		{what: "the same, of a client of OpenSSL", args: wants, asks: cert, as: hiddenToo},
		{what: "a client of OpenSSL without a certificate, at Go", server: echoes(mutual), asks: []string{}, as: hiddenToo},
		{what: "a client's certificate of nobody with TLS 1.2", server: echoes(mutual), client: asks(with(shows, old), 10), as: recording.TLSAlert(48, false)},
		{what: "a client that pads as Java's does", server: says(nil, 0), client: writes(changeCipher, record(23, 35)), as: hidden},
		{what: "one that resets before its alert is read", server: says(nil, 50*time.Millisecond), client: writes(changeCipher, record(23, 19)), as: hidden},
		{what: "a server that pads as Java's does", server: says(record(23, 35), 0), client: writes(changeCipher, record(23, 700), record(23, 69)), as: hiddenToo},
		{what: "one that throws away what it has not read, as HAProxy", server: discards(t, record(23, 19)), client: writes(changeCipher, record(23, 700), record(23, 69)), as: hiddenToo},

		{what: "a check of a client that pads", server: says(record(23, 19), 0), client: writes(changeCipher, record(23, 85), record(23, 35))},
		{what: "one that gives up a handshake, and says so", server: says(nil, 0), client: writes(changeCipher, record(23, 19), record(23, 19))},
		{what: "answers", server: echoes(server), client: asks(trusts, 10)},
		{what: "answers of two bytes", server: echoes(with(server, bare)), client: asks(trusts, 2)},
		{what: "answers after a second ClientHello", server: echoes(with(server, again)), client: asks(trusts, 2)},
		{what: "answers with TLS 1.2", server: echoes(server), client: asks(with(trusts, old), 2)},
		{what: "three bytes with ChaCha20 of TLS 1.2", server: echoes(server), client: hangsUp(with(trusts, chacha), 3)},
		{what: "the same, resumed", server: echoes(server), client: hangsUp(with(trusts, func(c *tls.Config) {
			chacha(c)
			c.ClientSessionCache = tls.NewLRUClientSessionCache(1)
		}), 3)},
		{what: "answers to a known client", server: echoes(mutual), client: asks(known, 10)},
		{what: "answers of two bytes to a known client", server: echoes(with(mutual, bare)), client: asks(known, 2)},
		{what: "a known client of OpenSSL", args: wants, asks: key},
		{what: "a client of OpenSSL that leaves at once", server: echoes(server)},
		{what: "the same, at OpenSSL", asks: []string{}},
		{what: "a check that shakes hands", server: echoes(server), client: asks(trusts, silent)},
		{what: "the same, at a server without tickets", server: echoes(with(server, bare)), client: asks(trusts, silent)},
		{what: "the same, at OpenSSL", client: asks(trusts, silent)},
		{what: "the same, of a known client", server: echoes(mutual), client: asks(known, silent)},
		{what: "the same, at a server without tickets", server: echoes(with(mutual, bare)), client: asks(known, silent)},
		{what: "the same, with TLS 1.2", server: echoes(server), client: asks(with(trusts, old), silent)},
		{what: "a check that does not say farewell", server: echoes(with(mutual, bare)), client: leaves(known, (*net.TCPConn).CloseWrite)},
		{what: "a check that resets", server: echoes(with(mutual, bare)), client: leaves(known, func(c *net.TCPConn) error { return c.SetLinger(0) })},
		{what: "one that connects and closes", server: echoes(server), client: func(c net.Conn) { c.Close() }},
		{what: "a server that waits long enough", server: tires(with(mutual, bare), 1200*time.Millisecond), client: waits(known)},
		{what: "a server that waits, of one without a certificate", server: tires(with(server, bare), 50*time.Millisecond), client: waits(trusts)},
		{what: "who speaks no TLS", server: func(c net.Conn) { _, _ = io.Copy(c, c); c.Close() }, client: func(c net.Conn) {
			_, _ = c.Write([]byte("\x17\x03\x03\x00\x13                   "))
			_, _ = io.ReadFull(c, make([]byte, 24))
			c.Close()
		}},
	}
}

// echoes answers with what it is asked, and says farewell when the client has.
func echoes(conf *tls.Config) func(net.Conn) {
	return func(c net.Conn) {
		s := tls.Server(c, conf)
		defer s.Close()
		buf := make([]byte, 64)
		for {
			n, err := s.Read(buf)
			if err != nil {
				return
			}
			if _, err = s.Write(buf[:n]); err != nil {
				return
			}
		}
	}
}

// tires says farewell to who has asked nothing for a while, and leaves after the client has.
func tires(conf *tls.Config, after time.Duration) func(net.Conn) {
	return func(c net.Conn) {
		s := tls.Server(c, conf)
		if s.Handshake() == nil {
			time.Sleep(after)
		}
		_ = s.CloseWrite()
		time.Sleep(50 * time.Millisecond)
		c.Close()
	}
}

// asks sends so many bytes and reads as many, if any, and says farewell.
func asks(conf *tls.Config, n int) func(net.Conn) {
	return func(conn net.Conn) {
		c := tls.Client(conn, conf)
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(2 * time.Second))
		if c.Handshake() != nil || n == 0 {
			return
		}
		_, _ = c.Write(make([]byte, n))
		_, _ = io.ReadFull(c, make([]byte, n))
	}
}

// hangsUp asks as asks does, and does not say farewell.
func hangsUp(conf *tls.Config, n int) func(net.Conn) {
	return func(conn net.Conn) {
		defer conn.Close()
		c := tls.Client(conn, conf)
		_, _ = c.Write(make([]byte, n))
		_, _ = io.ReadFull(c, make([]byte, n))
	}
}

// leaves shakes hands and ends the connection without a word.
func leaves(conf *tls.Config, end func(*net.TCPConn) error) func(net.Conn) {
	return func(conn net.Conn) {
		defer conn.Close()
		_ = tls.Client(conn, conf).Handshake()
		time.Sleep(20 * time.Millisecond)
		if end(conn.(*net.TCPConn)) == nil {
			_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			_, _ = io.Copy(io.Discard, conn)
		}
	}
}

// waits shakes hands and says nothing until the server has left.
func waits(conf *tls.Config) func(net.Conn) {
	return func(conn net.Conn) {
		c := tls.Client(conn, conf)
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		if c.Handshake() == nil {
			_, _ = c.Read(make([]byte, 1))
		}
	}
}

var changeCipher = record(20, 1)

// record is one of TLS by its type and length.
func record(kind byte, length int) []byte {
	return append([]byte{kind, 3, 3, byte(length >> 8), byte(length)}, make([]byte, length)...)
}

// says takes a ClientHello, writes a server's part of the handshake and, when it has read more, after
// a pause, that answer.
func says(answer []byte, pause time.Duration) func(net.Conn) {
	return func(c net.Conn) {
		defer c.Close()
		buf := make([]byte, 2048)
		_, _ = c.Read(buf)
		_, _ = c.Write(append(record(22, 122), record(23, 500)...))
		time.Sleep(pause)
		_, _ = c.Read(buf)
		if answer != nil {
			_, _ = c.Write(answer)
		}
	}
}

// discards does as says, but reads no more than a client's certificate before it answers.
func discards(t *testing.T, answer []byte) func(net.Conn) {
	return func(c net.Conn) {
		defer c.Close()
		buf := make([]byte, 205)
		_, _ = c.Read(buf)
		_, _ = c.Write(append(record(22, 122), record(23, 500)...))
		_, _ = io.ReadFull(c, make([]byte, 6+705))
		_, _ = c.Write(answer)
		onFD(t, c.(*net.TCPConn), func(fd int) error {
			_, _, err := unix.Recvfrom(fd, buf, unix.MSG_TRUNC|unix.MSG_DONTWAIT)
			return err
		})
	}
}

// writes sends a ClientHello and, when it was answered, those records at once. Then it resets, a
// little later where there is an answer.
func writes(records ...[]byte) func(net.Conn) {
	return func(c net.Conn) {
		defer c.Close()
		_, _ = c.Write(record(22, 200))
		_, _ = io.ReadFull(c, make([]byte, 122+500+10))
		_, _ = c.Write(slices.Concat(records...))
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		_, _ = c.Read(make([]byte, 100))
		_ = c.(*net.TCPConn).SetLinger(0)
	}
}
