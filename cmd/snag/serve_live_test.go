package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"snag/internal/built"
)

// served runs snag serve until the test ends, and returns what it said when it began.
func served(t *testing.T, snag string, args ...string) string {
	t.Helper()
	cmd := exec.Command(snag, append([]string{"serve"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("snag serve ended with %v", err)
		}
	})
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || !strings.Contains(line, "snag: serving http") {
		t.Fatalf("%s (%v)", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	return line
}

// withToken sends it with each request.
type withToken string

func (token withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// An agent investigates a real incident over HTTP, and a browser's page says the same.
func TestServe(t *testing.T) {
	h := newTrouble(t)
	anIncident(t, h)
	at, file := loopback(t), filepath.Join(h.dir, "token")
	line := served(t, h.snag, "--listen", at, "--ring", filepath.Join(h.dir, "ring"), "--token-file", file)
	b, err := os.ReadFile(file)
	token := strings.TrimSpace(string(b))
	if err != nil || strings.Contains(line, token) || !strings.Contains(line, file) {
		t.Errorf("%s (%v)", line, err)
	}
	answer, err := http.Get("http://" + at + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		t.Error(answer.Status)
	}
	i := &investigation{t: t}
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { i.progress.Add(1) },
	})
	client := &http.Client{Transport: withToken(token)}
	if i.ClientSession, err = c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: "http://" + at + "/mcp", HTTPClient: client}, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = i.Close() })
	text, _ := i.call(t.Context(), "find", map[string]any{"for": "6s"})
	if !strings.HasPrefix(text, "CULPRIT: ") || !strings.Contains(text, "listen-overflow") {
		t.Errorf("%.300s", text)
	}
	if i.progress.Load() < 3 {
		t.Errorf("%d reports of its progress", i.progress.Load())
	}
	if rows := i.resource("snag://recording/r1/table/sockets?limit=2"); !strings.Contains(rows, `"rows":2`) {
		t.Error(rows)
	}
	answer, err = client.Get("http://" + at + "/state.json")
	if err != nil {
		t.Fatal(err)
	}
	state, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil || answer.StatusCode != 200 || !strings.Contains(string(state), `"running":false`) || !strings.Contains(string(state), "snag record was not running") {
		t.Errorf("%s %s (%v)", answer.Status, state, err)
	}
}

func TestServeRefuses(t *testing.T) {
	h := t.TempDir()
	snag := filepath.Join(h, "snag")
	built.Program(t, "snag", snag)
	open := filepath.Join(h, "open")
	if err := os.WriteFile(open, []byte("A2345678901234567890\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for args, want := range map[string]string{
		"--listen 0.0.0.0:9849":                       "the token would cross the network in clear",
		"--listen 9849":                               "write :8099",
		"--tls-cert x":                                "name both",
		"--client-ca x":                               "name --tls-cert",
		"--hosts role=x":                              "with --fleet",
		"--links https://{host}:9849":                 "--links: with --fleet",
		"--fleet ftp://x":                             "--fleet: no http:// or https:// URL",
		"--fleet http://me:s3cret@h":                  "--fleet: a URL with a user",
		"--fleet http://h --links /srv/{host}":        "--links: no http:// or https:// URL",
		"--fleet http://h --links https://{host}?t=x": "--links: a URL with a user, a query",
		"--fleet http://h --hosts-from kubernetes:service?api=http://127.0.0.1:1": "write kubernetes:node",
		"--fleet http://h --fleet-header Authorization=s3cret":                    "--fleet-header: not a header",
		"--tls-cert /none --tls-key /none":                                        "read the certificate /none",
		"--token-file " + open:                                                    "chmod 600",
		"--token-file " + h + "/t --listen " + l.Addr().String():                  "another program has this port",
	} {
		out, err := exec.Command(snag, append([]string{"serve"}, strings.Fields(args)...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "s3cret") || strings.Count(string(out), "\n") > 2 {
			t.Errorf("snag serve %s: %v %s", args, err, out)
		}
	}
}

// authority makes certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	dir  string
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = nil, nil
	a.cert, a.key = a.sign("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// sign writes NAME.crt and NAME.key.
func (a *authority) sign(name string, of *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	of.SerialNumber, of.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	of.NotBefore, of.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = of, key
	}
	der, err := x509.CreateCertificate(rand.Reader, of, parent, &key.PublicKey, by)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{".crt": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "EC PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(a.dir, name+file), pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

// With certificates there is no token, and without one no answer.
func TestServeCertificates(t *testing.T) {
	snag := filepath.Join(t.TempDir(), "snag")
	built.Program(t, "snag", snag)
	ca, strangers := newAuthority(t), newAuthority(t)
	ca.sign("server", &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	usage := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	ca.sign("reader", &x509.Certificate{ExtKeyUsage: usage})
	strangers.sign("reader", &x509.Certificate{ExtKeyUsage: usage})
	at := loopback(t)
	served(t, snag, "--listen", at, "--ring", t.TempDir(), "--tls-cert", ca.path("server.crt"), "--tls-key", ca.path("server.key"), "--client-ca", ca.path("ca.crt"))
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	for name, c := range map[string]struct {
		of  *authority
		may bool
	}{"with its certificate": {ca, true}, "without one": {nil, false}, "with a stranger's": {strangers, false}} {
		config := &tls.Config{RootCAs: roots}
		if c.of != nil {
			pair, err := tls.LoadX509KeyPair(c.of.path("reader.crt"), c.of.path("reader.key"))
			if err != nil {
				t.Fatal(err)
			}
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
		answer, err := client.Get("https://" + at + "/state.json")
		if (err == nil) != c.may {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		answer.Body.Close()
		if answer.StatusCode != 200 {
			t.Errorf("%s: %s", name, answer.Status)
		}
	}
}
