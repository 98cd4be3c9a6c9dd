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
	r.Video.add(s.Video)
	r.Audio.add(s.Audio)
	r.Gap, r.Missing, r.Doubt = max(r.Gap, s.Gap.V), r.Missing+s.Missing, r.Doubt || s.Doubt
	if s.Drift.OK && (!r.Drift.OK || s.Drift.V > r.Drift.V) {
		r.Drift = s.Drift
	}
	f.last.New = false
	if r.Length >= 5-seconds(tickSlack) {
		r.Video.over(r.Length)
		r.Audio.over(r.Length)
		r.New = true
		f.last, f.run = *r, Five{}
	}
	return f.last
}

func (s *Sum) add(t Track) {
	s.Frames += t.Frames
	s.Keys += t.Keys
	s.Bytes += t.Bytes
}

func (s *Sum) over(length float64) {
	s.FPS, s.Bitrate = float64(s.Frames)/length, float64(s.Bytes)*8/length
}
