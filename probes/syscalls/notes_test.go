package syscalls

import (
	"bytes"
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"

	"snag/recording"
)

func raw(t testing.TB, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := binary.Write(&b, binary.NativeEndian, v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tcpNote() kernelFdNote {
	n := kernelFdNote{What: noteFD, Pid: 812, At: 20, Inode: 77, Fd: 9, Mode: unix.S_IFSOCK | 0o777, Family: unix.AF_INET, Proto: unix.IPPROTO_TCP, Lport: 1935, Rport: 4312, State: 1}
	copy(n.Laddr[:], []byte{10, 0, 0, 1})
	copy(n.Raddr[:], []byte{10, 0, 0, 7})
	return n
}

func TestNotesOfDescriptors(t *testing.T) {
	n, ok := decodeNote(raw(t, tcpNote()), recording.Anchor{Wall: 1000, Monotonic: 10})
	want := recording.FD{T: 1010, PID: 812, FD: 9, Kind: "socket", Name: "socket:[77]", Inode: 77, Proto: "tcp", State: "ESTABLISHED", Local: "10.0.0.1:1935", Remote: "10.0.0.7:4312"}
	if !ok || n.row != want {
		t.Errorf("%+v, want %+v", n.row, want)
	}
	for mode, kind := range map[uint32]string{unix.S_IFIFO: "pipe", unix.S_IFREG: "file", unix.S_IFDIR: "file", unix.S_IFCHR: "device", 0: "other"} {
		if n, _ := decodeNote(raw(t, kernelFdNote{What: noteFD, Mode: mode}), recording.Anchor{}); n.row.Kind != kind {
			t.Errorf("mode %o: %s, want %s", mode, n.row.Kind, kind)
		}
	}
	six := tcpNote()
	six.Family, six.Proto = unix.AF_INET6, unix.IPPROTO_UDP
	six.Laddr = [16]byte{15: 1}
	six.Rport = 0
	if n, _ := decodeNote(raw(t, six), recording.Anchor{}); n.row.Proto != "udp" || n.row.Local != "[::1]:1935" || n.row.Remote != "" {
		t.Errorf("%+v", n.row)
	}
}

func TestNotesOfPeeks(t *testing.T) {
	p := kernelPeekNote{What: notePeek, Pid: 812, Fd: 9, Offset: 3073, Len: 4}
	copy(p.Bytes[:], "abcdefg")
	n, ok := decodeNote(raw(t, p), recording.Anchor{})
	if !ok || !n.peeked || n.row.PID != 812 || n.row.FD != 9 || n.offset != 3073 || string(n.bytes) != "abcd" {
		t.Errorf("%+v %q", n, n.bytes)
	}
	p.Len = 1 << 31
	if _, ok := decodeNote(raw(t, p), recording.Anchor{}); ok {
		t.Error("more bytes than the record has")
	}
}

func FuzzDecodeNote(f *testing.F) {
	f.Add(raw(f, tcpNote()))
	f.Add(raw(f, kernelPeekNote{What: notePeek, Len: 10}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, ok := decodeNote(b, recording.Anchor{}); ok && len(n.bytes) > len(b) {
			t.Errorf("%d bytes of %d", len(n.bytes), len(b))
		}
	})
}
