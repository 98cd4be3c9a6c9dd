package figures

import "snag/recording"

// skips gathers what DTS did beyond going on evenly: a second's skips are one
// event, its jumps another, so that a stream of nothing else does not flood.
type skips struct {
	// A step is judged once the next one is known: by a capture clock a long one
	// stands beside a short one and nothing is missing.
	held     int64 // the step to be judged; 0: none
	heldFrom int64 // arrivals of the frames before and after it
	heldTo   int64
	before   int64 // the step before it

	missing, steps int
	longest        int64
	from, to       int64
	doubt          bool // a step may be the observer's own loss

	jumps            int
	jump             int64 // the largest, by its size
	jumpFrom, jumpTo int64

	back, on uint16 // of the last 256 steps, those back and those on: reordered?
}

// stepped takes the DTS step of a frame.
func (m *Meter) stepped(v moved) {
	s := &m.skips
	if s.back+s.on == 256 {
		s.back, s.on = s.back/2, s.on/2
	}
	if v.step < 0 {
		s.back++
		m.sec.back++
	} else {
		s.on++
	}
	if v.jumped || v.step < 0 && !s.reordered() {
		s.addJump(v)
	}
	if v.jumped {
		m.judgeStep(0)
		s.held = 0
		return
	}
	m.judgeStep(v.step)
	if v.step < 0 {
		s.held = 0
		return
	}
	m.steps.add(v.step)
	s.before, s.held, s.heldFrom, s.heldTo = s.held, v.step, v.at-v.gap, v.at
}

// reordered says that DTS going back is what this stream does: frames are told in
// coding order with the time that they are shown at.
func (s *skips) reordered() bool { return s.back >= 3 && int(s.back)*20 > int(s.on) }

func (s *skips) addJump(v moved) {
	if s.jumps == 0 {
		s.jumpFrom = v.at
	}
	s.jumps++
	s.jumpTo = v.at
	if abs(v.step) > abs(s.jump) {
		s.jump = v.step
	}
}

func abs(v int64) int64 { return max(v, -v) }

// judgeStep counts what the held step leaves out, now that the next is known (0
// for not).
func (m *Meter) judgeStep(next int64) {
	s := &m.skips
	n := m.steps.missing(s.held)
	if s.held == 0 || n == 0 {
		return
	}
	short := m.steps.typical * 3 / 4
	for _, beside := range [2]int64{s.before, next} {
		if beside > 0 && beside < short {
			n = min(n, m.steps.missing(s.held+beside-m.steps.typical))
		}
	}
	if n == 0 {
		return
	}
	if s.steps == 0 {
		s.from = s.heldFrom
	}
	s.steps++
	s.missing += n
	s.to, s.longest = s.heldTo, max(s.longest, s.held)
	if m.missed.touches(s.heldFrom, s.heldTo) {
		s.doubt, m.sec.doubt = true, true
		return // what the observer missed is not what the stream lacks
	}
	m.sec.missing += n
	m.total.Missing += uint64(n)
}

// flushSteps tells the second's skips and jumps.
func (m *Meter) flushSteps() {
	s := &m.skips
	if s.steps > 0 {
		late := m.late.within(s.from, s.to)
		m.queue.tell(Event{
			ID: m.queue.id(), Kind: recording.EventStreamSkipped, Start: s.from, End: s.to, Of: m.main,
			Value: float64(s.missing), Unit: "frames", Step: known(seconds(s.longest)), Steps: s.steps,
			ObserverLate: seconds(late), Missed: seconds(m.missed.within(s.from, s.to)), Doubt: s.doubt || m.own.any(),
		})
	}
	if s.jumps > 0 {
		m.sec.jumps += s.jumps
		m.queue.tell(Event{
			ID: m.queue.id(), Kind: recording.EventStreamJump, Start: s.jumpFrom, End: s.jumpTo, Of: m.main,
			Value: seconds(s.jump), Unit: "seconds", Step: known(seconds(s.jump)), Steps: s.jumps,
			Doubt: m.missed.touches(s.jumpFrom, s.jumpTo),
		})
	}
	s.missing, s.steps, s.longest, s.jumps, s.jump, s.doubt = 0, 0, 0, 0, 0, false
}
