package lab

import (
	"fmt"
	"path/filepath"
	"time"
)

// NoBaseline makes Baseline do nothing: for tests, whose binary is no snag.
func (s *Stage) NoBaseline() { s.opts.noBaseline = true }

// Baseline records how it is now, while all is well: the find that judges the
// incident is told to compare with it.
func (s *Stage) Baseline(d time.Duration) {
	if s.Err() != nil || s.opts.noBaseline {
		return
	}
	dir := filepath.Join(s.dir, "baseline")
	if s.opts.Out != "" {
		dir = BaselineOf(s.opts.Out)
	}
	if s.opts.Snag == "" {
		s.fail(errNoSnag)
		return
	}
	p := s.Run("", "find-baseline", []string{s.opts.Snag, "find", "--quiet", "--for", d.String(), "--out", dir}, MayEnd())
	if s.Err() != nil {
		return
	}
	s.opts.Log("recording a baseline for %v", d)
	select {
	case <-p.done:
	case <-s.ctx.Done():
		s.fail(s.ctx.Err())
		return
	case <-time.After(d + time.Minute):
		s.fail(fmt.Errorf("lab: the baseline of %v has not ended a minute after it should", d))
		return
	}
	if code := p.state.ExitCode(); code != 0 && code != 10 && code != 11 {
		s.fail(fmt.Errorf("lab: record a baseline: %v: %s", p.state, p.tail()))
		return
	}
	s.baseline = dir
}

// BaselineOf is where the baseline of a recording lies, if the incident has one.
func BaselineOf(out string) string { return out + ".baseline" }
