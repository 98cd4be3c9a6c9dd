package sockets

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"snag/recording"
)

// known is names from two maps.
type known struct {
	listeners map[string]recording.FDRef
	holders   map[uint64]recording.FDRef
	paths     map[uint64]string
}

func (k known) listener(_ uint64, local string) (recording.FDRef, bool) {
	r, ok := k.listeners[local]
	return r, ok
}

func (k known) nameServer(_ uint64, local string) (recording.FDRef, bool) {
	r, ok := k.listeners[local+"/udp"]
	return r, ok
}

func (k known) holder(inode uint64) (recording.FDRef, bool) {
	r, ok := k.holders[inode]
	return r, ok
}

func (k known) path(id uint64) string { return k.paths[id] }

func flow4(local [4]byte, lport uint16, remote [4]byte, rport uint16) kernelFlow {
	f := kernelFlow{Family: 4, Netns: 7, Lport: lport, Rport: rport}
	copy(f.Laddr[:], local[:])
	copy(f.Raddr[:], remote[:])
	return f
}

var nginx = recording.FDRef{PID: 812, Comm: "nginx", FD: 6}

func TestConnectionRows(t *testing.T) {
	who := known{listeners: map[string]recording.FDRef{"10.0.0.1:1935": nginx}}
	v := kernelConnValue{Opened: 3, Closed: 2, Brief: 1, Lifetime: 1_500_000_000, BytesIn: 10, BytesOut: 20, Pid: 99}
	copy(v.Comm[:], "ffmpeg")
	for _, c := range []struct {
		name string
		key  kernelConnKey
		want string // role local remote pid comm
	}{
		{"accepted", kernelConnKey{Role: roleAccept, Flow: flow4([4]byte{10, 0, 0, 1}, 1935, [4]byte{10, 0, 0, 2}, 0)}, "accept 10.0.0.1:1935 10.0.0.2 812 nginx"},
		{"called", kernelConnKey{Role: roleConnect, Flow: flow4([4]byte{10, 0, 0, 2}, 0, [4]byte{10, 0, 0, 1}, 1935)}, "connect 10.0.0.2 10.0.0.1:1935 99 ffmpeg"},
		{"older, somebody listens here", kernelConnKey{Flow: flow4([4]byte{10, 0, 0, 1}, 1935, [4]byte{10, 0, 0, 2}, 5555)}, "accept 10.0.0.1:1935 10.0.0.2 812 nginx"},
		{"older, nothing listens here", kernelConnKey{Flow: flow4([4]byte{10, 0, 0, 2}, 5555, [4]byte{10, 0, 0, 9}, 80)}, "connect 10.0.0.2 10.0.0.9:80 99 ffmpeg"},
		{"too many peers", kernelConnKey{Role: roleAccept, Others: 1, Flow: flow4([4]byte{10, 0, 0, 1}, 1935, [4]byte{}, 0)}, "accept 10.0.0.1:1935 others 812 nginx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := connectionRow(5, c.key, v, who)
			if got := fmt.Sprint(r.Role, " ", r.Local, " ", r.Remote, " ", r.PID, " ", r.Comm); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if r.T != 5 || r.Netns != 7 || r.Opened != 3 || r.Short != 1 || r.Lifetime != 1.5 || r.BytesOut != 20 {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestResetRowsNameWhoIsKnown(t *testing.T) {
	who := known{
		listeners: map[string]recording.FDRef{"10.0.0.1:1935": nginx},
		holders:   map[uint64]recording.FDRef{44: {PID: 5, Comm: "relay"}},
	}
	reasons := map[uint64]string{1: "SK_RST_REASON_NO_SOCKET"}
	key := kernelResetKey{Flow: flow4([4]byte{10, 0, 0, 1}, 1935, [4]byte{10, 0, 0, 2}, 80), State: 1}
	if r := resetRow(1, key, kernelCount{N: 2, Inode: 44}, reasons, who); r.Dir != "received" || r.PID != 5 || r.State != "ESTABLISHED" || r.Reason != "" || r.N != 2 {
		t.Errorf("by inode: %+v", r)
	}
	if r := resetRow(1, key, kernelCount{N: 2, Inode: 45}, reasons, who); r.Comm != "nginx" {
		t.Errorf("by listener: %+v", r)
	}
	key.Sent, key.Reason, key.State = 1, 1, 0
	if r := resetRow(1, key, kernelCount{N: 1, Pid: 3}, reasons, known{}); r.Dir != "sent" || r.Reason != "NO_SOCKET" || r.State != "" || r.PID != 3 {
		t.Errorf("sent: %+v", r)
	}
	key.Reason = 77
	if r := resetRow(1, key, kernelCount{}, reasons, known{}); r.Reason != "77" {
		t.Errorf("a reason without a name: %q", r.Reason)
	}
	if r := resetRow(1, key, kernelCount{}, nil, known{}); r.Reason != "" {
		t.Errorf("a kernel without reasons: %q", r.Reason)
	}
}

func TestMappedAddressesAreIPv4(t *testing.T) {
	f := kernelFlow{Family: 6, Lport: 80, Rport: 81, Laddr: [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}, Raddr: [16]byte{15: 1}}
	if e := endsOf(f); e.local != "127.0.0.1:80" || e.remote != "[::1]:81" || e.remoteHost != "::1" {
		t.Errorf("%+v", e)
	}
}

func TestHoldRowHasNoFewerWritesThanHolds(t *testing.T) {
	h := kernelHold{Held: 5, Released: 4, Sum: 160_000_000, Max: 41_000_000, Pid: 9}
	if r := holdRow(1, h, 0); r.Writes != 5 || r.HoldSum != 0.16 || r.HoldMax != 0.041 || r.PID != 9 {
		t.Errorf("%+v", r)
	}
	for epoch, want := range map[uint32]uint64{7: 11, 6: 3, 5: 0, 8: 0} {
		if got := writesIn(kernelWrites{At: 7, Now: 11, Before: 3}, epoch); got != want {
			t.Errorf("writes in epoch %d: %d, want %d", epoch, got, want)
		}
	}
}

func TestFoldConnectionsKeepsTheSum(t *testing.T) {
	var rows []recording.Connections
	for i := range 1000 {
		rows = append(rows, recording.Connections{Role: "accept", Local: "10.0.0.1:80", Remote: fmt.Sprint("10.1.0.", i), Opened: uint64(i), HandshakeMax: float64(i)})
	}
	out := foldConnections(rows, 50)
	n := uint64(0)
	for _, r := range out {
		n += r.Opened
	}
	last := out[len(out)-1]
	if len(out) != 51 || n != 999*1000/2 || out[0].Opened != 999 || last.Remote != others || last.HandshakeMax != 949 {
		t.Errorf("%d rows, %d opened, the last %+v", len(out), n, last)
	}
	if out := foldConnections(rows[:10], 50); len(out) != 10 {
		t.Errorf("%d of 10 few rows are left", len(out))
	}
}

func TestFoldResetsByPeer(t *testing.T) {
	var rows []recording.Reset
	for i := range 1000 {
		rows = append(rows, recording.Reset{Dir: "received", Local: "10.0.0.1:80", Remote: fmt.Sprintf("10.1.0.%d:%d", i%3, 1024+i), State: "ESTABLISHED", N: 2})
	}
	kept, lost := foldResets(rows, 100, func(recording.Reset) bool { return true })
	if len(kept) != 3 || lost != 0 || kept[0].N != 668 || recording.Port(kept[0].Remote) != "" {
		t.Errorf("%d rows, %d lost: %+v", len(kept), lost, kept)
	}
	kept, lost = foldResets(rows, 2, func(recording.Reset) bool { return true })
	if len(kept) != 2 || lost != 666 {
		t.Errorf("%d rows, %d lost", len(kept), lost)
	}
}

func TestBusiest(t *testing.T) {
	kept, lost := busiest([]uint64{3, 9, 1, 7}, 2, func(n uint64) uint64 { return n })
	if !reflect.DeepEqual(kept, []uint64{9, 7}) || lost != 4 {
		t.Errorf("%v, %d lost", kept, lost)
	}
}

// What the kernel side hands over is bytes of a map: any of them must make rows
// that can be written.
func FuzzRows(f *testing.F) {
	f.Add(make([]byte, 400))
	f.Add(bytes.Repeat([]byte{0xff}, 400))
	f.Fuzz(func(t *testing.T, b []byte) {
		var all struct {
			CK kernelConnKey
			CV kernelConnValue
			RK kernelResetKey
			C  kernelCount
			TK kernelRetransmitKey
			SK kernelSignalKey
			SV kernelSignalValue
			H  kernelHold
		}
		if binary.Read(bytes.NewReader(append(b, make([]byte, 1024)...)), binary.LittleEndian, &all) != nil {
			return
		}
		who := known{listeners: map[string]recording.FDRef{"0.0.0.0:0": nginx}}
		for _, row := range []recording.Row{
			connectionRow(1, all.CK, all.CV, who),
			resetRow(1, all.RK, all.C, map[uint64]string{1: "X"}, who),
			retransmitRow(1, all.TK, all.C, who),
			signalEvent(recording.Anchor{}, all.SK, all.SV),
			holdRow(1, all.H, 1),
		} {
			if _, err := json.Marshal(row); err != nil {
				t.Errorf("%+v can't be written: %v", row, err)
			}
		}
	})
}
