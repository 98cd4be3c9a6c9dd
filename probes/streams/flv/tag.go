// Package flv reads the heads of FLV tags, which are also the audio, video and
// data messages of RTMP (Adobe, "Flash Video File Format" 10.1, annex E; veovera,
// "Enhanced RTMP" v2). It is pure and wants no more than a tag's first bytes.
package flv

import (
	"encoding/binary"

	"snag/probes/streams/stream"
)

// Tag is what the head of an audio or video tag says.
type Tag struct {
	Kind   stream.Kind
	Codec  string // by stream.Params' names; others by FLV's own; "" is not known
	Key    bool   // the tag says that a decoder can begin here
	Frame  bool   // there are coded samples in it
	Config bool   // it is a sequence header: Body is the codec's configuration record
	Track  uint8  // of enhanced multitrack; 0 is the default track
	Offset int64  // ns: PTS less DTS
	Size   int    // bytes of the elementary stream
	Body   []byte // what came of the elementary stream or the record, a part of the head
	// SampleRate (Hz) and Channels are of legacy audio, whose head has them; 0 for
	// AAC, which has its own, and for enhanced audio.
	SampleRate, Channels int
}

// Legacy codec ids (E.4.3.1, E.4.2.1). HEVC, AV1 and Opus as 12, 13 and 13 were
// never Adobe's: Asian CDNs and SRS use them.
var (
	videoCodecs = [16]string{2: "h263", 3: "screen", 4: "vp6", 5: "vp6a", 6: "screen2", 7: "h264", 12: "hevc", 13: "av1", 14: "vvc"}
	audioCodecs = [16]string{0: "pcm", 1: "adpcm", 2: "mp3", 3: "pcm", 4: "nellymoser", 5: "nellymoser", 6: "nellymoser",
		7: "pcma", 8: "pcmu", 10: "aac", 11: "speex", 13: "opus", 14: "mp3"}
)

// Video reads the head of a video tag of length bytes; ok is false where it is
// none that plays: too short, empty, or a command.
func Video(head []byte, length int) (t Tag, ok bool) {
	if len(head) == 0 || length < len(head) {
		return t, false
	}
	t.Kind = stream.Video
	frameType := head[0] >> 4 & 7
	t.Key = frameType == 1 || frameType == 4
	if head[0]&0x80 != 0 {
		return t.enhanced(head, length, frameType == 5)
	}
	if frameType == 5 { // a command to a player that seeks
		return t, false
	}
	id := head[0] & 0x0f
	t.Codec = videoCodecs[id]
	if id < 7 {
		return t.frame(head[1:], length-1)
	}
	if len(head) < 5 {
		return t, false
	}
	t.Offset = milliseconds(signed24(head[2:]))
	switch head[1] { // AVCPacketType
	case 0:
		return t.config(head[5:], length-5)
	case 1:
		return t.frame(head[5:], length-5)
	}
	return t, false // end of sequence
}

// Audio reads the head of an audio tag of length bytes.
func Audio(head []byte, length int) (t Tag, ok bool) {
	if len(head) == 0 || length < len(head) {
		return t, false
	}
	t.Kind, t.Key = stream.Audio, true
	format := head[0] >> 4
	if format == 9 {
		return t.enhanced(head, length, false)
	}
	t.Codec = audioCodecs[format]
	if format == 10 || format == 13 {
		if len(head) < 2 {
			return t, false
		}
		if head[1] == 0 && format == 10 {
			return t.config(head[2:], length-2)
		}
		return t.frame(head[2:], length-2)
	}
	t.SampleRate = [4]int{5512, 11025, 22050, 44100}[head[0]>>2&3]
	t.Channels = 1 + int(head[0]&1)
	switch format { // those with one rate (E.4.2.1)
	case 4, 11:
		t.SampleRate, t.Channels = 16000, 1
	case 5, 7, 8, 14:
		t.SampleRate = 8000
	}
	return t.frame(head[1:], length-1)
}

func (t Tag) frame(body []byte, size int) (Tag, bool) {
	t.Body, t.Size, t.Frame = body, size, size > 0
	return t, t.Frame
}

func (t Tag) config(body []byte, size int) (Tag, bool) {
	t.Body, t.Size, t.Config, t.Key = body, size, true, false
	return t, true
}

// Bytes of a picture that are summed: lengths of its first units, their heads, and what follows.
const (
	leastMarked = 16
	mostMarked  = 48
)

// Mark is a sum of a picture's first bytes; 0 where too few came. All that is kept of a picture is
// that head.
func (t Tag) Mark() uint32 {
	if t.Kind != stream.Video || len(t.Body) < leastMarked {
		return 0
	}
	h := uint32(2166136261) // FNV-1a
	for _, b := range t.Body[:min(len(t.Body), mostMarked)] {
		h = (h ^ uint32(b)) * 16777619
	}
	return max(h, 1)
}

// milliseconds in ns.
func milliseconds(ms int32) int64 { return int64(ms) * 1e6 }

// signed24 is a composition time (E.4.3.1, SI24).
func signed24(b []byte) int32 {
	return int32(binary.BigEndian.Uint32([]byte{b[0], b[1], b[2], 0})) >> 8
}

func uint24(b []byte) int { return int(b[0])<<16 | int(b[1])<<8 | int(b[2]) }
