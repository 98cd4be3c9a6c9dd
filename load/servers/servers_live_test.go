// Package servers tests the load of real servers that need rights of their own.
package servers

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/load"
	"snag/load/protocol"
)

// started runs a server until the test is over, and waits until its port takes connections.
func started(t *testing.T, cmd *exec.Cmd, port int) {
	t.Helper()
	said := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // fast shutdown of both servers
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(said)
		}
	})
	for range 200 {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			c.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not listen", cmd.Path)
}

// ready waits until a command succeeds.
func ready(t *testing.T, argv ...string) {
	t.Helper()
	for range 200 {
		if exec.Command(argv[0], argv[1:]...).Run() == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%v does not succeed", argv)
}

// needs skips the test where a program is not installed.
func needs(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s: make setup installs Debian's", name)
	}
	return path
}

func askedOf(t *testing.T, url, data string) (*load.Result, error) {
	t.Helper()
	to, err := load.ParseTarget(url, load.Request{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return load.Run(context.Background(), load.Plan{Target: to, Rate: 100, Conns: 4, For: 400 * time.Millisecond, Timeout: 2 * time.Second, Options: load.SocketOptions{CPU: -1}})
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// Redis itself: a password, a database, answers that are errors, and a password that is wrong.
func TestRedis(t *testing.T) {
	program, port := needs(t, "redis-server"), freePort(t)
	started(t, exec.Command(program, "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--requirepass", "secret", "--dir", t.TempDir()), port)
	at := fmt.Sprintf("127.0.0.1:%d", port)
	for _, tt := range []struct {
		url, command string
		failed       bool
	}{
		{"redis://:secret@" + at, "PING", false},
		{"redis://:secret@" + at + "/3", "SET key " + strings.Repeat("x", 10_000), false},
		{"redis://:secret@" + at + "/3", "STRLEN key", false},
		{"redis://:secret@" + at + "/3", "INCR key", true},     // which is not a number
		{"redis://:secret@" + at + "/4", "LPUSH key a", false}, // the key of another database is of another type
	} {
		r, err := askedOf(t, tt.url, tt.command)
		if err != nil || r.Sent == 0 || r.Done != r.Sent || len(r.Lost) > 0 || (r.Failed == r.Done) != tt.failed || (r.Failed == 0) == tt.failed {
			t.Errorf("%+v: %+v, %v", tt, r, err)
		}
	}
	for url, want := range map[string]string{"redis://:wrong@" + at: "WRONGPASS", "redis://:secret@" + at + "/99": "out of range"} {
		if _, err := askedOf(t, url, "PING"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

const nobody = 65534 // the user

// PostgreSQL itself, which does not run as root: SCRAM, rows, a statement that fails, and a password that is wrong.
func TestPostgreSQL(t *testing.T) {
	initdb := newest("/usr/lib/postgresql/*/bin/initdb")
	if initdb == "" {
		t.Skip("no PostgreSQL: make setup installs Debian's")
	}
	dir, err := os.MkdirTemp("/tmp", "snag-load-pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	as := func(argv ...string) *exec.Cmd {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			if err := os.Chown(dir, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
		return cmd
	}
	if err := os.WriteFile(filepath.Join(dir, "password"), []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	if out, err := as(initdb, "-D", data, "-U", "shop", "-A", "scram-sha-256", "--pwfile", filepath.Join(dir, "password"), "-N").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range certificate(t, dir) {
		if os.Geteuid() == 0 {
			if err := os.Chown(name, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tls := range []string{"off", "on"} { // the URL prefers TLS, as libpq does
		port := freePort(t)
		server := as(filepath.Join(filepath.Dir(initdb), "postgres"), "-D", data, "-p", fmt.Sprint(port), "-c", "listen_addresses=127.0.0.1", "-k", dir, "-c", "fsync=off",
			"-c", "ssl="+tls, "-c", "ssl_cert_file="+dir+"/cert.pem", "-c", "ssl_key_file="+dir+"/key.pem")
		t.Run("TLS "+tls, func(t *testing.T) {
			started(t, server, port)
			ready(t, filepath.Join(filepath.Dir(initdb), "pg_isready"), "-q", "-h", "127.0.0.1", "-p", fmt.Sprint(port))
			url := func(password string) string {
				return fmt.Sprintf("postgres://shop:%s@127.0.0.1:%d/postgres", password, port)
			}
			for statement, failed := range map[string]bool{
				"SELECT 1": false, "SELECT repeat('x', 100000) FROM generate_series(1, 5)": false, "SELECT 1; SELECT 2": false,
				// One row where the connection is as the test wants it, else a division by zero.
				"SELECT 1/(count(*)) FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl = '" + tls + "'": false,
				"SELECT 1/0": true, "SELECT nothing FROM nowhere": true,
			} {
				r, err := askedOf(t, url("secret"), statement)
				if err != nil || r.Sent == 0 || r.Done != r.Sent || len(r.Lost) > 0 || (r.Failed == r.Done) != failed || (r.Failed == 0) == failed {
					t.Errorf("%q: %d sent, %d answered, %d errors, lost %v, %v", statement, r.Sent, r.Done, r.Failed, r.Lost, err)
				}
			}
			if _, err := askedOf(t, url("wrong"), ""); err == nil || !strings.Contains(err.Error(), "password authentication failed") {
				t.Errorf("a wrong password: %v", err)
			}
		})
	}
}

// certificate writes one and its key into a folder.
func certificate(t *testing.T, dir string) (names []string) {
	t.Helper()
	own, err := protocol.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: own.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key}} {
		names = append(names, filepath.Join(dir, name))
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func newest(pattern string) string {
	all, err := filepath.Glob(pattern)
	if err != nil || len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}
