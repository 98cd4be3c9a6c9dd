package actor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"os"
	"syscall"
	"time"
)

// versions are those of TLS that a flag may name.
var versions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

var tlsServer = Actor{
	Name:  "tls-server",
	About: "answers over TLS what it is asked with, with its own certificate making",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port")
		least := f.String("min", "1.2", "the least version of TLS")
		valid := f.Duration("valid", time.Hour, "how long the certificate is valid; less than 0: it has expired")
		authority := f.String("authority", "", "file for the certificates that clients are to trust")
		breaks := f.String("breaks", "", "what is wrong while SIGUSR1 has switched it on: version (it wants 1.3), or the certificate: expired, unknown")
		share := f.Float64("share", 1, "share of the connections, 0–1, for which that is wrong")
		if err := parse(); err != nil {
			return err
		}
		cert, err := ownCertificate(time.Now().Add(*valid))
		if err != nil {
			return err
		}
		conf := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: versions[*least]}
		wrong, err := broken(conf, *breaks)
		if err != nil {
			return err
		}
		if err := writeAuthority(*authority, cert, wrong.Certificates[0], *breaks); err != nil {
			return err
		}
		on := switched(ctx, syscall.SIGUSR1, false, "broken")
		l, err := net.Listen("tcp4", *listen)
		if err != nil {
			return err
		}
		ready()
		go func() { <-ctx.Done(); l.Close() }()
		for {
			c, err := l.Accept()
			if err != nil {
				return nil //nolint:nilerr // it was closed
			}
			of := conf
			if on.Load() && mathrand.Float64() < *share {
				of = wrong
			}
			go echo(tls.Server(c, of))
		}
	},
}

// broken is a configuration with that fault, "" for none.
func broken(conf *tls.Config, fault string) (*tls.Config, error) {
	until := time.Now().Add(time.Hour)
	wrong := conf.Clone()
	switch fault {
	case "":
		return wrong, nil
	case "version":
		wrong.MinVersion = tls.VersionTLS13
		return wrong, nil
	case "expired":
		until = time.Now().Add(-time.Hour)
	case "unknown":
	default:
		return nil, fmt.Errorf("--breaks %q: want version, expired or unknown", fault)
	}
	cert, err := ownCertificate(until)
	wrong.Certificates = []tls.Certificate{cert}
	return wrong, err
}

// writeAuthority writes the certificates that clients are to trust; "" for no file. They
// know the one that has expired as well.
func writeAuthority(path string, cert, wrong tls.Certificate, fault string) error {
	if path == "" {
		return nil
	}
	known := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})
	if fault == "expired" {
		known = append(known, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: wrong.Certificate[0]})...)
	}
	return os.WriteFile(path, known, 0o644)
}

func echo(c net.Conn) {
	defer c.Close()
	buf := make([]byte, 16<<10)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		if _, err = c.Write(buf[:n]); err != nil {
			return
		}
	}
}

// ownCertificate is for the name shop, signed by itself.
func ownCertificate(until time.Time) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "shop"}, NotBefore: until.Add(-24 * time.Hour), NotAfter: until, DNSNames: []string{"shop"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// clientConfig is that of a client of the lab's TLS servers, with that version at most,
// which trusts the certificates of a file (writeAuthority).
func clientConfig(most, authority string) (*tls.Config, error) {
	if versions[most] == 0 {
		return nil, fmt.Errorf("TLS %q: want 1.2 or 1.3", most)
	}
	known, err := os.ReadFile(authority)
	if err != nil {
		return nil, err
	}
	conf := &tls.Config{ServerName: "shop", MinVersion: tls.VersionTLS12, MaxVersion: versions[most], RootCAs: x509.NewCertPool()}
	if !conf.RootCAs.AppendCertsFromPEM(known) {
		return nil, fmt.Errorf("no certificate in %s", authority)
	}
	return conf, nil
}

var tlsClient = Actor{
	Name:  "tls-client",
	About: "connects over TLS again and again and asks once; counts answers and handshakes that fail",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "address:port")
		every := f.Duration("every", 50*time.Millisecond, "a connection this often")
		most := f.String("max", "1.3", "the greatest version of TLS")
		trust := f.Bool("trust", true, "take any certificate")
		plain := f.Bool("plain", false, "connect and close: a check")
		if err := parse(); err != nil {
			return err
		}
		t := newTally()
		go t.report(ctx, os.Stdout)
		ready()
		conf := &tls.Config{ServerName: "shop", MinVersion: tls.VersionTLS12, MaxVersion: versions[*most], InsecureSkipVerify: *trust} //nolint:gosec // the lab's own server
		for sleep(ctx, *every) {
			c, err := net.DialTimeout("tcp4", *to, time.Second)
			if err != nil {
				return fmt.Errorf("connect: %w", err)
			}
			if *plain {
				c.Close()
				continue
			}
			t.add(askOver(tls.Client(c, conf)))
		}
		return nil
	},
}

// askOver asks once and reports what came of it.
func askOver(c *tls.Conn) string {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	if err := c.Handshake(); err != nil {
		var net net.Error
		if errors.As(err, &net) && net.Timeout() {
			return "timeout"
		}
		return "handshake-failed"
	}
	if _, err := c.Write([]byte("how much\n")); err != nil {
		return "failed"
	}
	if _, err := c.Read(make([]byte, 64)); err != nil {
		return "failed"
	}
	if c.CloseWrite() == nil { // and take the server's farewell: what comes after a close is answered by a reset
		_, _ = io.Copy(io.Discard, c)
	}
	return "answer"
}
