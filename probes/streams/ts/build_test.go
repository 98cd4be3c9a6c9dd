package ts

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/netns"
	"snag/probes/streams/stream"
)

// muxer makes packets, each PID's counter going on.
type muxer struct {
	counters map[uint16]byte
	out      [][]byte
}

// add splits b over packets of pid.
func (m *muxer) add(pid uint16, b []byte) {
	if m.counters == nil {
		m.counters = map[uint16]byte{}
	}
	for start := byte(0x40); len(b) > 0; start = 0 {
		p := []byte{syncByte, start | byte(pid>>8), byte(pid), 0x10 | m.counters[pid]}
		m.counters[pid] = (m.counters[pid] + 1) & 15
		if room := Size - 4; len(b) < room { // an adaptation field of stuffing
			p[3] |= 0x20
			n := room - len(b) - 1
			p = append(p, byte(n))
			if n > 0 {
				p = append(append(p, 0), bytes.Repeat([]byte{0xff}, n-1)...)
			}
		}
		n := Size - len(p)
		m.out = append(m.out, append(p, b[:n]...))
		b = b[n:]
	}
}

// table adds a section with its length and CRC.
func (m *muxer) table(pid uint16, id byte, extension uint16, version byte, body []byte) {
	s := []byte{id, 0xb0, 0, byte(extension >> 8), byte(extension), 0xc1 | version<<1, 0, 0}
	s = append(s, body...)
	binary.BigEndian.PutUint16(s[1:], 0xb000|uint16(len(s)+4-3))
	s = binary.BigEndian.AppendUint32(s, crc(s))
	m.add(pid, append([]byte{0}, append(s, bytes.Repeat([]byte{0xff}, (Size-4-(len(s)+1)%(Size-4))%(Size-4))...)...))
}

// pes adds a PES packet; with a time of pts below 0 it has none.
func (m *muxer) pes(pid uint16, pts int64, body []byte) {
	h := []byte{0, 0, 1, 0xe0, 0, 0, 0x80, 0, 0}
	if pts >= 0 {
		h[7], h[8] = 0x80, 5
		h = append(h, 0x21|byte(pts>>29&14), byte(pts>>22), byte(pts>>14)|1, byte(pts>>7), byte(pts<<1)|1)
	}
	m.add(pid, append(h, body...))
}

const (
	pmtPID   = 0x1000
	videoPID = 0x100
)

func (m *muxer) program(version, streamType byte, descriptors int) {
	m.table(0, 0, 1, version, []byte{0, 1, 0xe0 | pmtPID>>8, pmtPID & 255})
	info := bytes.Repeat([]byte{0x80, 2, 1, 2}, descriptors)
	body := []byte{0xe1, 0, 0xf0, 0, streamType, 0xe0 | videoPID>>8, videoPID & 255, 0xf0 | byte(len(info)>>8), byte(len(info))}
	m.table(pmtPID, 2, 1, version, append(body, info...))
}

// picture is an access unit of H.264: AUD, the sets of libx264 where it is a key
// one, a slice of n bytes in two.
func picture(t *testing.T, key bool, n int) []byte {
	t.Helper()
	b := []byte{0, 0, 0, 1, 9, 0xf0}
	slice := byte(0x41)
	if key {
		slice = 0x65
		for _, s := range []string{"6764001eacd940a02ff97011000003000100000300320f162d96", "68ebe3cb22c0"} {
			nal, err := hex.DecodeString(s)
			if err != nil {
				t.Fatal(err)
			}
			b = append(append(b, 0, 0, 0, 1), nal...)
		}
	}
	for _, first := range []byte{0x88, 0x24} { // first_mb_in_slice 0, another
		b = append(append(b, 0, 0, 1, slice, first), bytes.Repeat([]byte{0x55}, n/2)...)
	}
	return b
}

func summary(frames []stream.Frame) (s string) {
	for _, f := range frames {
		s += fmt.Sprintf("%d:%d:%v ", ticks(f.DTS), f.Size, f.Key)
	}
	return s
}

func TestPicturesAndPackets(t *testing.T) {
	key, a, b := picture(t, true, 1000), picture(t, false, 300), picture(t, false, 20)
	three := slices.Concat(key, a, b)
	want := fmt.Sprintf("9000:%d:true 12600:%d:false 16200:%d:false 19800:%d:true ", len(key), len(a), len(b), len(key))
	for name, fill := range map[string]func(*muxer){
		"one a packet": func(m *muxer) {
			m.pes(videoPID, 9000, key)
			m.pes(videoPID, 12600, a)
			m.pes(videoPID, 16200, b)
			m.pes(videoPID, 19800, key)
		},
		"three in one": func(m *muxer) {
			m.pes(videoPID, 9000, three)
			m.pes(videoPID, 19800, key)
		},
		"one over two": func(m *muxer) {
			m.pes(videoPID, 9000, key[:200])
			m.pes(videoPID, -1, key[200:])
			m.pes(videoPID, 12600, a)
			m.pes(videoPID, 16200, b)
			m.pes(videoPID, 19800, key)
		},
		"not aligned": func(m *muxer) {
			m.pes(videoPID, 9000, three[:len(key)+50])
			m.pes(videoPID, 16200, append(slices.Clone(three[len(key)+50:]), key...))
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &muxer{}
			m.program(0, 0x1b, 0)
			fill(m)
			k := read(m.out)
			if got := summary(k.frames); got != want {
				t.Errorf("\n%s, want\n%s", got, want)
			}
			if k.counts[stream.ContinuityErrors] != 0 || len(k.params) != 1 || k.params[0].Width != 640 {
				t.Errorf("%v, %+v", k.counts, k.params)
			}
		})
	}
}

func TestPictureBeforeSilence(t *testing.T) {
	key := picture(t, true, 1000)
	m := &muxer{}
	m.program(0, 0x1b, 0)
	m.pes(videoPID, 9000, key)
	k := &kept{}
	d := New(k)
	for _, p := range m.out {
		d.Datagram(p, 1e9)
	}
	if d.Idle(1.4e9, 500e6); len(k.frames) != 0 {
		t.Error("a picture was taken as whole after 0.4 s")
	}
	if d.Idle(1.6e9, 500e6); summary(k.frames) != fmt.Sprintf("9000:%d:true ", len(key)) || k.frames[0].Arrival != 1e9 {
		t.Errorf("after 0.6 s: %s", summary(k.frames))
	}
	from := len(m.out)
	m.pes(videoPID, 12600, key)
	for _, p := range m.out[from:] {
		d.Datagram(p, 2e9)
	}
	if d.Flush(); len(k.frames) != 2 {
		t.Errorf("%d frames, want 2", len(k.frames))
	}
}

func TestTables(t *testing.T) {
	key := picture(t, true, 100)
	m := &muxer{}
	m.program(0, 0x1b, 100) // a section of 400 bytes, over three packets
	if len(m.out) != 4 {
		t.Fatalf("%d packets", len(m.out))
	}
	m.pes(videoPID, 9000, key)
	m.pes(videoPID, 12600, key)
	m.program(0, 0x1b, 100) // the same again changes nothing
	m.pes(videoPID, 16200, key)
	if k := read(m.out); len(k.frames) != 3 {
		t.Errorf("%d frames, want 3", len(k.frames))
	}
	broken := slices.Clone(m.out[:7])
	broken[2] = slices.Clone(broken[2])
	broken[2][100] ^= 1
	k := &kept{}
	d := New(k)
	for _, p := range broken {
		d.Datagram(p, 1)
	}
	if d.Flush(); len(k.frames) != 0 || d.pmt.Bad != 1 {
		t.Errorf("with a wrong CRC: %d frames, %d bad sections", len(k.frames), d.pmt.Bad)
	}
	// A new version says that it is another codec.
	m.program(1, 0x24, 0)
	m.pes(videoPID, 19800, []byte{0, 0, 1, 0x26, 1, 0xaf, 1, 2, 3})
	k = read(m.out)
	if last := k.params[len(k.params)-1]; len(k.frames) != 4 || last.Codec != "hevc" || !k.frames[3].Key {
		t.Errorf("%s %+v", summary(k.frames), k.params)
	}
	// One that is yet to come says nothing.
	next := &muxer{}
	next.program(0, 0x1b, 0)
	for _, p := range next.out {
		p[4+1+5] &^= 1 // current_next_indicator; makes the CRC wrong, too
	}
	if d := New(&kept{}); true {
		for _, p := range next.out {
			d.Datagram(p, 1)
		}
		if d.Tracks() {
			t.Error("a table for later was taken")
		}
	}
}

// A stream that is sent within another network namespace.
func TestInsideANamespace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making a network namespace wants root")
	}
	name := fmt.Sprintf("snagts%d", os.Getpid())
	for _, args := range [][]string{{"netns", "add", name}, {"-n", name, "link", "set", "lo", "up"}} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %v: %v: %s", args, err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
	path := filepath.Join(netns.NameDirs[0], name)
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	h, err := netns.Open(netns.Namespace{ID: st.Ino, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var c net.Conn
	if err := h.Do(func() (err error) { c, err = net.Dial("udp4", "127.0.0.1:5004"); return err }); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var w watched
	done := make(chan error, 1)
	go func() {
		done <- Open(ctx, parsed(t, "udp://127.0.0.1:5004"), &w, stream.Options{Now: monotonic, Netns: path})
	}()
	all := packetsOf(t, "h264-aac.ts")
	for i := 0; i < 1000; i++ {
		_, _ = c.Write(all[i%len(all)])
		time.Sleep(time.Millisecond)
		n := 0
		if w.do(func() { n = len(w.frames) }); n > 10 {
			cancel()
			break
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(w.frames) == 0 {
		t.Error("no frame")
	}
}
