package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var at = time.Date(2026, 11, 30, 14, 17, 28, 0, time.UTC)

func TestTemplates(t *testing.T) {
	for template, want := range map[string]string{
		"https://{address}:9849":       "",
		"http://{host}.example:9849/x": "",
		"/srv/rings/{host}":            "",
		"https://host:9849":            "neither {host} nor {address}",
		"srv/{host}":                   "neither an http:// or https:// URL nor a folder",
		"ftp://{host}":                 "neither an http:// or https:// URL nor a folder",
		"https://u:p@{host}":           "the token goes into a file",
		"https://{host}/?t=secret":     "the token goes into a file",
	} {
		_, err := New(template, Access{}, nil)
		if got := err == nil; got != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", template, err, want)
		}
	}
	if _, err := New("https://{host}", Access{CA: filepath.Join(t.TempDir(), "none")}, nil); err == nil {
		t.Error("an authority that is not there")
	}
	if _, err := New("http://{address}:9849", Access{Headers: withToken("secret")}, nil); err == nil || !strings.Contains(err.Error(), "in clear") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a token without TLS: %v", err)
	}
}

func withToken(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// serving answers over TLS at all addresses of loopback with a certificate for 127.0.0.1 alone.
func serving(t *testing.T, config *tls.Config, h http.HandlerFunc) (port, ca string) {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	server.Listener.Close()
	server.Listener, server.TLS = l, config
	server.StartTLS()
	t.Cleanup(server.Close)
	ca = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port, ca
}

// A host that gives its recording, the second of whose addresses its certificate is for.
func TestAsk(t *testing.T) {
	var asked []string
	busy := 1
	port, ca := serving(t, nil, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String()+" "+r.Header.Get("Authorization"))
		if busy--; busy >= 0 {
			http.Error(w, "too many requests at a time", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("a recording"))
	})
	s, err := New("https://{address}:"+port, Access{Headers: withToken("secret"), CA: ca}, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.snag")
	if err := s.Get(t.Context(), "edge-1", []string{"127.0.0.2", "127.0.0.1"}, at.Add(-time.Minute), at, file); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil || string(b) != "a recording" {
		t.Errorf("%q, %v", b, err)
	}
	if len(asked) != 2 || asked[1] != "/recording?from=2026-11-30T14%3A16%3A28Z&to=2026-11-30T14%3A17%3A28Z Bearer secret" {
		t.Errorf("asked for %q", asked)
	}
}

// Each reason has one line that names the address and a cure, and of several addresses the one that came nearest.
func TestWhyNot(t *testing.T) {
	var answer http.HandlerFunc
	port, ca := serving(t, nil, func(w http.ResponseWriter, r *http.Request) { answer(w, r) })
	says := func(code int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, text, code) }
	}
	wants, wantsCA := serving(t, &tls.Config{ClientAuth: tls.RequireAnyClientCert}, says(200, ""))
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	none, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := none.Addr().String()
	none.Close()
	_, plainPort, _ := net.SplitHostPort(plain.Listener.Addr().String())
	_, nobodyPort, _ := net.SplitHostPort(nobody)
	one, two := []string{"127.0.0.1"}, []string{"127.0.0.1", "127.0.0.2"}
	for name, c := range map[string]struct {
		port, ca  string
		addresses []string
		answer    http.HandlerFunc
		want      string
	}{
		"no token":         {port, ca, one, says(401, "send the token"), "https://127.0.0.1:" + port + ": 401 Unauthorized: not that host's token (--recordings-token-file)"},
		"no ring":          {port, ca, one, says(404, "cut the recording of 2026-11-30T14:16:28Z to 2026-11-30T14:17:28Z: the ring begins later\x1b[31m"), `: the ring begins later\x1b[31m`},
		"too old":          {port, ca, one, says(404, "404 page not found"), "404 Not Found: its snag serve is too old for recordings, or another program answers there"},
		"another server":   {port, ca, one, says(302, ""), "302 Found: it redirects: give the final URL"},
		"a strange name":   {port, ca, one, says(421, "this server answers under an IP address"), "421 Misdirected Request: this server answers under an IP address"},
		"another name":     {port, ca, []string{"127.0.0.2"}, nil, "its certificate is not for 127.0.0.2"},
		"another CA":       {port, wantsCA, one, nil, "its certificate is of an unknown authority (--recordings-ca)"},
		"two addresses":    {port, ca, two, says(401, ""), "https://127.0.0.1:" + port + ": 401 Unauthorized: not that host's token (--recordings-token-file) (nor by 1 more of its addresses)"},
		"a certificate":    {wants, wantsCA, one, nil, "that its --client-ca accepts: --recordings-cert"},
		"no TLS":           {plainPort, ca, one, nil, "it has no TLS"},
		"nobody":           {nobodyPort, ca, one, nil, "nothing listens there: start snag serve"},
		"no address":       {port, ca, nil, nil, "no address"},
		"longer than that": {port, ca, one, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, mostBytes+1)) }, "its recording is longer than 64 MB"},
		"breaks off": {port, ca, one, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = w.Write([]byte("abc"))
		}, "its recording broke off after 3 bytes"},
	} {
		answer = c.answer
		ca := c.ca
		if name == "another CA" { // the system's
			ca = ""
		}
		s, err := New("https://{address}:"+c.port, Access{Headers: withToken("secret"), CA: ca}, nil)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "x.snag")
		err = s.Get(t.Context(), "edge-1", c.addresses, at.Add(-time.Minute), at, file)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s: there is a file", name)
		}
	}
}

// Instead of a token, a certificate.
func TestACertificate(t *testing.T) {
	port, ca := serving(t, &tls.Config{ClientAuth: tls.RequireAnyClientCert}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.TLS.PeerCertificates[0].Issuer.Organization[0]))
	})
	dir := t.TempDir()
	any := httptest.NewTLSServer(nil)
	defer any.Close()
	own := any.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"crt": {Type: "CERTIFICATE", Bytes: own.Certificate[0]}, "key": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New("https://{address}:"+port, Access{CA: ca, Cert: filepath.Join(dir, "crt"), Key: filepath.Join(dir, "key")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "x.snag")
	if err := s.Get(t.Context(), "edge-1", []string{"127.0.0.1"}, at.Add(-time.Minute), at, file); err != nil {
		t.Fatal(err)
	}
	if _, err := New("https://{address}", Access{Cert: file, Key: file}, nil); err == nil || !strings.Contains(err.Error(), "read the certificate "+file) {
		t.Errorf("no certificate: %v", err)
	}
}

// A host's name comes from the store: it must not lead out of the folder, nor the token to another host.
func TestNames(t *testing.T) {
	cut := ""
	folder, err := New("/srv/rings/{host}", Access{}, func(_ context.Context, ring string, from, to time.Time, file string) error {
		cut = fmt.Sprint(ring, to.Sub(from), file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	url, err := New("https://{host}:9849", Access{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"../../etc", "..", ""} {
		if err := folder.Get(t.Context(), host, nil, at.Add(-time.Minute), at, filepath.Join(t.TempDir(), "x")); err == nil || !strings.Contains(err.Error(), "can't name a folder") {
			t.Errorf("%q: %v", host, err)
		}
	}
	for _, host := range []string{"evil.example/x", "evil.example?", "evil.example#", "a@evil.example", "evil.example:443", "", "\x1b[31m"} {
		if _, err := url.places(host, nil); err == nil || !strings.Contains(err.Error(), "can't be a part of a URL") {
			t.Errorf("%q: %v", host, err)
		}
	}
	if got, err := url.places("web-1.shop_a.example", nil); err != nil || got[0] != "https://web-1.shop_a.example:9849" {
		t.Errorf("%q, %v", got, err)
	}
	if cut != "" {
		t.Errorf("%s was read", cut)
	}
	if err := folder.Get(t.Context(), "edge-1", nil, at.Add(-time.Minute), at, "x.snag"); err != nil || cut != "/srv/rings/edge-11m0sx.snag" {
		t.Errorf("%s, %v", cut, err)
	}
}
