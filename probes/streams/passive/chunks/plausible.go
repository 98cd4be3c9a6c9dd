package chunks

import (
	"encoding/binary"

	"snag/internal/rtmp"
)

// What a media connection is believed to carry.
const (
	maxVideo = 8 << 20  // bytes of a picture; 4K intra pictures have 1–3 MiB
	maxAudio = 64 << 10 // bytes of a block of samples
	maxStep  = 60_000   // ms from one message of a chunk stream to the next
)

// anchor reports whether b may begin with a chunk that a search can start from: a
// header that says its message's length and type (format 0 or 1), of a media or
// command message whose payload begins as such do. One place in some thousands of
// random bytes passes. It returns the header's length and the message's.
func anchor(b []byte) (head int, length uint32, ok bool) {
	if len(b) < 14 || b[0]>>6 > 1 {
		return 0, 0, false
	}
	n := 1
	switch b[0] & 0x3f {
	case 0:
		n = 2
	case 1:
		n = 3
	}
	size := 11
	if b[0]>>6 == 1 {
		size = 7
	}
	if len(b) < n+size+6 {
		return 0, 0, false
	}
	h := b[n:]
	stamp, kind := uint24(h), h[6]
	length = uint24(h[3:])
	if size == 11 && binary.LittleEndian.Uint32(h[7:]) > 0xffff {
		return 0, 0, false // message streams are counted from 1
	}
	n += size
	if stamp == 0xffffff {
		n += 4
		if len(b) < n+2 {
			return 0, 0, false
		}
	} else if size == 7 && stamp > maxStep {
		return 0, 0, false
	}
	return n, length, believable(kind, length) && length > 0 && begins(kind, b[n:])
}

// believable judges a message's length by its type.
func believable(kind uint8, length uint32) bool {
	switch kind {
	case rtmp.TypeVideo, rtmp.TypeAggregate:
		return length <= maxVideo
	case rtmp.TypeAudio:
		return length <= maxAudio
	case rtmp.TypeDataAMF0, rtmp.TypeDataAMF3, rtmp.TypeCommandAMF0, rtmp.TypeCommandAMF3:
		return length <= maxAudio
	}
	return false
}

// begins judges the first bytes of a payload by the message's type: FLV 10.1,
// E.4.2.1 and E.4.3.1, Enhanced RTMP v2, AMF0 2.4. Too few bytes are believed.
func begins(kind uint8, b []byte) bool {
	if len(b) < 2 {
		return true
	}
	switch kind {
	case rtmp.TypeVideo:
		if b[0]&0x80 != 0 {
			return b[0]>>4&7 >= 1 && b[0]>>4&7 <= 5 && b[0]&0x0f <= 6
		}
		if f := b[0] >> 4; f < 1 || f > 5 {
			return false
		}
		switch b[0] & 0x0f {
		case 2, 3, 4, 5, 6:
			return true
		case 7, 12, 13, 14:
			return b[1] <= 2
		}
	case rtmp.TypeAudio:
		switch b[0] >> 4 {
		case 10, 13:
			return b[1] <= 1
		case 9:
			return b[0]&0x0f <= 5
		case 0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 14:
			return true
		}
	case rtmp.TypeDataAMF0, rtmp.TypeCommandAMF0:
		return b[0] == 2 && b[1] == 0
	case rtmp.TypeDataAMF3, rtmp.TypeCommandAMF3:
		return b[0] == 0 && b[1] == 2
	case rtmp.TypeAggregate:
		return b[0] == 8 || b[0] == 9 || b[0] == 18
	}
	return false
}

// plausible judges a whole message in the middle of a connection.
func plausible(m *rtmp.Message) bool {
	switch m.Type {
	case rtmp.TypeSetChunkSize, rtmp.TypeAbort, rtmp.TypeAck, rtmp.TypeUserControl,
		rtmp.TypeWindowAckSize, rtmp.TypePeerBandwidth, rtmp.TypeSharedObjectAMF0, rtmp.TypeSharedObjectAMF3:
		return true // the strict parser judged it
	}
	return believable(m.Type, m.Length) && (m.Cut || begins(m.Type, m.Head))
}

func media(kind uint8) bool { return kind == rtmp.TypeAudio || kind == rtmp.TypeVideo }

func uint24(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }
