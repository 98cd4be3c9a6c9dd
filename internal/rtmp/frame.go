package rtmp

// Packet types of Enhanced RTMP v2.
const (
	enhancedFrames     = 1
	enhancedFramesX    = 3
	enhancedMultitrack = 6 // of video
	enhancedModEx      = 7
)

// Picture reports whether a message of video carries a coded picture, and not a codec's configuration, the end
// of a sequence, or a player's command (FLV 10.1, E.4.3; Enhanced RTMP v2, "Enhanced Video").
func (m *Message) Picture() bool {
	b := m.Head
	if m.Type != TypeVideo || len(b) < 2 {
		return false
	}
	if b[0]&0x80 != 0 {
		return enhancedPicture(b)
	}
	if b[0]>>4 == 5 {
		return false // a command
	}
	switch b[0] & 0x0f {
	case 7, 12: // AVC, and HEVC as some have it
		return b[1] == 1 && m.Length > 5
	}
	return true
}

func enhancedPicture(b []byte) bool {
	if b[0]>>4&7 == 5 {
		return false // a command
	}
	kind, b := b[0]&0x0f, b[1:]
	for kind == enhancedModEx { // an extension: its length less one, its data, and the type of what follows
		if len(b) < 1 {
			return false
		}
		n := int(b[0]) + 1
		if b = b[1:]; n == 256 {
			if len(b) < 2 {
				return false
			}
			n = (int(b[0])<<8 | int(b[1])) + 1
			b = b[2:]
		}
		if len(b) < n+1 {
			return false
		}
		kind, b = b[n]&0x0f, b[n+1:]
	}
	if kind == enhancedMultitrack && len(b) > 0 {
		kind = b[0] & 0x0f
	}
	return kind == enhancedFrames || kind == enhancedFramesX
}

// Sound reports whether a message of audio carries coded audio, and not a codec's configuration (E.4.2).
func (m *Message) Sound() bool {
	b := m.Head
	if m.Type != TypeAudio || len(b) < 2 {
		return false
	}
	switch b[0] >> 4 {
	case 9:
		return b[0]&0x0f == enhancedFrames || b[0]&0x0f == 5 || b[0]&0x0f == enhancedModEx // 5: several tracks
	case 10:
		return b[1] == 1 && m.Length > 2
	}
	return true
}
