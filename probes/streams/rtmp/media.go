package rtmp

import (
	"snag/internal/amf"
	"snag/internal/rtmp"
	"snag/probes/streams/flv"
	"snag/probes/streams/stream"
)

// Media turns messages of one stream into frames and parameters. The zero value
// is ready. It is for one message stream, in the order of arrival.
type Media struct {
	Keys   stream.Keys   // takes key pictures whole; nil: nobody
	Sounds stream.Sounds // takes audio; nil: nobody
	sets   sets
	heard  heard
	clock  flv.Clock
	tracks flv.Tracks
	follow [2]track
}

// track is the one that is followed of several (Enhanced RTMP v2, multitrack): the
// first that came.
type track struct {
	id  uint8
	set bool
}

// Message gives what m is to sink, with the arrival of its last byte (monotonic
// ns), and reports whether it belongs to a stream that is there: audio, video or
// metadata.
func (d *Media) Message(m *rtmp.Message, at int64, sink stream.Sink) bool {
	var tag flv.Tag
	var ok bool
	switch m.Type {
	case rtmp.TypeVideo:
		tag, ok = flv.Video(m.Head, int(m.Length))
	case rtmp.TypeAudio:
		tag, ok = flv.Audio(m.Head, int(m.Length))
	case rtmp.TypeDataAMF0, rtmp.TypeDataAMF3:
		return d.meta(m)
	default:
		return false
	}
	if !ok || m.Cut && tag.Config {
		return ok
	}
	if !d.mine(tag) {
		return true
	}
	if tag.Config {
		d.remember(tag)
		if p, err := config(tag); err == nil {
			p.Kind, p.Codec = tag.Kind, tag.Codec
			d.tracks.Config(p)
		}
	}
	if p, changed := d.tracks.Changed(tag); changed {
		sink.Params(p)
	}
	if tag.Frame {
		dts := d.clock.NS(m.Timestamp)
		f := stream.Frame{Kind: tag.Kind, Key: tag.Key, Arrival: at, DTS: dts, PTS: dts + tag.Offset, Size: tag.Size}
		if !m.Cut {
			f.Mark = tag.Mark()
		}
		sink.Frame(f)
		if tag.Kind == stream.Audio {
			d.hear(m, dts, at)
		} else {
			d.whole(m, at)
		}
	}
	return true
}

func (d *Media) mine(tag flv.Tag) bool {
	f := &d.follow[tag.Kind]
	if !f.set {
		*f = track{tag.Track, true}
	}
	return f.id == tag.Track
}

// meta remembers what the metadata says; sink is told with the next tag of the
// kind, as metadata may speak of tracks that are not there.
func (d *Media) meta(m *rtmp.Message) bool {
	values, _ := amf.Decode(m.Body()) // what came before a broken value counts
	video, audio, ok := flv.Meta(values)
	if ok {
		d.tracks.Meta(video, audio)
	}
	return ok
}
