package diag

import "snag/recording"

// tcpInfo is struct tcp_info of include/uapi/linux/tcp.h as bytes. It has grown
// at its end with every few kernels; what a kernel does not have reads as zero.
type tcpInfo []byte

func (b tcpInfo) u8(at int) int {
	if at >= len(b) {
		return 0
	}
	return int(b[at])
}

func (b tcpInfo) u32(at int) uint32 {
	if at+4 > len(b) {
		return 0
	}
	return u32of(b[at:])
}

func (b tcpInfo) u64(at int) uint64 {
	if at+8 > len(b) {
		return 0
	}
	return u64of(b[at:])
}

func (b tcpInfo) micros(at int) float64 { return float64(b.u32(at)) / 1e6 }
func (b tcpInfo) millis(at int) float64 { return float64(b.u32(at)) / 1e3 }
func (b tcpInfo) count(at int) int      { return int(b.u32(at)) }

// noMinRTT is what min_rtt holds before the first sample (tcp_min_rtt, ~0U).
const noMinRTT = 1<<32 - 1

// noSsthresh is TCP_INFINITE_SSTHRESH: slow start has not ended yet.
const noSsthresh = 0x7fffffff

// unlimited is the pacing rate of a socket that is not paced (~0UL).
const unlimited = 1<<64 - 1

// optSACK is TCPI_OPT_SACK of tcpi_options: it was agreed on.
const optSACK = 2

// connected tells the states in which the handshake's options are known
// (include/net/tcp_states.h).
func connected(state int) bool {
	switch state {
	case 1, 4, 5, 8, 9, 11: // ESTABLISHED, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT, LAST_ACK, CLOSING
		return true
	}
	return false
}

// decodeTCPInfo returns nil for what is too short to be of any use.
func decodeTCPInfo(raw []byte) *recording.TCPInfo {
	b := tcpInfo(raw)
	if len(b) < 104 { // up to tcpi_total_retrans: Linux 2.6
		return nil
	}
	t := &recording.TCPInfo{
		Backoff:       b.u8(4),
		RTO:           b.micros(8),
		ATO:           b.micros(12),
		SndMSS:        b.count(16),
		Unacked:       b.count(24),
		Lost:          b.count(32),
		Retrans:       b.count(36),
		LastSnd:       b.millis(44),
		LastRcv:       b.millis(52),
		LastAck:       b.millis(56),
		RTT:           b.micros(68),
		RTTVar:        b.micros(72),
		Cwnd:          b.count(80),
		RcvSpace:      b.count(96),
		TotalRetrans:  b.count(100),
		BytesAcked:    b.u64(120),
		BytesReceived: b.u64(128),
		SegsOut:       uint64(b.u32(136)),
		SegsIn:        uint64(b.u32(140)),
		NotSent:       b.count(144),
		DataSegsIn:    uint64(b.u32(152)),
		DataSegsOut:   uint64(b.u32(156)),
		DeliveryRate:  float64(b.u64(160)),
		Busy:          float64(b.u64(168)) / 1e6,
		RwndLimited:   float64(b.u64(176)) / 1e6,
		SndbufLimited: float64(b.u64(184)) / 1e6,
		BytesSent:     b.u64(200),
		BytesRetrans:  b.u64(208),
		DSACKDups:     b.count(216),
		ReordSeen:     b.count(220),
		SndWnd:        b.count(228),
		RcvRTT:        b.micros(92),
		RcvWnd:        b.count(232),
		RcvOOO:        b.count(224),
		Probes:        b.u8(3),
	}
	if connected(b.u8(0)) {
		t.NoSACK = b.u8(5)&optSACK == 0
	}
	if v := b.u32(76); v < noSsthresh {
		t.Ssthresh = int(v)
	}
	if v := b.u32(148); v != noMinRTT {
		t.MinRTT = float64(v) / 1e6
	}
	if v := b.u64(104); v != unlimited {
		t.PacingRate = float64(v)
	}
	return t
}
