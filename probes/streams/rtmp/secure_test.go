package rtmp

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
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/stream"
)

// trusted is the certificate that this process trusts: roots are read once, when
// a certificate is first looked at, so all tests share it.
var trusted *tls.Certificate

// authority makes a certificate for 127.0.0.1 and makes this process trust it.
// The first test that calls it has to use it.
func authority(t *testing.T) tls.Certificate {
	t.Helper()
	if trusted != nil {
		return *trusted
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", file)
	trusted = &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	return *trusted
}

func TestSecure(t *testing.T) {
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{authority(t)}})
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, l, pictures(60, 5*time.Millisecond))
	for _, every := range []time.Duration{0, 40 * time.Millisecond} {
		sink := &seen{}
		err := openAt(t, context.Background(), "rtmps://"+l.Addr().String()+"/live/cam1", sink, stream.Options{Every: every})
		var ended *stream.Ended
		if !errors.As(err, &ended) || sink.published != 1 || len(sink.frames) != 60 {
			t.Errorf("every %v: %v, published %d times, %d frames", every, err, sink.published, len(sink.frames))
		}
		arrivals := map[int64]bool{}
		for _, f := range sink.frames {
			arrivals[f.Arrival/int64(20*time.Millisecond)] = true
		}
		if every > 0 && len(arrivals) > 20 { // 300 ms are 8 reads, each of several records
			t.Errorf("every %v: frames came at %d times", every, len(arrivals))
		}
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	err = openAt(t, context.Background(), "rtmps://localhost:"+port+"/live/cam1", &seen{}, stream.Options{})
	if err == nil || !strings.Contains(err.Error(), "TLS handshake") || !strings.Contains(err.Error(), "as its certificate does") {
		t.Errorf("another name than the certificate's: %v", err)
	}
	err = openAt(t, context.Background(), "rtmp://"+l.Addr().String()+"/live/cam1", &seen{}, stream.Options{})
	if err == nil || !strings.Contains(err.Error(), "not for RTMPS?") {
		t.Errorf("plain RTMP to a TLS port: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
	defer cancel()
	if err := openAt(t, ctx, "rtmps://"+l.Addr().String()+"/live/cam1", &seen{}, stream.Options{Every: time.Minute}); err != nil {
		t.Errorf("told to stop: %v", err)
	}
}
