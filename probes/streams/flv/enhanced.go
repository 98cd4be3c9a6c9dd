package flv

import (
	"encoding/binary"

	"snag/probes/streams/stream"
)

// Packet types (Enhanced RTMP v2, "Enhanced Video" and "Enhanced Audio").
const (
	sequenceStart     = 0
	codedFrames       = 1
	sequenceEnd       = 2
	codedFramesX      = 3 // video: the composition time is 0 and left out
	metadata          = 4 // video: colour; audio: the channels' order
	sequenceStartTS   = 5 // video: AV1's descriptor as in MPEG-2 TS
	audioMultitrack   = 5
	videoMultitrack   = 6
	modEx             = 7
	manyTracksOneKind = 1
	manyCodecs        = 2
)

// fourCC of video and audio.
var fourCC = map[string]string{
	"avc1": "h264", "hvc1": "hevc", "av01": "av1", "vp09": "vp9", "vp08": "vp8", "vvc1": "vvc",
	"mp4a": "aac", "Opus": "opus", ".mp3": "mp3", "fLaC": "flac", "ac-3": "ac3", "ec-3": "eac3",
}

// enhanced reads a head whose codec is a FourCC. Of several tracks in one message
// it gives the first; the others' lengths are not counted.
func (t Tag) enhanced(head []byte, length int, command bool) (Tag, bool) {
	kind := head[0] & 0x0f
	r := rest{b: head[1:], length: length - 1}
	for kind == modEx {
		var nano int64
		if kind, nano = r.modEx(); kind == modEx && len(r.b) == 0 {
			return t, false
		}
		t.Offset += nano
	}
	if command && kind != metadata {
		return t, false // a seek command, without payload
	}
	if t.Kind == stream.Video && kind == videoMultitrack || t.Kind == stream.Audio && kind == audioMultitrack {
		b := r.take(1)
		if b == nil {
			return t, false
		}
		many := b[0] >> 4 // or one track
		kind = b[0] & 0x0f
		if !t.fourCC(&r) {
			return t, false
		}
		id := r.take(1)
		if id == nil {
			return t, false
		}
		t.Track = id[0]
		if many == manyTracksOneKind || many == manyCodecs {
			size := r.take(3)
			if size == nil || uint24(size) > r.length {
				return t, false
			}
			r.length = uint24(size)
			r.b = r.b[:min(len(r.b), r.length)]
		}
	} else if !t.fourCC(&r) {
		return t, false
	}
	return t.packet(kind, r)
}

func (t Tag) packet(kind byte, r rest) (Tag, bool) {
	switch {
	case kind == sequenceStart:
		return t.config(r.b, r.length)
	case kind == codedFrames && t.Kind == stream.Video && (t.Codec == "h264" || t.Codec == "hevc" || t.Codec == "vvc"):
		b := r.take(3)
		if b == nil {
			return t, false
		}
		t.Offset += milliseconds(signed24(b))
		return t.frame(r.b, r.length)
	case kind == codedFrames, kind == codedFramesX && t.Kind == stream.Video:
		return t.frame(r.b, r.length)
	}
	return t, false // the end of a sequence, colours, channels: no frame
}

func (t *Tag) fourCC(r *rest) bool {
	b := r.take(4)
	if b == nil {
		return false
	}
	t.Codec = fourCC[string(b)]
	return true
}

// rest is what follows of a tag: the bytes that were kept, and how many there are.
type rest struct {
	b      []byte
	length int
}

func (r *rest) take(n int) []byte {
	if len(r.b) < n || r.length < n {
		return nil
	}
	b := r.b[:n]
	r.b, r.length = r.b[n:], r.length-n
	return b
}

// modEx reads one extension and the packet type after it; modEx itself with
// nothing left is a tag that is cut off.
func (r *rest) modEx() (kind byte, nano int64) {
	b := r.take(1)
	if b == nil {
		r.b = nil
		return modEx, 0
	}
	n := int(b[0]) + 1
	if n == 256 { // the size did not fit
		if b = r.take(2); b != nil {
			n = int(binary.BigEndian.Uint16(b)) + 1
		}
	}
	data, next := r.take(n), r.take(1)
	if b == nil || data == nil || next == nil {
		r.b = nil
		return modEx, 0
	}
	const timestampOffsetNano = 0
	if next[0]>>4 == timestampOffsetNano && len(data) >= 3 {
		nano = int64(uint24(data)) // under 1 ms by the specification; the presentation's alone
	}
	return next[0] & 0x0f, nano
}
