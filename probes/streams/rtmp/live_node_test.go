package rtmp

import (
	"fmt"
	"net"
	"os/exec"
	"testing"
	"time"

	"snag/probes/streams/counterpart"
)

// nodeMediaServer starts one of the two servers that make setup fetched.
func nodeMediaServer(t *testing.T, version string) (address string) {
	t.Helper()
	for _, tool := range []string{"node", "ffmpeg"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s is not installed: make setup installs it", tool)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	var script string
	if version == newNode {
		script = fmt.Sprintf(`new (require(%q))({bind: "127.0.0.1", rtmp: {port: %d}, store: {path: %q}}).run()`, counterpart.NodeMediaServer4(t), port, t.TempDir())
	} else { // it listens at whatever node's listen takes
		script = fmt.Sprintf(`new (require(%q))({logType: 1, rtmp: {port: {port: %d, host: "127.0.0.1"}, gop_cache: true, ping: 1, ping_timeout: 5}}).run()`, counterpart.NodeMediaServer2(t), port)
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

// Version 4 was written anew, 2 is what most run.
const newNode, oldNode = "node-media-server 4", "node-media-server 2"
