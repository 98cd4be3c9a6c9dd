package sound

import (
	"context"
	"fmt"

	"snag/probes/streams/codec"
	"snag/probes/streams/decoder"
	"snag/probes/streams/stream"
)

// mostDecoded is how much of the bytes is decoded, seconds: a reader keeps one.
const mostDecoded = "4"

// formats are ffmpeg's names of the byte streams.
var formats = map[string]string{
	codec.AAC: "aac", codec.LATM: "loas", codec.MP2: "mp3", codec.MP3: "mp3", codec.AC3: "ac3", codec.EAC3: "eac3", codec.PCMA: "alaw", codec.PCMU: "mulaw",
}

// Decode has ffmpeg decode audio, and tells its loudest sample, of any channel. It is not made mono
// nor of a lower rate: channels may cancel each other, and high tones would be lost.
func Decode(ctx context.Context, s stream.Sound) (Level, error) {
	format, ok := formats[s.Codec]
	if !ok {
		return 0, fmt.Errorf("audio of codec %s is not decoded", s.Codec)
	}
	argv := []string{"-f", format}
	if s.Codec == codec.PCMA || s.Codec == codec.PCMU {
		argv = append(argv, "-ar", fmt.Sprint(s.SampleRate), "-ac", fmt.Sprint(s.Channels))
	}
	var out loudest
	_, err := decoder.Run(ctx, "audio", s.Bytes, &out, func() bool { return out.n > 0 }, append(argv, "-i", "pipe:0", "-vn", "-t", mostDecoded, "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1")...)
	return out.level, err
}

// loudest is the loudest of the samples of 16 bits, little endian, that are written to it. It keeps
// none of them.
type loudest struct {
	level Level
	n     int
	low   byte // of a sample that came in two parts
	half  bool
}

func (w *loudest) Write(b []byte) (int, error) {
	for _, v := range b {
		if w.half = !w.half; w.half {
			w.low = v
			continue
		}
		sample := Level(int16(uint16(v)<<8 | uint16(w.low)))
		w.level, w.n = max(w.level, sample, -sample), w.n+1
	}
	return len(b), nil
}
