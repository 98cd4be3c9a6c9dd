package rtmp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"snag/probes/streams/stream"
)

// nodeMediaServer installs the server that testdata pins into a directory of the
// test's own, without its scripts, and starts it.
func nodeMediaServer(t *testing.T) (address string) {
	t.Helper()
	if testing.Short() {
		t.Skip("installs a server from npm: not in a short run")
	}
	for _, tool := range []string{"node", "npm", "ffmpeg"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s: apt-get install nodejs npm ffmpeg", tool)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		b, err := os.ReadFile(filepath.Join("testdata/node-media-server", name))
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
		t.Skipf("npm can't install node-media-server here: %v: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	script := fmt.Sprintf(`new (require(%q))({bind: "127.0.0.1", rtmp: {port: %d}, store: {path: %q}}).run()`,
		filepath.Join(dir, "node_modules/node-media-server"), l.Addr().(*net.TCPAddr).Port, filepath.Join(dir, "store"))
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

func TestLiveNodeMediaServer(t *testing.T) {
	address := nodeMediaServer(t)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	publisher := publish(t, "rtmp://"+address+"/live/cam1", 3)
	time.AfterFunc(4500*time.Millisecond, cancel) // it does not tell players of the end
	sink := &seen{}
	err := openAt(t, ctx, "rtmp://"+address+"/live/cam1?token=x", sink, stream.Options{Every: 40 * time.Millisecond})
	var ended *stream.Ended
	if err != nil && !errors.As(err, &ended) {
		t.Errorf("%v", err)
	}
	t.Logf("publisher %d; the end: %v", publisher.Process.Pid, err)
	check(t, "node-media-server", sink)
}
