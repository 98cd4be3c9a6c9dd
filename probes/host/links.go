package host

import (
	"slices"
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
}

// links writes the counters of all links, and the row of each that is new or
// set differently.
func (sp *space) links() error {
	t := sp.env.Now()
	for _, l := range sp.linkSeen {
		l.alive = false
	}
	err := sp.route.dump(unix.RTM_GETLINK, make([]byte, 16), func(data []byte) error {
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
		row.T = t
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

// addresses writes the namespace's row again when its addresses changed.
func (sp *space) addresses() error {
	t := sp.env.Now()
	var addrs []string
	err := sp.route.dump(unix.RTM_GETADDR, make([]byte, 8), func(data []byte) error {
		a, err := decodeAddr(data)
		if err == nil {
			addrs = append(addrs, a.String())
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
