package passive

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/internal/packet"
	"snag/internal/rtmp"
	"snag/probes/streams/passive/capture"
	"snag/probes/streams/passive/chunks"
	"snag/probes/streams/passive/tcp"
)

// serveChunks runs one nginx-rtmp with a server for each chunk size.
func serveChunks(t *testing.T, sizes []int) (ports []uint16) {
	t.Helper()
	const module = "/usr/lib/nginx/modules/ngx_rtmp_module.so"
	if _, err := os.Stat(module); err != nil {
		t.Fatalf("nginx-rtmp is not installed: %v: make setup installs it", err)
	}
	dir := t.TempDir()
	var servers strings.Builder
	for _, size := range sizes {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, uint16(l.Addr().(*net.TCPAddr).Port))
		fmt.Fprintf(&servers, "server { listen 127.0.0.1:%d; chunk_size %d; application live { live on; } }\n", ports[len(ports)-1], size)
		l.Close()
	}
	conf := fmt.Sprintf("load_module %s;\nuser root; daemon off; master_process off; pid %[2]s/pid; error_log %[2]s/error.log;\nevents {}\nrtmp { %s }\n",
		module, dir, servers.String())
	name := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(name, []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, "nginx", "-p", dir, "-c", name)
	for range 100 {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", ports[len(ports)-1])); err == nil {
			c.Close()
			return ports
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("nginx does not listen")
	return nil
}

// Of what a real nginx-rtmp and ffmpeg send, at chunk sizes from 128 to 65536, a
// capture that begins at any byte finds the chunks within 128 KiB, and hears every
// message from then on.
func TestLocksOnRealBytes(t *testing.T) {
	t.Parallel()
	sizes := []int{128, 4096, 60000, 65536}
	ports := serveChunks(t, sizes)
	ring, err := capture.Open(capture.Options{Iface: "lo", Ports: ports})
	if err != nil {
		noCapture(t, err)
	}
	defer ring.Close()
	var all []capture.Packet
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- ring.Run(ctx, func(p *capture.Packet) {
			q := *p
			q.Data = slices.Clone(p.Data)
			all = append(all, q)
		})
	}()
	var to []string
	for _, port := range ports {
		url := fmt.Sprintf("rtmp://127.0.0.1:%d/live/cam", port)
		start(t, "ffmpeg", "-v", "quiet", "-i", url, "-c", "copy", "-f", "null", "-")
		to = append(to, "[f=flv]"+url)
	}
	publisher, _ := start(t, "ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25,noise=alls=8:allf=t", "-f", "lavfi", "-i", "sine",
		"-t", "5", "-c:v", "libx264", "-preset", "superfast", "-b:v", "2500k", "-maxrate", "2500k", "-bufsize", "1200k", "-g", "50", "-bf", "0", "-c:a", "aac", "-b:a", "64k", "-map", "0:v", "-map", "1:a", "-f", "tee", strings.Join(to, "|"))
	if err := publisher.Wait(); err != nil {
		t.Fatal("ffmpeg: ", err)
	}
	time.Sleep(400 * time.Millisecond)
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if st := ring.Stats(); st.Dropped > 0 {
		t.Fatalf("this machine is too busy for a whole capture: %d of %d packets found no room", st.Dropped, st.Packets)
	}
	for i, port := range ports {
		t.Run(fmt.Sprint(sizes[i]), func(t *testing.T) {
			anywhere(t, all, port, uint64(i))
		})
	}
}

// sentBytes is what a direction carried, in order.
type sentBytes struct {
	b    []byte
	lost bool
}

func (s *sentBytes) Data(_ int64, b []byte) bool { s.b = append(s.b, b...); return true }
func (s *sentBytes) Hole(int64, int64) bool      { s.lost = true; return true }
func (s *sentBytes) Closed(int64, string)        {}

// told is what a follower gave out; at is the offset of the segment that ended it.
type told struct {
	at, length int64
	kind       uint8
}

type follower struct {
	all   []told
	locks int
	held  int
}

func (f *follower) Locked(_ int64, held int) { f.locks, f.held = f.locks+1, held }
func (f *follower) Message(at int64, m *rtmp.Message) {
	f.all = append(f.all, told{at, int64(m.Length), m.Type})
}

// follow gives b from an offset on, in segments that end where ends says.
func follow(b []byte, from int, start bool, ends []int) *follower {
	f := new(follower)
	c := chunks.New(start, new(chunks.Pool), f)
	for _, to := range ends {
		if to > from {
			c.Data(int64(to), b[from:to])
			from = to
		}
	}
	c.Close()
	return f
}

// segments are those of an Ethernet, and those of a server that writes a message at
// a time over the loopback interface.
func segments(b []byte) (cut, whole []int) {
	for at := 1448; at < len(b); at += 1448 {
		cut = append(cut, at)
	}
	cut = append(cut, len(b))
	f := new(follower)
	c := chunks.New(true, new(chunks.Pool), f)
	for at := range b {
		n := len(f.all)
		if c.Data(int64(at+1), b[at:at+1]); len(f.all) > n {
			whole = append(whole, at+1)
		}
	}
	return cut, append(whole, len(b))
}

// anywhere begins at bytes of one server's connections.
func anywhere(t *testing.T, all []capture.Packet, port uint16, seed uint64) {
	sides := map[string]*sentBytes{"publisher": {}, "consumer": {}}
	var a tcp.Assembler
	var conns [][2]*sentBytes
	a.New = func(_ int64, _ tcp.Flow) (forward, back tcp.Handler) {
		c := [2]*sentBytes{{}, {}}
		conns = append(conns, c)
		return c[0], c[1]
	}
	for i := range all {
		var p packet.Packet
		if packet.Decode(all[i].Proto, all[i].Data, all[i].Wire, &p) && (p.Src.Port() == port || p.Dst.Port() == port) {
			a.Add(all[i].At, &p)
		}
	}
	for _, c := range conns {
		if len(c[0].b) > len(sides["publisher"].b) {
			sides["publisher"] = c[0] // the one who opened it sends more
		}
		if len(c[1].b) > len(sides["consumer"].b) {
			sides["consumer"] = c[1]
		}
	}
	r := rand.New(rand.NewPCG(seed, 5))
	for side, s := range sides {
		if len(s.b) < 600<<10 || s.lost {
			t.Fatalf("%s sent %d bytes, lost %v", side, len(s.b), s.lost)
		}
		cut, messages := segments(s.b)
		for _, ends := range [][]int{cut, messages} {
			s.anywhere(t, side, r, ends)
		}
	}
}

// keep writes what a direction carried beside the other things that failed in a run: each
// run has a picture of its own, and the next one hardly fails at the same place.
func (s *sentBytes) keep(t *testing.T, side string) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Log(err)
		return ""
	}
	to := filepath.Join(cache, "snag", "flakes", fmt.Sprintf("%s-%s-%d.bytes", strings.ReplaceAll(t.Name(), "/", "-"), side, time.Now().Unix()))
	if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, s.b, 0o600)); err != nil {
		t.Log(err)
	}
	return to
}

func (s *sentBytes) anywhere(t *testing.T, side string, r *rand.Rand, ends []int) {
	whole := follow(s.b, 0, true, ends)
	if len(whole.all) < 300 || whole.locks != 0 {
		t.Fatalf("%s: %d messages of the whole, %d searches", side, len(whole.all), whole.locks)
	}
	most, sum, again := 0, 0, 0
	const tries = 30
	for range tries {
		from := 4000 + r.IntN(len(s.b)-400<<10)
		f := follow(s.b, from, false, ends)
		if f.locks == 2 && again == 0 { // a byte of a picture may look like a chunk's header, once in some hundred pictures
			again++
			continue
		}
		if f.locks != 1 {
			t.Errorf("%s from byte %d: %d locks", side, from, f.locks)
			continue
		}
		most, sum = max(most, f.held), sum+f.held
		if f.held > 128<<10 {
			t.Errorf("%s from byte %d: locked after %d bytes", side, from, f.held)
		}
		if n := len(f.all); n > len(whole.all) || !slices.Equal(f.all, whole.all[len(whole.all)-n:]) {
			t.Errorf("%s from byte %d: %d messages that do not end the %d there are; its bytes are in %s", side, from, n, len(whole.all), s.keep(t, side))
		}
	}
	t.Logf("%s: %d bytes; locked after %d on average, %d at the most", side, len(s.b), sum/tries, most)
}
