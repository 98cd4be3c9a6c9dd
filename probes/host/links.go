package host

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// linkSeen is a link's last row and its labels.
type linkSeen struct {
	row     recording.Link
	txQueue int
	labels  recording.Labels
	alive   bool
	written bool // in this piece of a ring
}

// linkRequest is struct ifinfomsg and IFLA_EXT_MASK RTEXT_FILTER_SKIP_STATS: no
// statistics of IPv6, which are larger than all the rest (net/ipv6/addrconf.c,
// inet6_fill_ifla6_attrs). Those of the link itself come all the same.
var linkRequest = func() []byte {
	b := binary.NativeEndian.AppendUint16(make([]byte, 16), 8)
	b = binary.NativeEndian.AppendUint16(b, unix.IFLA_EXT_MASK)
	return binary.NativeEndian.AppendUint32(b, 1<<3)
}()

// links writes the counters of all links, and the row of each that is new or
// set differently.
func (sp *space) links() error {
	t := sp.env.Now()
	for _, l := range sp.linkSeen {
		l.alive = false
	}
	err := sp.route.dump(unix.RTM_GETLINK, linkRequest, func(data []byte) error {
		l, err := decodeLink(data)
		if err == nil {
			sp.link(t, l)
		}
		return err
	})
	for i, l := range sp.linkSeen {
		if !l.alive && err == nil {
			delete(sp.linkSeen, i)
		}
	}
	return err
}

func (sp *space) link(t recording.Time, l link) {
	row := recording.Link{Netns: sp.ID, Index: l.Index, Name: l.Name, Type: l.Kind, MTU: l.MTU, Up: l.Up, Carrier: l.Carrier, Peer: l.Peer}
	seen := sp.linkSeen[l.Index]
	if seen == nil || !sameLink(seen.row, row) {
		seen = &linkSeen{row: row, labels: sp.with("device", l.Name)}
		sp.linkSeen[l.Index] = seen
	}
	if !seen.written {
		row.T, seen.written = t, true
		sp.env.Sink.Append(row)
	}
	seen.alive, seen.txQueue = true, l.TxQueue
	if l.Carrier != nil {
		v := 0.0
		if *l.Carrier {
			v = 1
		}
		sp.env.Sink.Sample(t, "node_network_carrier", seen.labels, v)
	}
	if l.Stats == nil {
		return
	}
	for _, s := range []struct {
		name string
		v    uint64
	}{
		{"node_network_receive_packets_total", l.Stats.RxPackets}, {"node_network_transmit_packets_total", l.Stats.TxPackets},
		{"node_network_receive_bytes_total", l.Stats.RxBytes}, {"node_network_transmit_bytes_total", l.Stats.TxBytes},
		{"node_network_receive_errs_total", l.Stats.RxErrors}, {"node_network_transmit_errs_total", l.Stats.TxErrors},
		{"node_network_receive_drop_total", l.Stats.RxDropped}, {"node_network_transmit_drop_total", l.Stats.TxDropped},
	} {
		sp.env.Sink.Sample(t, s.name, seen.labels, float64(s.v))
	}
}

func sameLink(a, b recording.Link) bool {
	carrier := a.Carrier == b.Carrier || a.Carrier != nil && b.Carrier != nil && *a.Carrier == *b.Carrier
	a.T, a.Carrier, b.T, b.Carrier = 0, nil, 0, nil
	return carrier && a == b
}

// deviceName is an interface's name as it was last seen.
func (sp *space) deviceName(index int) string {
	if l := sp.linkSeen[index]; l != nil {
		return l.row.Name
	}
	return "if" + strconv.Itoa(index)
}

// addresses writes the namespace's row again when its addresses changed.
func (sp *space) addresses() error {
	t := sp.env.Now()
	var addrs []string
	err := sp.route.dump(unix.RTM_GETADDR, make([]byte, 8), func(data []byte) error {
		a, err := decodeAddr(data)
		if err == nil {
			addrs = append(addrs, sp.deviceName(a.Index)+" "+a.Prefix.String())
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.Sort(addrs)
	if all := strings.Join(addrs, " "); all != sp.addrs {
		sp.addrs = all
		sp.env.Sink.Append(recording.Netns{T: t, ID: sp.ID, Name: sp.Name, Own: sp.Own, Addrs: addrs})
	}
	return nil
}
