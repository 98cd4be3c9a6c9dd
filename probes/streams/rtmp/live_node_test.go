package rtmp

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// nodeMediaServer installs the server that a folder of testdata pins into a directory
// of the test's own, without its scripts, and starts it.
func nodeMediaServer(t *testing.T, pinned string) (address string) {
	t.Helper()
	if testing.Short() {
		t.Skip("installs a server from npm: not in a short run")
	}
	for _, tool := range []string{"node", "npm", "ffmpeg"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("no %s: make setup", tool)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		b, err := os.ReadFile(filepath.Join("testdata", pinned, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm can't install node-media-server: %v: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	module, port := filepath.Join(dir, "node_modules/node-media-server"), l.Addr().(*net.TCPAddr).Port
	script := fmt.Sprintf(`new (require(%q))({bind: "127.0.0.1", rtmp: {port: %d}, store: {path: %q}}).run()`, module, port, filepath.Join(dir, "store"))
	if pinned == oldNode { // it listens at whatever node's listen takes
		script = fmt.Sprintf(`new (require(%q))({logType: 1, rtmp: {port: {port: %d, host: "127.0.0.1"}, gop_cache: true, ping: 1, ping_timeout: 5}}).run()`, module, port)
	}
	run(t, "node", "-e", script)
	for range 500 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("node-media-server does not listen")
	return ""
}

// The versions that testdata pins: 4 was written anew, 2 is what most run.
const newNode, oldNode = "node-media-server", "node-media-server-2"
