package sockets

import (
	"fmt"
	"strings"

	"snag/internal/kernel"
	"snag/probes/sockets/diag"
	"snag/recording"
)

// names reports who is behind what the kernel counted. Its bool is false where
// that is not known.
type names interface {
	// listener is the process that accepts at that address and port.
	listener(netns uint64, local string) (recording.FDRef, bool)
	// nameServer is the process that is asked for names by datagrams to that address.
	nameServer(netns uint64, local string) (recording.FDRef, bool)
	// holder is the process that holds the socket.
	holder(inode uint64) (recording.FDRef, bool)
	// path is the address that the kernel side made an id of, "unix:/run/php.sock"; "" where
	// it is not known.
	path(id uint64) string
}

// ends are the addresses of a flow as the recording writes them.
type ends struct {
	netns                 uint64
	local, remote         string // address:port
	localHost, remoteHost string
}

func endsOf(f kernelFlow) ends {
	family := byte(2)
	if f.Family == 6 {
		family = 10
	}
	return ends{
		netns:      uint64(f.Netns),
		local:      diag.Addr(family, f.Laddr[:], f.Lport),
		remote:     diag.Addr(family, f.Raddr[:], f.Rport),
		localHost:  diag.IP(family, f.Laddr[:]).String(),
		remoteHost: diag.IP(family, f.Raddr[:]).String(),
	}
}

const (
	roleUnknown = iota
	roleConnect
	roleAccept
)

// Others stands for the peers that are not told apart in a row.
const others = "others"

func connectionRow(t recording.Time, k kernelConnKey, v kernelConnValue, who names) recording.Connections {
	e := endsOf(k.Flow)
	row := recording.Connections{
		T: t, Netns: e.netns,
		Opened: v.Opened, Failed: v.Failed, Closed: v.Closed, Short: v.Brief, Unasked: v.Unasked, ByPeer: v.ByPeer,
		Lifetime: seconds(v.Lifetime), BytesIn: v.BytesIn, BytesOut: v.BytesOut,
		Handshake: seconds(v.Handshake), HandshakeMax: seconds(v.HandshakeMax),
	}
	accepter, listening := who.listener(e.netns, e.local)
	// A connection that is older than the recording has no known role: it was
	// accepted if somebody listens at its local end.
	if k.Role == roleAccept || (k.Role == roleUnknown && listening) {
		row.Role, row.Local, row.Remote = "accept", e.local, e.remoteHost
		row.PID, row.Comm = accepter.PID, accepter.Comm
	} else {
		row.Role, row.Local, row.Remote = "connect", e.localHost, e.remote
		row.PID, row.Comm = int(v.Pid), kernel.Text(v.Comm[:])
	}
	if k.Others != 0 {
		row.Remote = others
	}
	return row
}

// whoIs names the process of a counted socket: the one that the kernel side saw,
// the holder of the socket, or who listens at its local end.
func whoIs(c kernelCount, e ends, who names) (int, string) {
	if c.Pid != 0 {
		return int(c.Pid), kernel.Text(c.Comm[:])
	}
	if r, ok := who.holder(c.Inode); ok {
		return r.PID, r.Comm
	}
	if r, ok := who.listener(e.netns, e.local); ok {
		return r.PID, r.Comm
	}
	return 0, ""
}

func resetRow(t recording.Time, k kernelResetKey, v kernelCount, reasons map[uint64]string, who names) recording.Reset {
	e := endsOf(k.Flow)
	row := recording.Reset{
		T: t, Dir: "received", Netns: e.netns, Local: e.local, Remote: e.remote,
		State: diag.StateName(int(k.State)), N: v.N,
	}
	if k.Sent != 0 {
		row.Dir = "sent"
		row.Reason = reasonName(reasons, k.Reason)
	}
	row.PID, row.Comm = whoIs(v, e, who)
	return row
}

// reasonName cuts the prefix that all names share; "" before Linux 6.10.
func reasonName(reasons map[uint64]string, v uint32) string {
	if reasons == nil {
		return ""
	}
	name, ok := reasons[uint64(v)]
	if !ok {
		return fmt.Sprint(v)
	}
	return strings.TrimPrefix(name, "SK_RST_REASON_")
}

func retransmitRow(t recording.Time, k kernelRetransmitKey, v kernelCount, who names) recording.Retransmit {
	e := endsOf(k.Flow)
	row := recording.Retransmit{
		T: t, Netns: e.netns, Local: e.local, Remote: e.remote,
		State: diag.StateName(int(k.State)), N: v.N, Inode: v.Inode,
	}
	row.PID, row.Comm = whoIs(v, e, who)
	return row
}

// holdRow takes the writes apart: they are counted for all sockets, elsewhere.
// They can't be fewer than the held ones, unless their count was evicted.
func holdRow(t recording.Time, v kernelHold, writes uint64) recording.Hold {
	e := endsOf(v.Flow)
	return recording.Hold{
		T: t, Netns: e.netns, Inode: v.Inode, Cookie: v.Cookie, Local: e.local, Remote: e.remote,
		PID: int(v.Pid), Comm: kernel.Text(v.Comm[:]),
		Writes: max(writes, v.Held), Held: v.Held, Released: v.Released,
		HoldSum: seconds(v.Sum), HoldMax: seconds(v.Max),
	}
}

// signalEvent is one signal to one process, or many of a second: Value counts
// them. attrs result reports what became of it (include/trace/events/signal.h).
func signalEvent(a recording.Anchor, k kernelSignalKey, v kernelSignalValue) recording.Event {
	results := map[int32]string{0: "delivered", 1: "ignored", 2: "already pending", 3: "overflow", 4: "lost"}
	e := recording.Event{
		T: a.FromMonotonic(int64(v.First)), End: a.FromMonotonic(int64(v.Last)),
		Kind:    recording.EventSignal,
		Subject: recording.Subject{Kind: recording.KindProcess, PID: int(k.Pid), Comm: kernel.Text(v.Comm[:])},
		Attrs: map[string]string{
			"signal": kernel.SignalName(int(k.Sig)), "from_pid": fmt.Sprint(k.From), "from_comm": kernel.Text(v.FromComm[:]), "result": results[k.Result],
		},
		Value: float64(v.N), Unit: "signals",
	}
	if k.Kernel != 0 {
		e.Attrs["by"] = "kernel"
	}
	return e
}

func seconds(ns uint64) float64 { return float64(ns) / 1e9 }
