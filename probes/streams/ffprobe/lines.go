package ffprobe

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	numbers "snag/internal/ffprobe"
	"snag/probes/streams/stream"
)

// packet is one line of -show_packets.
type packet struct {
	kind     stream.Kind
	index    int
	pts, dts int64 // ns
	timed    bool  // it has a DTS or a PTS
	size     int
	key      bool
}

var (
	head      = []byte("packet|")
	codecType = []byte("codec_type")
	index     = []byte("stream_index")
	ptsTime   = []byte("pts_time")
	dtsTime   = []byte("dts_time")
	sizeName  = []byte("size")
	flags     = []byte("flags")
)

// parse reads a line of the compact writer; ok is false for any other.
func parse(line []byte) (p packet, ok bool) {
	line, ok = bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), head)
	if !ok {
		return p, false
	}
	p.kind, p.index, p.size = stream.Data, -1, -1
	var pts, dts bool
	for len(line) > 0 {
		var field []byte
		field, line, _ = bytes.Cut(line, []byte{'|'})
		name, value, _ := bytes.Cut(field, []byte{'='})
		switch {
		case bytes.Equal(name, codecType):
			switch string(value) {
			case "video":
				p.kind = stream.Video
			case "audio":
				p.kind = stream.Audio
			}
		case bytes.Equal(name, index):
			p.index = numbers.Number(value)
		case bytes.Equal(name, sizeName):
			p.size = numbers.Number(value)
		case bytes.Equal(name, ptsTime):
			p.pts, pts = numbers.Seconds(value)
		case bytes.Equal(name, dtsTime):
			p.dts, dts = numbers.Seconds(value)
		case bytes.Equal(name, flags):
			p.key = len(value) > 0 && value[0] == 'K'
		}
	}
	switch {
	case pts && !dts:
		p.dts = p.pts
	case dts && !pts:
		p.pts = p.dts
	}
	p.timed = pts || dts
	return p, p.index >= 0 && p.size >= 0
}

// told are the parameters in a line of ffprobe's log:
//
//	Stream #0:0[0x100]: Video: h264 (High) ([27][0][0][0] / 0x001B), yuv420p(progressive), 320x240 [SAR 1:1 DAR 4:3], 25 fps, 25 tbr, 90k tbn
//	Stream #0:1[0x101](eng): Audio: aac (LC) ([15][0][0][0] / 0x000F), 44100 Hz, mono, fltp, 69 kb/s
var told = regexp.MustCompile(`^\s*Stream #\d+:(\d+)[^ ]*: (Video|Audio): (\w+)(.*)$`)

var (
	sides    = regexp.MustCompile(`[ ,](\d{1,5})x(\d{1,5})[ ,\[]`)
	fps      = regexp.MustCompile(`, ([\d.]{1,10}) fps`)
	hertz    = regexp.MustCompile(`, (\d{1,7}) Hz, (\w+(?:\.\d)?)`)
	layouts  = map[string]int{"mono": 1, "stereo": 2, "2.1": 3, "3.0": 3, "4.0": 4, "quad": 4, "5.0": 5, "5.1": 6, "6.1": 7, "7.1": 8}
	ourNames = map[string]string{"pcm_alaw": "pcma", "pcm_mulaw": "pcmu", "mp3float": "mp3"}
)

func parameters(line string) (p stream.Params, index int, ok bool) {
	m := told.FindStringSubmatch(line)
	if m == nil {
		return p, 0, false
	}
	index = numbers.Number([]byte(m[1]))
	p.Codec = m[3]
	if ours, has := ourNames[p.Codec]; has {
		p.Codec = ours
	}
	rest := m[4] + " "
	if m[2] == "Audio" {
		p.Kind = stream.Audio
		if h := hertz.FindStringSubmatch(rest); h != nil {
			p.SampleRate, _ = strconv.Atoi(h[1])
			p.Channels = layouts[strings.TrimSuffix(h[2], "(side)")]
		}
		return p, index, index >= 0
	}
	if s := sides.FindStringSubmatch(rest); s != nil {
		p.Width, _ = strconv.Atoi(s[1])
		p.Height, _ = strconv.Atoi(s[2])
	}
	if f := fps.FindStringSubmatch(rest); f != nil {
		p.FPS, _ = strconv.ParseFloat(f[1], 64)
	}
	return p, index, index >= 0
}
