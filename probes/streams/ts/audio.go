package ts

import (
	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// blockHead is how much of an audio frame is looked at, in bytes: a LOAS head
// with the AudioSpecificConfig in it.
const blockHead = 16

// blocks is an audio track's state.
type blocks struct {
	block   [blockHead]byte
	have    int
	left    int // bytes of the frame yet to come
	size    int // of the frame, without its container's head
	when    times
	hunting bool // bytes are missing: waits for a PES packet's start
	second  stream.Second
}

// heading is what a frame's first bytes tell.
type heading struct {
	codec.Audio
	size int // of the frame, head and all; 0: it is no frame
	head int // bytes of it that are the container's
	need int // > what there is: more bytes are wanted
}

// audioBody takes bytes of the body of a PES packet.
func (t *track) audioBody(b []byte) {
	if t.hunting {
		if !t.next.ok {
			return
		}
		t.hunting = false
	}
	for len(b) > 0 {
		if t.left > 0 {
			n := min(t.left, len(b))
			t.second.Add(b[:n])
			b = b[n:]
			if t.left -= n; t.left == 0 {
				t.endBlock()
			}
			continue
		}
		if t.have == 0 {
			t.when = t.takeTimes()
		}
		h := t.heading()
		if h.need > t.have {
			n := copy(t.block[t.have:h.need], b)
			t.have += n
			b = b[n:]
			if t.have < h.need {
				return
			}
			h = t.heading()
		}
		t.head(h)
	}
}

// head takes a heading once its bytes are there.
func (t *track) head(h heading) {
	switch {
	case h.need > t.have:
	case h.size < t.have || h.size == 0: // no frame begins here: one byte on
		copy(t.block[:], t.block[1:t.have])
		t.have--
	default:
		if h.SampleRate > 0 {
			t.step = int64(h.Samples) * 1e9 / int64(h.SampleRate)
			t.tell(h.Params)
		}
		t.size = h.size - h.head
		if t.when.ok && t.how != byOpus && !t.sealed && t.second.Begin(t.d.Sounds, t.when.dts) {
			t.second.Add(t.block[:t.have])
		}
		if t.left = h.size - t.have; t.left == 0 {
			t.endBlock()
		}
	}
}

// endBlock gives the frame that is whole.
func (t *track) endBlock() {
	t.emit(t.when, false, t.size, t.d.arrival)
	t.have = 0
	name := t.params.Codec
	if t.how == byLOAS {
		name = codec.LATM
	}
	t.second.End(t.d.Sounds, stream.Sound{Codec: name}, t.when.dts, t.step, t.d.arrival)
}

// lostBlocks forgets the frame under way.
func (t *track) lostBlocks() {
	t.have, t.left, t.hunting = 0, 0, true
	t.second.Drop()
}

func (t *track) heading() heading {
	b := t.block[:t.have]
	switch t.how {
	case byADTS:
		if len(b) < 7 {
			return heading{need: 7}
		}
		h, err := codec.ADTS(b)
		return known(h.Audio, h.Size, h.Head, 7, err)
	case byMPEG:
		if len(b) < 4 {
			return heading{need: 4}
		}
		h, err := codec.MPEGAudio(b)
		return known(h.Audio, h.Size, 0, 4, err)
	case byDolby:
		if len(b) < 8 {
			return heading{need: 8}
		}
		h, err := codec.DolbyAudio(b)
		return known(h.Audio, h.Size, 0, 8, err)
	case byLOAS:
		return loas(b)
	}
	return opus(b, t.channels)
}

func known(a codec.Audio, size, head, need int, err error) heading {
	if err != nil {
		return heading{need: need}
	}
	return heading{Audio: a, size: size, head: head, need: need}
}

// loas reads the head of an AudioSyncStream (ISO/IEC 14496-3 1.7.2): 11 bits of
// sync, 13 of length. With audioMuxVersion 0, and the config in this element, the
// AudioSpecificConfig of its one layer begins at the payload's third byte.
func loas(b []byte) heading {
	if len(b) < 3 {
		return heading{need: 3}
	}
	if b[0] != 0x56 || b[1]&0xe0 != 0xe0 {
		return heading{need: 3}
	}
	size := 3 + int(b[1]&31)<<8 + int(b[2])
	h := heading{size: size, head: 3, need: min(blockHead, size)}
	if len(b) < h.need || len(b) < 7 {
		return h
	}
	if b[3]&0xc0 == 0 { // useSameStreamMux 0, audioMuxVersion 0
		if a, err := codec.AACConfig(b[5:]); err == nil {
			h.Audio = a
		}
	}
	return h
}

// opus reads a control header and the packet's first bytes ("Carriage of Opus in
// MPEG-2 TS", ETSI TS 101 154 annex): 11 bits of prefix, trims, au_size.
func opus(b []byte, channels int) heading {
	if len(b) < 3 {
		return heading{need: 3}
	}
	if b[0] != 0x7f || b[1]&0xe0 != 0xe0 {
		return heading{need: 3}
	}
	n, size := 2, 0
	for {
		if n >= len(b) {
			if n >= blockHead-4 {
				return heading{need: len(b)}
			}
			return heading{need: n + 1}
		}
		size += int(b[n])
		if n++; b[n-1] != 0xff {
			break
		}
	}
	head := n
	if b[1]&0x10 != 0 {
		head += 2
	}
	if b[1]&0x08 != 0 {
		head += 2
	}
	if b[1]&0x04 != 0 { // an extension of a length of its own, never seen: not read
		return heading{need: n}
	}
	h := heading{size: head + size, head: head, need: min(head+2, head+size, blockHead)}
	if len(b) >= h.need && len(b) > head {
		h.Params = stream.Params{Kind: stream.Audio, Codec: codec.Opus, SampleRate: 48000, Channels: channels}
		h.Samples = codec.OpusSamples(b[head:])
	}
	return h
}
