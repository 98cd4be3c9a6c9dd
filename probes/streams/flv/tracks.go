package flv

import "snag/probes/streams/stream"

// Tracks joins what a stream says of itself: its metadata, its sequence headers,
// the heads of its tags. A sequence header is what is decoded and wins, but for
// the frame rate: the sender's word stands over the bitstream's timing, which is
// a clock and not a rate where the rate varies (H.264 E.2.1).
type Tracks struct {
	meta, config, said [2]stream.Params // by Kind: Video, Audio
}

// Meta takes what the metadata declares.
func (t *Tracks) Meta(video, audio stream.Params) {
	t.meta[stream.Video], t.meta[stream.Audio] = video, audio
}

// Config takes what a sequence header says; it holds for tags of its codec.
func (t *Tracks) Config(p stream.Params) {
	if p.Kind <= stream.Audio {
		t.config[p.Kind] = p
	}
}

// Changed returns the parameters of a kind whose tag just came, and whether they
// differ from what was returned before.
func (t *Tracks) Changed(tag Tag) (stream.Params, bool) {
	k := tag.Kind
	if k > stream.Audio {
		return stream.Params{}, false
	}
	c, m := t.config[k], t.meta[k]
	if c.Codec != tag.Codec {
		c = stream.Params{}
	}
	p := stream.Params{
		Kind:       k,
		Codec:      first(tag.Codec, m.Codec),
		Width:      first(c.Width, m.Width),
		Height:     first(c.Height, m.Height),
		FPS:        first(m.FPS, c.FPS),
		SampleRate: first(c.SampleRate, tag.SampleRate, m.SampleRate),
		Channels:   first(c.Channels, tag.Channels, m.Channels),
	}
	if p == t.said[k] {
		return p, false
	}
	t.said[k] = p
	return p, true
}

func first[T comparable](values ...T) (v T) {
	for _, x := range values {
		if x != v {
			return x
		}
	}
	return v
}
