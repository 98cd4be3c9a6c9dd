package routes

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"snag/internal/nldump"
	"snag/recording"
)

// mostStates bounds the series of one namespace: a device with two states each.
const mostStates = 128

// lookAround writes the neighbours that do not answer, the gateways, and how many
// neighbours are in which state.
func (sp *space) lookAround() error {
	t := sp.env.Now()
	conn := nldump.Dial(unix.NETLINK_ROUTE, sp.reply)
	defer conn.Close()
	for k := range sp.states {
		sp.states[k] = 0
	}
	read, rows := 0, 0
	err := conn.Dump(unix.RTM_GETNEIGH, make([]byte, 12), func(data []byte) error {
		if read++; read > mostNeighbours {
			return nldump.ErrEnough
		}
		n, err := decodeNeighbour(data)
		if err != nil || !n.Addr.IsValid() {
			return err
		}
		device := sp.device(n.Index)
		if k := [2]string{device, n.State}; sp.states[k] > 0 || len(sp.states) < mostStates {
			sp.states[k]++
		}
		addr := n.Addr.String()
		key := addr + " " + device
		was, known := sp.neighbours[key]
		dead := n.State == "FAILED" || n.State == "INCOMPLETE"
		if !dead && !known && !sp.gateways[addr] || known && was == n.State {
			return nil
		}
		if rows++; rows > mostRows {
			return nil
		}
		if len(sp.neighbours) > 4*mostRows { // a scan fails thousands: begin anew
			clear(sp.neighbours)
		}
		sp.neighbours[key] = n.State
		sp.env.Sink.Append(recording.Neighbour{T: t, Netns: sp.ID, Addr: addr, Device: device, State: n.State, Lladdr: n.Lladdr, Probes: n.Probes})
		return nil
	})
	for k, n := range sp.states {
		sp.env.Sink.Sample(t, "node_arp_states", sp.with("device", k[0], "state", k[1]), float64(n))
	}
	if rows > mostRows || errors.Is(err, nldump.ErrEnough) {
		sp.meter.note("routes.neighbours", fmt.Sprintf("of %s at most %d neighbours are read and %d kept each second", sp.called(), mostNeighbours, mostRows), "ip neigh show nud failed")
	}
	if errors.Is(err, nldump.ErrInterrupted) || errors.Is(err, nldump.ErrEnough) {
		return nil
	}
	return err
}
