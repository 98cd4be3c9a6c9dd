package protocol

import (
	"encoding/binary"
	"fmt"
)

// Frames (RFC 9113, 6).
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	frameReset        = 0x3
	frameSettings     = 0x4
	framePing         = 0x6
	frameGoAway       = 0x7
	frameWindow       = 0x8
	frameContinuation = 0x9

	flagAck        = 0x1
	flagEndStream  = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20

	preface        = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameHead      = 9
	mostFrame      = 16 << 10 // SETTINGS_MAX_FRAME_SIZE as it is unless changed
	firstWindow    = 65535
	mostWindow     = 1<<31 - 1
	settingTable   = 1 // SETTINGS_HEADER_TABLE_SIZE
	settingPush    = 2 // SETTINGS_ENABLE_PUSH
	settingStreams = 3 // SETTINGS_MAX_CONCURRENT_STREAMS
	settingWindow  = 4 // SETTINGS_INITIAL_WINDOW_SIZE
	windowIsLow    = 1 << 30
	mostHeaderList = 256 << 10
	codeCancel     = 8 // of RST_STREAM (RFC 9113, 7)
)

func appendFrame(out []byte, kind, flags byte, stream uint32, payload []byte) []byte {
	out = append(out, byte(len(payload)>>16), byte(len(payload)>>8), byte(len(payload)), kind, flags)
	return append(binary.BigEndian.AppendUint32(out, stream), payload...)
}

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	return appendFrame(nil, kind, flags, stream, payload)
}

func setting(id uint16, value uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(nil, id), value)
}

func windowBy(stream uint32, n int64) []byte {
	return frame(frameWindow, 0, stream, binary.BigEndian.AppendUint32(nil, uint32(n)))
}

func resetOf(stream uint32) []byte {
	return frame(frameReset, 0, stream, binary.BigEndian.AppendUint32(nil, codeCancel))
}

// frames cuts what came into frames.
type frames struct {
	each func(kind, flags byte, stream uint32, payload []byte) error
	have []byte
}

func (f *frames) read(b []byte) error {
	if len(f.have) > 0 {
		b = append(f.have, b...)
	}
	for len(b) >= frameHead {
		n := int(b[0])<<16 | int(b[1])<<8 | int(b[2])
		if n > mostFrame {
			return fmt.Errorf("%.16q does not begin with a frame of HTTP/2", b)
		}
		if len(b) < frameHead+n {
			break
		}
		if err := f.each(b[3], b[4], binary.BigEndian.Uint32(b[5:])&mostWindow, b[frameHead:frameHead+n]); err != nil {
			return err
		}
		b = b[frameHead+n:]
	}
	f.have = append(f.have[:0], b...)
	return nil
}
