package rtmp

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"snag/internal/rtmp"
	"snag/probes/streams/stream"
)

// tags gives the messages of an FLV file: its tags are RTMP's messages (E.4.1).
func tags(t *testing.T, name string) (out []*rtmp.Message) {
	t.Helper()
	b, err := os.ReadFile("testdata/flv/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for b = b[13:]; len(b) >= 15; {
		size := int(b[1])<<16 | int(b[2])<<8 | int(b[3])
		m := &rtmp.Message{Head: b[11 : 11+size]}
		m.Type, m.Length = b[0], uint32(size)
		m.Timestamp = uint32(b[7])<<24 | binary.BigEndian.Uint32(b[3:])&0xffffff
		out = append(out, m)
		b = b[11+size+4:]
	}
	return out
}

// What ffmpeg 8.1.2 publishes: its FLV of half a second each (-t 0.5, 64x64), and its
// ffprobe's packets of the first two tracks (-show_entries packet=codec_type,pts,dts,
// size,flags -of csv=p=0). In two-tracks.flv there are two of HEVC and two of AAC.
func TestMessagesOfFFmpeg8(t *testing.T) {
	for _, c := range []struct {
		name         string
		video, audio stream.Params
	}{
		{"hevc-aac", stream.Params{Codec: "hevc", Width: 64, Height: 64, FPS: 25}, stream.Params{Codec: "aac", SampleRate: 48000, Channels: 2}},
		{"av1-opus", stream.Params{Codec: "av1", Width: 64, Height: 64, FPS: 25}, stream.Params{Codec: "opus", SampleRate: 48000, Channels: 2}},
		{"vp9-ac3", stream.Params{Codec: "vp9", Width: 64, Height: 64, FPS: 25}, stream.Params{Codec: "ac3", SampleRate: 48000, Channels: 2}},
		{"h264-eac3", stream.Params{Codec: "h264", Width: 64, Height: 64, FPS: 25}, stream.Params{Codec: "eac3", SampleRate: 48000, Channels: 2}},
		{"h264-flac", stream.Params{Codec: "h264", Width: 64, Height: 64, FPS: 25}, stream.Params{Codec: "flac", SampleRate: 48000, Channels: 2}},
		{"two-tracks", stream.Params{Codec: "hevc", Width: 64, Height: 64, FPS: 25}, stream.Params{Codec: "aac", SampleRate: 48000, Channels: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d Media
			s := &seen{}
			for _, m := range tags(t, c.name+".flv") {
				d.Message(m, 1, s)
			}
			var got []string
			for _, f := range s.frames {
				key := "___"
				if f.Key {
					key = "K__"
				}
				got = append(got, fmt.Sprintf("%s,%d,%d,%d,%s", f.Kind, f.PTS/1e6, f.DTS/1e6, f.Size, key))
			}
			b, err := os.ReadFile("testdata/flv/" + c.name + ".ffprobe")
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Fields(string(b))
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%d frames:\n%s\nffprobe, %d:\n%s", len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
			}
			told := map[stream.Kind]stream.Params{}
			for _, p := range s.params {
				told[p.Kind] = p
			}
			c.audio.Kind = stream.Audio
			if told[stream.Video] != c.video || told[stream.Audio] != c.audio {
				t.Errorf("%+v, want %+v and %+v", told, c.video, c.audio)
			}
		})
	}
}
