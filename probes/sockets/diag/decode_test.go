package diag

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// fixture reads testdata/NAME.hex: a message of a real dump (Linux 6.18), its
// netlink header left out, in hex; lines that begin with # say what it was.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var digits strings.Builder
	for _, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "#") {
			digits.WriteString(strings.TrimSpace(line))
		}
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}

func TestDecodeRealMessages(t *testing.T) {
	names, err := filepath.Glob("testdata/*.hex")
	if err != nil || len(names) < 5 {
		t.Fatalf("fixtures %v, %v", names, err)
	}
	for _, path := range names {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			proto := byte(tcp)
			if strings.HasPrefix(name, "udp") {
				proto = udp
			}
			f, err := Decode(fixture(t, name), proto)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(f.Socket, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(path, ".hex") + ".json"
			if *update {
				if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(bytes.TrimSpace(got), bytes.TrimSpace(want)) {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}

// An older kernel's tcp_info ends earlier: what it lacks is zero, the rest stays.
func TestDecodeShortTCPInfo(t *testing.T) {
	b := fixture(t, "tcp_established.hex")
	f, err := Decode(b, tcp)
	if err != nil {
		t.Fatal(err)
	}
	var info []byte
	for rest := b[messageSize:]; len(rest) >= 4; {
		n := int(rest[0]) | int(rest[1])<<8
		if rest[2] == attrInfo {
			info = rest[4:n]
		}
		rest = rest[min(len(rest), (n+3)&^3):]
	}
	old := decodeTCPInfo(info[:192]) // Linux 4.10: up to sndbuf_limited
	if old == nil || old.BytesSent != 0 || old.SndWnd != 0 || old.BytesAcked != f.TCP.BytesAcked || old.RTT != f.TCP.RTT {
		t.Errorf("old %+v\nnew %+v", old, f.TCP)
	}
	if decodeTCPInfo(info[:103]) != nil {
		t.Error("half a tcp_info was decoded")
	}
}

func TestDecodeRefuses(t *testing.T) {
	if _, err := Decode(make([]byte, messageSize-1), tcp); err == nil {
		t.Error("a short message was decoded")
	}
	b := fixture(t, "tcp_listen.hex")
	b[0] = unix.AF_UNIX
	if _, err := Decode(b, tcp); err == nil || !strings.Contains(err.Error(), "family 1") {
		t.Errorf("error %v", err)
	}
}

func TestWalkTellsErrorsFromSockets(t *testing.T) {
	message := func(kind uint16, seq uint32, payload []byte) []byte {
		b := make([]byte, 16, 16+len(payload))
		b[0], b[1] = byte(16+len(payload)), byte((16+len(payload))>>8)
		b[4], b[5] = byte(kind), byte(kind>>8)
		b[8] = byte(seq)
		return append(b, payload...)
	}
	sock := fixture(t, "udp_drops.hex")
	var got int
	each := func(Found) { got++ }
	datagram := append(message(byFamily, 7, sock), message(byFamily, 6, sock)...) // the second is of an older request
	if done, err := walk(datagram, udp, 7, each, nil); done || err != nil || got != 1 {
		t.Errorf("done %v, %v, %d sockets", done, err, got)
	}
	enoent := message(unix.NLMSG_ERROR, 7, []byte{0xfe, 0xff, 0xff, 0xff})
	if done, err := walk(enoent, udp, 7, each, nil); !done || !errors.Is(err, unix.ENOENT) {
		t.Errorf("done %v, %v", done, err)
	}
	answered := 0
	if done, err := walk(enoent, udp, 7, each, &answered); done || err != nil || answered != 1 {
		t.Errorf("asked one by one: done %v, %v, %d answered", done, err, answered)
	}
	if done, err := walk(message(unix.NLMSG_DONE, 7, make([]byte, 4)), udp, 7, each, nil); !done || err != nil {
		t.Errorf("done %v, %v", done, err)
	}
	if _, err := walk(message(byFamily, 7, nil)[:16:16], udp, 7, each, nil); err != nil {
		t.Errorf("an empty message: %v", err)
	}
	broken := message(byFamily, 7, sock)
	broken[0], broken[1] = 0xff, 0xff
	if _, err := walk(broken, udp, 7, each, nil); err == nil {
		t.Error("a message longer than its datagram was taken")
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"tcp_established.hex", "tcp_listen.hex", "udp_drops.hex", "tcp_mapped.hex"} {
		f.Add(fixture(f, name), strings.HasPrefix(name, "udp"))
	}
	f.Fuzz(func(t *testing.T, b []byte, isUDP bool) {
		proto := byte(tcp)
		if isUDP {
			proto = udp
		}
		s, err := Decode(b, proto)
		if err != nil {
			return
		}
		if s.Local == "" || s.Proto == "" || (s.TCP != nil && isUDP) {
			t.Errorf("%+v", s)
		}
		if _, err := json.Marshal(s.Socket); err != nil {
			t.Errorf("it can't be written: %v", err)
		}
	})
}

func FuzzWalk(f *testing.F) {
	f.Add([]byte{16, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, uint32(0))
	f.Fuzz(func(t *testing.T, b []byte, since uint32) {
		n := 0
		walk(b, tcp, since, func(Found) { n++ }, nil)
		if n*messageSize > len(b) {
			t.Errorf("%d sockets in %d bytes", n, len(b))
		}
	})
}
