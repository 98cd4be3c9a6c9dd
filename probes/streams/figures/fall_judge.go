package figures

import (
	"snag/recording"
	"snag/recording/fell"
)

// judgeFall judges with the newest second.
func (m *Meter) judgeFall(now int64) {
	f := &m.falls
	if f.kind == "" {
		if len(f.frames) > fallHistory {
			f.drop(0, 1)
		}
		m.beginFall(now)
		return
	}
	if len(f.frames)-f.cut > fallGOP {
		f.drop(f.cut, f.cut+1)
	}
	n, rates, back := fell.Least, f.frames, fell.FrameRateBack
	if f.kind == recording.EventStreamBitsFell {
		n, rates, back = min(f.gop(), fallGOP), f.bytes, fell.BitRateBack
	}
	cut := len(rates) - n
	if cut < f.cut {
		return
	}
	f.now = min(f.now, fell.Mean(rates[cut:]))
	if f.good++; !back(f.base, rates[cut:]) {
		f.good = 0
	}
	if f.good >= fallGood {
		for cut = len(rates); cut > f.cut && back(f.base, rates[cut-1:cut]); cut-- {
		}
		at := now - int64(len(rates)-cut)*second
		if f.told {
			f.back = [2]int64{f.back[1], at}
		}
		m.endFall(at, "")
		f.drop(f.cut, cut)
	} else if !f.told && !f.often(now) {
		m.tellFall()
	}
}

func (m *Meter) beginFall(now int64) {
	f := &m.falls
	n := fell.Least
	if cut := len(f.frames) - n; cut >= fallBefore && fell.FrameRate(f.frames[:cut], f.frames[cut:]) {
		f.begin(recording.EventStreamRateFell, f.frames, cut, now)
	}
	n = f.gop()
	if cut := len(f.frames) - n; f.kind == "" && n <= fallGOP && cut >= max(fallBefore, n) &&
		fell.BitRate(f.bytes[:cut], f.bytes[cut:], f.frames[:cut], f.frames[cut:]) {
		f.begin(recording.EventStreamBitsFell, f.bytes, cut, now)
	}
	if f.kind != "" && !f.often(now) {
		m.tellFall()
	}
}

// begin begins a fall of a rate, from second cut on.
func (f *falls) begin(kind string, rates []float64, cut int, now int64) {
	f.kind, f.cut, f.from = kind, cut, now-int64(len(rates)-cut)*second
	f.base, f.now, f.good = fell.Mean(rates[:cut]), fell.Mean(rates[cut:]), 0
}

// gop is how many seconds have a key frame among them, Least at the least: a picture that hardly
// moves is key frames and little else.
func (f *falls) gop() int {
	most, run := 0, 0
	for _, key := range f.keys {
		if run++; key {
			most, run = max(most, run), 0
		}
	}
	return min(max(fell.Least, most, run), fallGOP+1)
}

// often reports whether the stream fell and came back twice of late.
func (f *falls) often(now int64) bool { return f.back[0] != 0 && now-f.back[0] < fallAgain }
