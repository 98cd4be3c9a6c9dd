package audit

import (
	"fmt"
	"slices"

	"snag/internal/cpus"
	"snag/recording"
	"snag/suspects/suspect"
)

// sendQueues: without a mask each packet's queue is chosen by a hash, and CPUs meet at
// the lock of one; with XPS each CPU has its own (scaling.rst, XPS).
func sendQueues(h host) (out []Risk, covered string) {
	host := h.r.Manifest.CPUs
	for _, n := range h.lastNICs() {
		queues, set := h.transmits(n.Device)
		if n.Speed == nil || *n.Speed < fast || len(queues) < 2 || host < 2 {
			continue
		}
		if set {
			covered = fmt.Sprintf("XPS of %s: its queues have masks", n.Device)
			continue
		}
		for at, q := range queues {
			var mine []int
			for c := at; c < host; c += len(queues) {
				mine = append(mine, c)
			}
			if len(mine) == 0 {
				break // more queues than CPUs
			}
			s := suspect.Setting{Kind: "xps", At: recording.Subject{Device: n.Device}, Queue: &q, Value: cpus.Mask(mine, host), Group: "xps " + n.Device,
				Why:  fmt.Sprintf("%d send queues at %s and %d CPUs, and no mask: a hash chooses the queue, and CPUs wait for each other at its lock", len(queues), mbit(float64(*n.Speed)*1e6/8), host),
				Risk: "when a program moves to another CPU, its flow changes the queue once all data in flight is acknowledged"}
			out = append(out, Risk{Setting: s, Source: "Documentation/networking/scaling.rst (XPS: Suggested Configuration)", Shows: "native_queued_spin_lock_slowpath below __dev_queue_xmit in a profile: snag find names it kernel-hot-path"})
		}
	}
	if covered == "" && h.role == UDPMedia {
		covered = steering(h)
	}
	return out, covered
}

// transmits are the send queues of a card, and whether any has a mask.
func (h host) transmits(device string) (queues []int, set bool) {
	for _, q := range h.r.Queues {
		if q.Device != device || q.Dir != "tx" || !h.own(q.Netns) || q.XPS == nil {
			continue
		}
		set = set || *q.XPS != ""
		if !slices.Contains(queues, q.Index) {
			queues = append(queues, q.Index)
		}
	}
	slices.Sort(queues)
	return queues, set
}
