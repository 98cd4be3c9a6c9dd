package host

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mdlayher/netlink"
)

// Attributes of RTM_GETQDISC and RTM_GETTCLASS, include/uapi/linux/rtnetlink.h
// and gen_stats.h.
const (
	tcaKind, tcaOptions, tcaStats, tcaStats2         = 1, 2, 3, 7
	tcaStatsBasic, tcaStatsQueue, tcaStatsApp        = 1, 3, 4
	tcaStatsPkt64                                    = 8
	tcHRoot                                   uint32 = 0xffffffff
)

// tc is one queueing discipline or class as the kernel tells it.
type tc struct {
	Index   int // of the interface
	Kind    string
	Handle  uint32
	Parent  uint32
	Options map[string]string
	Stats   *tcStats // nil: the kernel gave none
}

// tcStats are its counters; Qlen (packets) and Backlog (bytes) are gauges.
type tcStats struct {
	Bytes, Packets              uint64
	Drops, Overlimits, Requeues uint32
	Qlen, Backlog               uint32
	// FlowLimit is fq's flows_plimit: packets dropped because their own flow's
	// queue was full; nil for other kinds.
	FlowLimit *uint64
}

// decodeTC reads the payload of a reply: struct tcmsg and its attributes.
func decodeTC(data []byte) (tc, error) {
	if len(data) < 20 {
		return tc{}, fmt.Errorf("decode a queueing discipline: %d bytes are not a tcmsg", len(data))
	}
	q := tc{
		Index:  int(int32(binary.NativeEndian.Uint32(data[4:]))),
		Handle: binary.NativeEndian.Uint32(data[8:]),
		Parent: binary.NativeEndian.Uint32(data[12:]),
	}
	ad, err := netlink.NewAttributeDecoder(data[20:])
	if err != nil {
		return tc{}, fmt.Errorf("decode a queueing discipline: %w", err)
	}
	var options, stats, stats2 []byte
	for ad.Next() {
		switch ad.Type() {
		case tcaKind:
			q.Kind = ad.String()
		case tcaOptions:
			options = ad.Bytes()
		case tcaStats:
			stats = ad.Bytes()
		case tcaStats2:
			stats2 = ad.Bytes()
		}
	}
	if err := ad.Err(); err != nil {
		return tc{}, fmt.Errorf("decode a queueing discipline: %w", err)
	}
	if q.Kind == "" {
		return tc{}, errors.New("decode a queueing discipline: it has no kind")
	}
	q.Options = decodeOptions(q.Kind, options)
	if stats2 != nil {
		q.Stats = decodeStats2(q.Kind, stats2)
	}
	if q.Stats == nil {
		q.Stats = decodeStats(stats)
	}
	return q, nil
}

// decodeStats2 reads the nested TCA_STATS2; nil unless it has the queue part.
func decodeStats2(kind string, data []byte) *tcStats {
	ad, err := netlink.NewAttributeDecoder(data)
	if err != nil {
		return nil
	}
	var s tcStats
	queue, wide := false, false
	for ad.Next() {
		b := ad.Bytes()
		switch ad.Type() {
		case tcaStatsBasic: // struct gnet_stats_basic
			if len(b) >= 12 {
				s.Bytes = binary.NativeEndian.Uint64(b)
				if !wide {
					s.Packets = uint64(binary.NativeEndian.Uint32(b[8:]))
				}
			}
		case tcaStatsPkt64: // 5.4 and later, when 32 bits do not hold it
			if len(b) >= 8 {
				s.Packets, wide = binary.NativeEndian.Uint64(b), true
			}
		case tcaStatsQueue: // struct gnet_stats_queue
			if len(b) >= 20 {
				queue = true
				s.Qlen, s.Backlog = binary.NativeEndian.Uint32(b), binary.NativeEndian.Uint32(b[4:])
				s.Drops, s.Requeues = binary.NativeEndian.Uint32(b[8:]), binary.NativeEndian.Uint32(b[12:])
				s.Overlimits = binary.NativeEndian.Uint32(b[16:])
			}
		case tcaStatsApp: // struct tc_fq_qd_stats, pkt_sched.h
			if kind == "fq" && len(b) >= 40 {
				n := binary.NativeEndian.Uint64(b[32:])
				s.FlowLimit = &n
			}
		}
	}
	if !queue || ad.Err() != nil {
		return nil
	}
	return &s
}

// decodeStats reads the older struct tc_stats.
func decodeStats(b []byte) *tcStats {
	if len(b) < 36 {
		return nil
	}
	at := func(i int) uint32 { return binary.NativeEndian.Uint32(b[i:]) }
	return &tcStats{
		Bytes: binary.NativeEndian.Uint64(b), Packets: uint64(at(8)),
		Drops: at(12), Overlimits: at(16), Qlen: at(28), Backlog: at(32),
	}
}

// handleText writes a handle as tc does: "8001:", "1:10", ":2", "root".
func handleText(h uint32) string {
	major, minor := h>>16, h&0xffff
	switch {
	case h == tcHRoot:
		return "root"
	case major == 0 && minor == 0:
		return "0:"
	case major == 0:
		return fmt.Sprintf(":%x", minor)
	case minor == 0:
		return fmt.Sprintf("%x:", major)
	}
	return fmt.Sprintf("%x:%x", major, minor)
}
