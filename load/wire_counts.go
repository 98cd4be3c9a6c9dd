package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// Wire is what the kernel counted of a run's TCP connections, from the first answer of each on. What
// happened before is the handshake's, and that of a listener which had accepted nothing yet.
type Wire struct {
	Segments int64 // with data, that were sent; those that were sent again among them
	Resent   int64 // sent again, and not received twice (DSACK)
	// MinRTT is the shortest round trip of any connection; 0: none was measured.
	MinRTT time.Duration
}

// firstAnswer keeps what the kernel counted until then.
func (r *run) firstAnswer(c *conn) {
	c.base = &unix.TCPInfo{}
	if !c.datagrams {
		c.base, _ = unix.GetsockoptTCPInfo(c.fd, unix.IPPROTO_TCP, unix.TCP_INFO) // nil on a socket that just failed: tried again
	}
}

// countWire adds a connection that is about to be closed.
func (r *run) countWire(c *conn) {
	base := c.base
	if c.base = nil; base == nil || c.datagrams {
		return
	}
	end, err := unix.GetsockoptTCPInfo(c.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return
	}
	w := &r.out.Wire
	w.Segments += int64(end.Data_segs_out - base.Data_segs_out)
	w.Resent += max(0, int64(end.Total_retrans-base.Total_retrans)-int64(end.Dsack_dups-base.Dsack_dups))
	if rtt := time.Duration(end.Min_rtt) * time.Microsecond; rtt > 0 && end.Min_rtt != 1<<32-1 && (w.MinRTT == 0 || rtt < w.MinRTT) {
		w.MinRTT = rtt
	}
}
