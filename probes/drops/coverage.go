package drops

import (
	"fmt"

	"snag/recording"
)

// coverage appends a row for the probe and for each of its measures. The last
// ones written count.
func (r *running) coverage() {
	for _, c := range r.rows() {
		c.Since = r.since
		c.Late = r.late.Seconds()
		r.env.Sink.Append(c)
	}
}

func (r *running) rows() []recording.Coverage {
	lost := r.sweep.lost
	whole := recording.Coverage{Probe: "drops", State: recording.CoverageOK, Lost: lost[lostDrops], Cost: r.cost}
	switch {
	case r.failed != nil:
		whole.State, whole.Why = recording.CoverageFailed, r.failed.Error()
	case whole.Lost > 0:
		whole.State, whole.Why = recording.CoveragePartial, fmt.Sprintf("%d drops could not be counted", whole.Lost)
	case r.hidden != nil:
		whole.State, whole.Why = recording.CoveragePartial, "places are addresses: "+r.hidden.Error()
	}
	count := whole
	count.Probe, count.Cost = "drops.kfree_skb", 0
	if count.State == recording.CoverageOK && lost[lostFlows] > 0 {
		count.State = recording.CoveragePartial
		count.Why = fmt.Sprintf("%d drops were counted without their ports and socket: too many flows at once", lost[lostFlows])
	}
	return []recording.Coverage{whole, count, r.reasonRow(), r.socketRow(), r.stacksRow()}
}

func (r *running) reasonRow() recording.Coverage {
	if !r.l.hasReason {
		return recording.Coverage{
			Probe: "drops.reason", State: recording.CoverageUnavailable,
			Why:  "this kernel gives no reason with a drop: place and stack only",
			Cure: "use a kernel from 5.17 on",
		}
	}
	return recording.Coverage{Probe: "drops.reason", State: recording.CoverageOK}
}

func (r *running) socketRow() recording.Coverage {
	c := recording.Coverage{Probe: "drops.socket", State: recording.CoverageOK}
	switch {
	case !r.l.hasSocket:
		c.State = recording.CoverageUnavailable
		c.Why = "this kernel does not say which socket a received packet was for: addresses and ports only"
		c.Cure = "use a kernel from 6.11 on"
	case r.notFound > 0 && r.owners.unreadable > 0:
		c.State = recording.CoveragePartial
		c.Why = fmt.Sprintf("the process behind the socket of %d drops is not known: the descriptors of %d processes could not be read", r.notFound, r.owners.unreadable)
		c.Cure = "run as root, or add CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"
	case r.notFound > 0:
		c.State = recording.CoveragePartial
		c.Why = fmt.Sprintf("the process behind the socket of %d drops was gone, or not accepted it yet, when it was looked for", r.notFound)
	}
	return c
}

func (r *running) stacksRow() recording.Coverage {
	c := recording.Coverage{Probe: "drops.stacks", State: recording.CoverageOK, Lost: r.sweep.lost[lostStacks] + r.noStacks}
	switch {
	case r.hidden != nil:
		c.State, c.Why = recording.CoverageUnavailable, r.hidden.Error()
	case c.Lost > 0:
		c.State, c.Why = recording.CoveragePartial, "stacks of different paths fell into one slot"
	}
	return c
}
