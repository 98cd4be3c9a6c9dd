package ts

import (
	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// entry is one elementary stream of a PMT.
type entry struct {
	pid   uint16
	kind  stream.Kind
	codec string // "": none that is read
	how   framing
	// sealed: what follows its frames' heads is encrypted, so that nothing of it can be decoded.
	sealed bool
	// What its descriptors tell: Opus has its channels nowhere else.
	channels int
}

// framing is how frames are told apart in a stream's bytes.
type framing uint8

const (
	perPES  framing = iota // one frame a PES
	byNAL                  // H.264, HEVC
	byADTS                 // sync word, size in the header
	byLOAS                 // AAC in LATM
	byMPEG                 // MPEG audio
	byDolby                // AC-3, E-AC-3
	byOpus                 // control header with a size
)

// table is what a PMT says, as far as it is read.
type table struct {
	pcr     uint16
	entries [16]entry
	n       int
}

// readPMT reads a section (2.4.4.8) of the program with this number.
func readPMT(b []byte, number uint16) (t table, ok bool) {
	if len(b) < 12 || b[0] != 2 || b[5]&1 == 0 || uint16(b[3])<<8|uint16(b[4]) != number {
		return t, false
	}
	t.pcr = uint16(b[8]&31)<<8 | uint16(b[9])
	info := int(b[10]&15)<<8 | int(b[11])
	if info > len(b)-12 {
		return t, false
	}
	b = b[12+info:]
	for len(b) >= 5 && t.n < len(t.entries) {
		info := int(b[3]&15)<<8 | int(b[4])
		if info > len(b)-5 {
			return t, false
		}
		e := entry{pid: uint16(b[1]&31)<<8 | uint16(b[2])}
		e.read(b[0], b[5:5+info])
		t.entries[t.n] = e
		t.n++
		b = b[5+info:]
	}
	return t, true
}

// read takes stream_type (table 2-34) and the descriptors.
func (e *entry) read(kind byte, descriptors []byte) {
	e.kind = stream.Data
	e.sealed = kind == 0xdb || kind == 0xcf
	switch kind {
	case 0x01, 0x02:
		e.video(codec.MP2V, byNAL)
	case 0x1b, 0xdb: // 0xdb, 0xcf: with encrypted samples (Apple), whose heads are clear
		e.video(codec.H264, byNAL)
	case 0x24:
		e.video(codec.HEVC, byNAL)
	case 0x03, 0x04:
		e.audio(codec.MP2, byMPEG)
	case 0x0f, 0xcf:
		e.audio(codec.AAC, byADTS)
	case 0x11:
		e.audio(codec.AAC, byLOAS)
	case 0x81:
		e.audio(codec.AC3, byDolby)
	case 0x87:
		e.audio(codec.EAC3, byDolby)
	case 0x06:
		e.private(descriptors)
	}
}

func (e *entry) video(name string, how framing) {
	e.kind, e.codec, e.how = stream.Video, name, how
}

func (e *entry) audio(name string, how framing) {
	e.kind, e.codec, e.how = stream.Audio, name, how
}

// private is a stream that only its descriptors name: DVB's AC-3 (ETSI EN 300 468
// 6.2.2, annex D), Opus and AV1 by their registration (2.6.8).
func (e *entry) private(b []byte) {
	for len(b) >= 2 && int(b[1]) <= len(b)-2 {
		tag, body := b[0], b[2:2+int(b[1])]
		b = b[2+len(body):]
		switch tag {
		case 0x6a:
			e.audio(codec.AC3, byDolby)
		case 0x7a:
			e.audio(codec.EAC3, byDolby)
		case 0x05:
			if len(body) < 4 {
				continue
			}
			switch string(body[:4]) {
			case "Opus":
				e.audio(codec.Opus, byOpus)
			case "AC-3":
				e.audio(codec.AC3, byDolby)
			case "EAC3":
				e.audio(codec.EAC3, byDolby)
			case "HEVC":
				e.video(codec.HEVC, byNAL)
			case "AV01":
				e.video(codec.AV1, perPES)
			case "VP09":
				e.video(codec.VP9, perPES)
			}
		case 0x7f: // an extension: Opus's channel_config_code
			if len(body) >= 2 && body[0] == 0x80 && body[1] >= 1 && body[1] <= 8 {
				e.channels = int(body[1])
			}
		}
	}
}
