package rtmp

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/counterpart"
	"snag/probes/streams/stream"
)

// stunnel is a TLS front before an RTMP server, as sites put it there.
func stunnel(t *testing.T, to string) (address string) {
	t.Helper()
	cert := authority(t)
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	both := filepath.Join(t.TempDir(), "front.pem")
	text := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})...)
	if err := os.WriteFile(both, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return counterpart.Stunnel(t, to, both)
}

// RTMPS as it is deployed: nginx-rtmp behind a TLS front. The front's certificate is
// looked at, and a name that it is not for is refused.
func TestLiveTLSFront(t *testing.T) {
	server, _ := nginx(t)
	front := stunnel(t, server)
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	publish(t, "rtmp://"+server+"/live/cam1", 3)
	sink := &seen{}
	err := openAt(t, ctx, "rtmps://"+front+"/live/cam1", sink, stream.Options{Every: 40 * time.Millisecond})
	var ended *stream.Ended
	if !errors.As(err, &ended) {
		t.Errorf("%v, want the end of the stream", err)
	}
	check(t, "stunnel", sink)
	for _, c := range []struct{ url, want string }{
		{"rtmps://" + strings.Replace(front, "127.0.0.1", "localhost", 1) + "/live/cam1", "certificate"},
		{"rtmps://" + server + "/live/cam1", "TLS"},
		{"rtmp://" + front + "/live/cam1", "not for RTMPS?"},
	} {
		err := openAt(t, ctx, c.url, &seen{}, stream.Options{Timeout: time.Second})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.url, err, c.want)
		}
	}
}
