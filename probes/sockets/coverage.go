package sockets

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/probes/probe"
	"snag/probes/sockets/option"
	"snag/recording"
)

const curePtrace = "run as root, or give the binary CAP_SYS_PTRACE"

// announce writes what can and what can't be measured when the probe starts, so
// that a recording that is cut off has it, again as it runs, and when it ends.
func (r *running) announce() {
	for _, c := range r.coverage() {
		r.env.Sink.Append(c)
	}
}

func (r *running) coverage() []recording.Coverage {
	var out []recording.Coverage
	for _, m := range slices.Concat(measures, crowdMeasures) {
		c := recording.Coverage{
			Probe: m, State: recording.CoverageOK, Since: r.ledger.since,
			Late: r.ledger.worst.Seconds(), Cost: r.ledger.cost[m], Lost: r.ledger.lost[m],
		}
		r.fill(&c)
		if c.Lost > 0 && c.State == recording.CoverageOK {
			c.State = recording.CoveragePartial
			c.Why = fmt.Sprintf("%d events were not counted: their table was full, or the rows of a second were too many", c.Lost)
		}
		if err := r.ledger.errs[m]; err != nil && c.State != recording.CoverageUnavailable {
			c.State, c.Why = recording.CoverageFailed, err.Error()
		}
		out = append(out, c)
	}
	return out
}

// kernelTables is the measure of each table of the kernel side, as enum table.
var kernelTables = map[string]int{
	"sockets.connections": 0, "sockets.resets": 1, "sockets.retransmits": 2, "sockets.signals": 3, "sockets.holds": 4,
	"sockets.turns": 5, "sockets.errors": 6, "sockets.queries": 7, "sockets.dns": 8,
}

func (r *running) fill(c *recording.Coverage) {
	switch c.Probe {
	case "sockets.diag":
		r.fillDiag(c)
	case "sockets.ports", "sockets.half-open":
		if why, cure := r.survey.unseen(); why != "" {
			partial(c, why, cure)
		}
	case "sockets.unix":
		r.fillUnix(c)
	case "sockets.owner":
		if n := r.book.owners.Hidden(); n > 0 {
			partial(c, fmt.Sprintf("the descriptors of %d processes can't be read: their sockets have no owner", n), curePtrace)
		}
	case "sockets.options":
		r.fillOptions(c)
	default:
		r.fillKernel(c)
		if c.Probe == "sockets.errors" && c.State == recording.CoverageOK {
			r.fillErrors(c)
		}
		if c.Probe == "sockets.turns" && r.missed.seconds > 0 && c.State == recording.CoverageOK {
			partial(c, fmt.Sprintf("of HTTP/2 some requests were not seen in %d seconds, at %s the last: rows that have missed connections are a lower bound", r.missed.seconds, r.missed.last), "")
		}
		if r.slices != nil && inPart[c.Probe] {
			r.fillSlices(c, r.slices.Account())
		}
	}
}

// inPart are the measures of the programs that are attached in slices.
var inPart = map[string]bool{"sockets.turns": true, "sockets.holds": true, "sockets.queries": true, "sockets.errors": true, "sockets.dns": true}

// fillSlices says for how much of the time they were attached.
func (r *running) fillSlices(c *recording.Coverage, a probe.SliceAccount) {
	if a.Whole() || c.State == recording.CoverageUnavailable {
		return
	}
	why := a.Text()
	if c.Probe == "sockets.errors" {
		why = "what send and receive return: " + why
	}
	if c.Why != "" {
		why += "; " + c.Why
	}
	c.Share = a.Share()
	partial(c, why, c.Cure)
	if a.Err != nil {
		c.State, c.Why = recording.CoverageFailed, a.Err.Error()
	}
}

// fillErrors says what of the errors is not seen all the time.
func (r *running) fillErrors(c *recording.Coverage) {
	if l := r.kernel.lacks["sockets.turns"]; l != nil {
		partial(c, "errors that send and receive return are not seen, only those that the kernel puts on sockets: "+l.Why, l.Cure)
		return
	}
	c.Why = "what other calls return was not looked at, as no process was seen near its limit of descriptors or of ports, or with connects that fail, no UNIX socket near its backlog, no file system full, and no answer was an error or missing"
	if r.exits.seconds > 0 {
		c.Why = fmt.Sprintf("what other calls return was looked at for %.0f s: of %d processes near a limit what wants a descriptor or a port, and of all processes calls on files, and what connect says of a full backlog", r.exits.seconds, len(r.exits.pids))
	}
}

func (r *running) fillDiag(c *recording.Coverage) {
	if why, cure := r.survey.unseen(); why != "" {
		partial(c, why, cure)
		return
	}
	c.Lost += r.skipped + r.closed
	if c.Lost > 0 {
		partial(c, fmt.Sprintf("%d rows of watched sockets and %d events of closed ones were left out: too many per second", r.skipped, r.closed),
			"name a target: --pid, --port or --netns")
	}
}

func (r *running) fillOptions(c *recording.Coverage) {
	caps, err := kernel.Capabilities(r.env.Proc)
	switch {
	case r.refused != nil:
		unavailable(c, r.refused.Error(), "")
	case err == nil && !caps.Has(unix.CAP_SYS_PTRACE):
		unavailable(c, "reading the options of other processes' sockets: this process has no CAP_SYS_PTRACE", option.ErrNotPermitted.Error())
	case r.asked == mostAsked:
		partial(c, fmt.Sprintf("only the first %d interesting sockets were asked", mostAsked), "")
	}
}

func (r *running) fillKernel(c *recording.Coverage) {
	lack := r.lack
	if r.kernel != nil {
		lack = r.kernel.lacks[c.Probe]
		c.Lost += r.ledger.full[kernelTables[c.Probe]]
	}
	if lack != nil {
		unavailable(c, lack.Why, lack.Cure)
	}
}

func partial(c *recording.Coverage, why, cure string) {
	c.State, c.Why, c.Cure = recording.CoveragePartial, why, cure
}

func unavailable(c *recording.Coverage, why, cure string) {
	c.State, c.Why, c.Cure = recording.CoverageUnavailable, why, cure
	c.Since = 0
}
