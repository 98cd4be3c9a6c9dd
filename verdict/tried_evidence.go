package verdict

import (
	"fmt"
	"slices"
	"strings"

	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// about is what the experiments on one service say of one cause.
type about struct {
	*service
	subject recording.Subject // the service, or snag itself where it is this host's part
	span    recording.Interval
	// struck are the suspects of snag eliminate that were ruled out, left those that were found or stay open
	// with this cause first, others those with another cause first, unknown those that were not measured.
	struck, left, others, unknown []piece
	taken                         bool // a finding of the host's own probes has it as evidence
}

// piece is one suspect of one experiment.
type piece struct {
	row recording.Experiment
	recording.ExperimentSuspect
}

// abouts are what experiments say of a cause: of each service, and of snag itself.
func abouts(cause string, all []*service) (out []*about) {
	for _, x := range all {
		if x.busy != "" {
			continue
		}
		for _, client := range []bool{false, true} {
			a := &about{service: x, subject: x.subject}
			if client {
				a.subject = recording.Subject{Kind: recording.KindObserver}
			}
			for _, row := range x.rows {
				for _, one := range row.Suspects {
					if one.Client == client && slices.Contains(one.Clears, cause) {
						a.add(piece{row, one}, cause)
					}
				}
			}
			if a.span.Start != 0 || len(a.unknown) > 0 {
				out = append(out, a)
			}
		}
	}
	return out
}

func (a *about) add(p piece, cause string) {
	switch {
	case p.State == recording.NotMeasured, p.row.NotDone != "" && p.State != recording.FoundBy:
		a.unknown = append(a.unknown, p)
		return
	case p.State == recording.StruckOff:
		a.struck = append(a.struck, p)
	case p.Cause == cause:
		a.left = append(a.left, p)
	default:
		a.others = append(a.others, p)
	}
	if a.span.Start == 0 || p.row.T < a.span.Start {
		a.span.Start = p.row.T
	}
	a.span.End = max(a.span.End, p.row.End)
}

// cleared: each suspect that can have this cause was ruled out.
func (a *about) cleared() bool {
	return len(a.struck) > 0 && len(a.left)+len(a.others)+len(a.unknown) == 0
}

// originTried: all experiments of a run are one origin. They ask the same service in the same minute.
const originTried = "snag eliminate"

// evidence of a side.
func (p piece) evidence(side suspect.Side) suspect.Evidence {
	e := suspect.Evidence{Side: side, Grade: suspect.Weak, Text: fmt.Sprintf("%s (%s): %s", p.row.Target, p.Suspect, p.Why), Origin: originTried,
		Source: source.Ofs("snag eliminate, experiment %s at %s UTC", p.row.Experiment, p.row.T.Wall().UTC().Format("15:04:05"))}
	switch {
	case p.Cost != nil:
		e.Value, e.Unit = *p.Cost, "s"
	case p.row.Number != nil:
		e.Value, e.Unit = *p.row.Number, p.row.Unit
	}
	switch {
	case side == suspect.For && p.Proves:
		e.Grade = suspect.Decisive
	case side == suspect.Against || p.State == recording.FoundBy:
		e.Grade = suspect.Strong
	}
	if side == suspect.Missing {
		why := p.Why
		if p.row.NotDone != "" {
			why = "the experiment did not run to its end: " + p.row.NotDone
		}
		e.Text, e.Value, e.Unit = fmt.Sprintf("%s (%s): %s", p.row.Target, p.Suspect, why), 0, ""
	}
	return e
}

// evidence is what all of it amounts to: for the cause where a suspect is left, against it where each is ruled out.
func (a *about) evidence() (out []suspect.Evidence) {
	for _, p := range a.left {
		out = append(out, p.evidence(suspect.For))
	}
	if a.cleared() {
		for _, p := range a.struck {
			out = append(out, p.evidence(suspect.Against))
		}
	}
	return out
}

// join adds the experiments to a finding of the same service at the same time, and returns those that it added.
func join(s *scene.Scene, f *suspect.Finding, all []*about) (with []*about) {
	for _, a := range all {
		overlaps := len(f.Active) == 0 || slices.ContainsFunc(f.Active, func(i recording.Interval) bool {
			return i.Start <= a.span.End && (i.End == 0 || i.End >= a.span.Start)
		})
		more := a.evidence()
		if len(more) == 0 || !overlaps || a.subject.Kind == recording.KindObserver || !a.is(s, f.Subject) {
			continue
		}
		f.Evidence = append(f.Evidence, more...)
		with = append(with, a)
	}
	return with
}

// taken marks experiments that are evidence of a finding: they get no entry of their own.
func taken(all []*about) {
	for _, a := range all {
		a.taken = true
	}
}

// whys are what pieces say, each once.
func whys(all []piece) string {
	var out []string
	for _, p := range all {
		if text := p.Why; !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, "; ")
}
