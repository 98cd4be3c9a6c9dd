package sockets

import (
	"fmt"
	"time"

	"snag/internal/kernel"
	"snag/probes/probe"
	"snag/recording"
)

// swap ends the kernel's current second; see inKernel.flip.
func (r *running) swap() (suffix string, epoch uint32) {
	if r.kernel == nil {
		return "", 0
	}
	if r.slices != nil {
		r.slices.Lock()
		defer r.slices.Unlock()
		r.part = r.measured(r.slices.Account())
	}
	if err := r.kernel.sweep(); err != nil {
		r.ledger.fail("sockets.turns", err)
	}
	r.ledger.charge("sockets.turns")
	suffix, epoch, err := r.kernel.flip()
	if err != nil {
		for _, m := range measures[3:] {
			r.ledger.fail(m, err)
		}
		return "", 0
	}
	return suffix, epoch
}

// measured is for how much of the time since the last swap the programs that run often
// measured, s; 0: all of it.
func (r *running) measured(now probe.SliceAccount) float64 {
	on, of := now.Measured-r.before.Measured, now.Of-r.before.Of
	r.before = now
	if of-on < time.Millisecond { // nothing rests for less
		return 0
	}
	return on.Seconds()
}

// drain reads and empties the tables that the kernel left at the last swap.
func (r *running) drain(suffix string, epoch uint32) {
	if suffix == "" {
		return
	}
	r.drainConnections(suffix, epoch)
	r.ledger.charge("sockets.connections")
	r.drainResets(suffix)
	r.ledger.charge("sockets.resets")
	r.drainRetransmits(suffix)
	r.ledger.charge("sockets.retransmits")
	r.drainSignals(suffix)
	r.ledger.charge("sockets.signals")
	r.drainHolds(suffix, epoch)
	r.ledger.charge("sockets.holds")
	r.drainTurns(suffix, epoch)
	r.ledger.charge("sockets.turns")
	r.drainErrors(suffix)
	r.traceExits()
	r.ledger.charge("sockets.errors")
	r.drainQueries(suffix)
	r.ledger.charge("sockets.queries")
	if took, err := kernel.Spent(r.kernel.maps.Maps["spent"], "sockets"); err == nil && r.env.Budget != nil {
		r.env.Budget.Took(probeName, took)
	}
	r.ledger.full = r.kernel.lost()
}

func (r *running) drainConnections(suffix string, epoch uint32) {
	var rows []recording.Connections
	err := kernel.Drain(r.kernel.maps.Maps["connections"+suffix], "sockets", func(k *kernelConnKey, v *kernelConnValue) {
		rows = append(rows, connectionRow(r.since, *k, *v, r.book))
	})
	if err == nil {
		err = r.kernel.cleared("conn_rows", epoch)
	}
	if err != nil {
		r.ledger.fail("sockets.connections", err)
	}
	r.denied = r.denied[:0]
	for _, row := range rows {
		if row.Role == "connect" && row.Failed >= fewDenied && row.PID != 0 {
			r.denied = append(r.denied, row.PID)
		}
	}
	for _, row := range foldConnections(rows, mostRows) {
		r.env.Sink.Append(row)
	}
}

func (r *running) drainResets(suffix string) {
	var rows []recording.Reset
	err := kernel.Drain(r.kernel.maps.Maps["resets"+suffix], "sockets", func(k *kernelResetKey, v *kernelCount) {
		rows = append(rows, resetRow(r.since, *k, *v, r.kernel.reasons, r.book))
	})
	if err != nil {
		r.ledger.fail("sockets.resets", err)
	}
	accepts := func(row recording.Reset) bool {
		_, ok := r.book.listener(row.Netns, row.Local)
		return ok
	}
	for _, row := range rows {
		r.first.reset(row, accepts(row))
	}
	rows, lost := foldResets(rows, mostRows, accepts)
	r.ledger.lose("sockets.resets", lost)
	for _, row := range rows {
		r.env.Sink.Append(row)
	}
}

func (r *running) drainRetransmits(suffix string) {
	var rows []recording.Retransmit
	err := kernel.Drain(r.kernel.maps.Maps["retransmits"+suffix], "sockets", func(k *kernelRetransmitKey, v *kernelCount) {
		rows = append(rows, retransmitRow(r.since, *k, *v, r.book))
	})
	if err != nil {
		r.ledger.fail("sockets.retransmits", err)
	}
	rows, lost := busiest(rows, mostRows, func(x recording.Retransmit) uint64 { return x.N })
	r.ledger.lose("sockets.retransmits", lost)
	for _, row := range rows {
		r.env.Sink.Append(row)
	}
}

func (r *running) drainSignals(suffix string) {
	var pipes, others []recording.Event // a storm is of broken pipes: who was killed does not go short for it
	err := kernel.Drain(r.kernel.maps.Maps["signals"+suffix], "sockets", func(k *kernelSignalKey, v *kernelSignalValue) {
		if e := signalEvent(r.env.Anchor, *k, *v); e.Attrs["signal"] == "SIGPIPE" {
			pipes = append(pipes, e)
		} else {
			others = append(others, e)
		}
	})
	if err != nil {
		r.ledger.fail("sockets.signals", err)
	}
	for _, events := range [][]recording.Event{others, pipes} {
		events, lost := busiest(events, mostRows, func(e recording.Event) uint64 { return uint64(e.Value) })
		r.ledger.lose("sockets.signals", lost)
		for _, e := range events {
			r.first.signal(e)
			r.env.Sink.Append(e)
		}
	}
}

// feltHold is a hold that is worth a closer look at its socket, seconds. Where
// the peer acknowledges at once a hold lasts microseconds (5–20 µs on loopback);
// a delayed ACK takes 40 ms (TCP_DELACK_MIN).
const feltHold = 0.001

func (r *running) drainHolds(suffix string, epoch uint32) {
	writers := r.kernel.maps.Maps["writers"]
	var rows []recording.Hold
	err := kernel.Drain(r.kernel.maps.Maps["holds"+suffix], "sockets", func(k *kernelHoldKey, v *kernelHold) {
		var w kernelWrites
		n := v.Writes
		if n == 0 && writers.Lookup(k.Sk, &w) == nil {
			n = writesIn(w, epoch)
		}
		row := holdRow(r.since, *v, n)
		row.Measured = r.part
		rows = append(rows, row)
	})
	if err != nil {
		r.ledger.fail("sockets.holds", err)
	}
	rows, lost := busiest(rows, mostRows, func(h recording.Hold) uint64 { return h.Held })
	r.ledger.lose("sockets.holds", lost)
	for _, row := range rows {
		if row.PID == r.env.SelfPID {
			continue
		}
		if row.HoldMax >= feltHold {
			r.held[row.Inode] = true
			r.env.Watch.Add(row.PID, fmt.Sprintf("%d small writes delayed on %s – %s", row.Held, row.Local, row.Remote))
		}
		r.env.Sink.Append(row)
	}
}

// writesIn are the writes of that epoch; the kernel keeps the last two.
func writesIn(w kernelWrites, epoch uint32) uint64 {
	switch w.At {
	case epoch:
		return uint64(w.Now)
	case epoch + 1:
		return uint64(w.Before)
	}
	return 0
}
