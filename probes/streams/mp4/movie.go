package mp4

import (
	"encoding/binary"
	"fmt"

	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// track is what the movie box says of one.
type track struct {
	id    uint32
	scale uint64 // ticks per second
	known bool   // its kind is
	stream.Params
	duration, size, flags uint32 // of a sample, where its fragment does not say (trex, 8.8.3)
	at                    uint64 // decode time of the next fragment, where it has no tfdt
	sets                  []byte // parameter sets as a byte stream (annex B)
	length                int    // bytes of a unit's length; 0: its pictures can't be taken
	adts                  codec.Framed
	sealed                bool // its samples are encrypted
}

// movie reads a moov box: its tracks, of which the first video and the first
// audio are kept.
func (r *Reader) movie(b []byte) error {
	var all []track
	each(b, func(kind string, body []byte) {
		if kind == "trak" && len(all) < maxTracks {
			var t track
			t.read(body, 0)
			all = append(all, t)
		}
	})
	each(b, func(kind string, body []byte) {
		if kind != "mvex" {
			return
		}
		each(body, func(kind string, body []byte) {
			if kind == "trex" && len(body) >= 24 {
				for i := range all {
					if all[i].id == binary.BigEndian.Uint32(body[4:]) {
						all[i].duration = binary.BigEndian.Uint32(body[12:])
						all[i].size = binary.BigEndian.Uint32(body[16:])
						all[i].flags = binary.BigEndian.Uint32(body[20:])
					}
				}
			}
		})
	})
	r.tracks = r.tracks[:0]
	for _, want := range []stream.Kind{stream.Video, stream.Audio} {
		for _, t := range all {
			if t.known && t.Kind == want && t.scale > 0 && t.Codec != "" {
				t.Kind = want
				if r.Hint != nil {
					r.Hint(&t.Params)
				}
				r.tracks = append(r.tracks, t)
				r.sink.Params(t.Params)
				break
			}
		}
	}
	if len(r.tracks) == 0 {
		return fmt.Errorf("read MP4: its movie box has no track of a codec that is read")
	}
	return nil
}

func (t *track) read(b []byte, depth int) {
	if depth > maxDepth {
		return
	}
	each(b, func(kind string, b []byte) {
		switch kind {
		case "mdia", "minf", "stbl":
			t.read(b, depth+1)
		case "tkhd":
			if id := versioned(b, 12, 20); len(id) >= 4 {
				t.id = binary.BigEndian.Uint32(id)
			}
		case "mdhd":
			if scale := versioned(b, 12, 20); len(scale) >= 4 {
				t.scale = uint64(binary.BigEndian.Uint32(scale))
			}
		case "hdlr":
			if len(b) >= 12 {
				t.known = true
				switch string(b[8:12]) {
				case "vide":
					t.Kind = stream.Video
				case "soun":
					t.Kind = stream.Audio
				default:
					t.known = false
				}
			}
		case "stsd":
			if len(b) >= 8 {
				t.entry(b[8:])
			}
		}
	})
}

// versioned is what lies behind a full box's fields of 32 bits in version 0, of 64
// in version 1.
func versioned(b []byte, short, long int) []byte {
	at := short
	if len(b) > 0 && b[0] == 1 {
		at = long
	}
	if len(b) < at {
		return nil
	}
	return b[at:]
}

// Lengths of sample entries before the boxes in them (12.1.3, 12.2.3).
const (
	videoEntry = 78
	audioEntry = 28
)

// entry reads the first sample entry.
func (t *track) entry(b []byte) {
	done := false
	each(b, func(kind string, b []byte) {
		if done {
			return
		}
		done = true
		encrypted := kind == "encv"
		t.sealed = encrypted || kind == "enca"
		if kind == "encv" || kind == "enca" { // what it was before: sinf/frma (8.12)
			skip := videoEntry
			if kind == "enca" {
				skip = audioEntry
			}
			kind = original(b, skip)
		}
		switch kind {
		case "avc1", "avc3", "dva1", "dvav":
			t.video(codec.H264, b)
		case "hvc1", "hev1", "dvh1", "dvhe":
			t.video(codec.HEVC, b)
		case "av01":
			t.video(codec.AV1, b)
		case "vp09":
			t.video(codec.VP9, b)
		case "mp4a":
			t.audio(codec.AAC, b)
		case "Opus":
			t.audio(codec.Opus, b)
		case "ac-3":
			t.audio(codec.AC3, b)
		case "ec-3":
			t.audio(codec.EAC3, b)
		case ".mp3":
			t.audio(codec.MP3, b)
		}
		if encrypted {
			t.length = 0
		}
	})
}

func original(b []byte, skip int) (kind string) {
	if len(b) < skip {
		return ""
	}
	each(b[skip:], func(box string, b []byte) {
		if box != "sinf" {
			return
		}
		each(b, func(box string, b []byte) {
			if box == "frma" && len(b) >= 4 {
				kind = string(b[:4])
			}
		})
	})
	return kind
}

func (t *track) video(name string, b []byte) {
	t.Codec = name
	if len(b) < videoEntry {
		return
	}
	t.Width, t.Height = int(binary.BigEndian.Uint16(b[24:])), int(binary.BigEndian.Uint16(b[26:]))
	each(b[videoEntry:], func(kind string, b []byte) {
		var p stream.Params
		var err error
		switch kind {
		case "avcC":
			p, _, err = codec.AVCC(b)
			t.parameterSets(b)
		case "hvcC":
			p, _, err = codec.HVCC(b)
			t.parameterSets(b)
		case "av1C":
			p, err = codec.AV1C(b)
		default:
			return
		}
		if err != nil || p.Width == 0 {
			return
		}
		t.Params = p
	})
}

// parameterSets takes those of a configuration record. In avc3 and hev1 they are in the stream.
func (t *track) parameterSets(b []byte) {
	if sets, length, err := codec.Sets(t.Codec, b); err == nil {
		t.sets, t.length = sets, length
	}
}

func (t *track) audio(name string, b []byte) {
	t.Codec = name
	if len(b) < audioEntry {
		return
	}
	t.Channels = int(binary.BigEndian.Uint16(b[16:]))
	t.SampleRate = int(binary.BigEndian.Uint32(b[24:]) >> 16)
	each(b[audioEntry:], func(kind string, b []byte) {
		switch kind {
		case "esds":
			t.esds(b)
		case "dOps":
			if p, err := codec.OpusHead(b); err == nil {
				t.Params = p
			}
		}
	})
}

// esds reads an ES_Descriptor (ISO/IEC 14496-1 7.2.6.5): object type and config.
func (t *track) esds(b []byte) {
	if len(b) < 4 {
		return
	}
	b = b[4:]
	for len(b) > 0 {
		tag := b[0]
		size, n := 0, 1
		for ; n < len(b) && n < 5; n++ { // expandable class size, 8.3.3
			size = size<<7 | int(b[n]&127)
			if b[n] < 128 {
				n++
				break
			}
		}
		if n > len(b) {
			return
		}
		b = b[n:]
		switch tag {
		case 3: // ES_Descriptor: the rest is within it
			if len(b) < 3 {
				return
			}
			skip := 3
			if b[2]&0x80 != 0 {
				skip += 2
			}
			if b[2]&0x40 != 0 && len(b) > skip {
				skip += 1 + int(b[skip])
			}
			if b[2]&0x20 != 0 {
				skip += 2
			}
			b = b[min(skip, len(b)):]
		case 4: // DecoderConfigDescriptor
			if len(b) < 13 {
				return
			}
			if b[0] == 0x69 || b[0] == 0x6b { // MPEG-2, MPEG-1 audio
				t.Codec = codec.MP3
			}
			b = b[13:]
		case 5: // DecoderSpecificInfo
			t.adts, _ = codec.ADTSOf(b[:min(size, len(b))]) // what ADTS can't carry is not heard
			if a, err := codec.AACConfig(b[:min(size, len(b))]); err == nil && t.Codec == codec.AAC {
				if a.Channels == 0 {
					a.Channels = t.Channels
				}
				t.Params = a.Params
			}
			return
		default:
			b = b[min(size, len(b)):]
		}
	}
}
