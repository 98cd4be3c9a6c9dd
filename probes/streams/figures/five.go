package figures

// fiveSums gathers five seconds.
type fiveSums struct {
	run, last Five
}

// add takes a second and returns the last whole five.
func (f *fiveSums) add(s *Second) Five {
	r := &f.run
	if r.Length == 0 {
		*r = Five{T: s.T}
	}
	r.Length += s.Length
	r.Video.add(s.Video, s.Length)
	r.Audio.add(s.Audio, s.Length)
	r.Gap, r.Missing, r.Doubt = max(r.Gap, s.Gap.V), r.Missing+s.Missing, r.Doubt || s.Doubt
	if s.Drift.OK && (!r.Drift.OK || s.Drift.V > r.Drift.V) {
		r.Drift = s.Drift
	}
	f.last.New = false
	if r.Length >= 5-seconds(tickSlack) {
		r.Video.rate()
		r.Audio.rate()
		r.New = true
		f.last, f.run = *r, Five{}
	}
	return f.last
}

func (s *Sum) add(t Track, length float64) {
	s.Frames += t.Frames
	s.Keys += t.Keys
	s.Bytes += t.Bytes
	if t.FPS.OK {
		s.rated += length
		s.frames += t.FPS.V * length
		s.bits += t.Bitrate.V * length
	}
}

func (s *Sum) rate() {
	s.FPS, s.Bitrate = ratio(s.frames, s.rated), ratio(s.bits, s.rated)
}
