package figures

import "snag/probes/streams/stream"

// Info is what is known of the stream beside figures.
type Info struct {
	Asked, Published int64 // monotonic ns; 0: not let in (or no longer)
	First, Last      int64 // arrivals of the main kind's first and newest frame of this connection; 0: none
	Local, Remote    string
	Main             stream.Kind
	Video, Audio     stream.Params // as the stream says
	Seen             [2]bool       // frames came, by stream.Video, stream.Audio
	Limit            float64       // seconds: the freeze threshold
}

// Info tells it.
func (m *Meter) Info() Info {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := &m.track[m.main]
	v := Info{
		Asked: m.asked, Published: m.published, Local: m.local, Remote: m.remote, Main: m.main,
		Video: m.said[stream.Video], Audio: m.said[stream.Audio],
		Seen: [2]bool{m.track[0].any, m.track[1].any}, Limit: seconds(m.limit()),
	}
	if t.any {
		v.First, v.Last = t.first, t.last
	}
	return v
}
