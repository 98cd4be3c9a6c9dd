package flv

import (
	"encoding/binary"

	"snag/internal/amf"
	"snag/probes/streams/stream"
)

// Meta reads onMetaData (E.5) from the values of a data message: what the sender
// declares of its tracks. ok is false where it is another message.
func Meta(values []any) (video, audio stream.Params, ok bool) {
	video.Kind, audio.Kind = stream.Video, stream.Audio
	for len(values) > 0 && values[0] == "@setDataFrame" { // a publisher's wrapping
		values = values[1:]
	}
	if len(values) < 2 || values[0] != "onMetaData" {
		return video, audio, false
	}
	o, ok := values[1].(amf.Object)
	if !ok {
		return video, audio, false
	}
	video.Codec = codecOf(o.Get("videocodecid"), videoCodecs[:])
	video.Width, video.Height = whole(o, "width", 1<<16), whole(o, "height", 1<<16)
	for _, name := range []string{"framerate", "videoframerate", "fps"} {
		if v, ok := o.Number(name); ok && v > 0 && v <= 1000 && video.FPS == 0 {
			video.FPS = v
		}
	}
	audio.Codec = codecOf(o.Get("audiocodecid"), audioCodecs[:])
	audio.SampleRate = whole(o, "audiosamplerate", 1<<20)
	audio.Channels = whole(o, "audiochannels", 255)
	if stereo, ok := o.Get("stereo").(bool); ok && audio.Channels == 0 {
		audio.Channels = 1
		if stereo {
			audio.Channels = 2
		}
	}
	return video, audio, true
}

// codecOf reads a codec id: a number of the legacy list, or a FourCC as text or
// as a number (Enhanced RTMP v2, "Metadata Frame").
func codecOf(v any, legacy []string) string {
	switch v := v.(type) {
	case string:
		return fourCC[v]
	case float64:
		if v >= 0 && v < float64(len(legacy)) {
			return legacy[int(v)]
		}
		if v > 0 && v < 1<<32 {
			return fourCC[string(binary.BigEndian.AppendUint32(nil, uint32(v)))]
		}
	}
	return ""
}

// whole is a count that makes sense, else 0.
func whole(o amf.Object, name string, most float64) int {
	if v, ok := o.Number(name); ok && v >= 1 && v <= most {
		return int(v)
	}
	return 0
}
