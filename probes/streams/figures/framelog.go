package figures

import (
	"bufio"
	"io"
	"strconv"
	"sync"
	"unicode/utf8"

	"snag/probes/streams/stream"
	"snag/recording"
)

// FrameLog writes a line of JSON a frame, of any number of streams. It keeps its
// first error and writes no more after it.
type FrameLog struct {
	mu     sync.Mutex
	w      *bufio.Writer
	anchor recording.Anchor
	buf    []byte
	err    error
}

// NewFrameLog writes to w; the arrival is on the recording's clock.
func NewFrameLog(w io.Writer, anchor recording.Anchor) *FrameLog {
	return &FrameLog{w: bufio.NewWriterSize(w, 64<<10), anchor: anchor, buf: make([]byte, 0, 512)}
}

// Frame logs one frame of the stream called name.
func (l *FrameLog) Frame(name string, f stream.Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.buf = AppendFrame(l.buf[:0], name, l.anchor, f)
	_, l.err = l.w.Write(l.buf)
}

// Flush hands what is buffered to the file and returns the first error.
func (l *FrameLog) Flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = l.w.Flush()
	}
	return l.err
}

// AppendFrame appends one frame as a line of JSON:
//
//	{"stream":"live/cam1","arrival":1795253696123456789,"dts":1.04,"pts":1.12,"size":5321,"key":true,
//	 "media_type":"video","pkt_dts_time":"1.040000","pkt_pts_time":"1.120000","pkt_size":"5321","flags":"K__"}
//
// arrival is ns since the epoch, as in the recording's tables; dts and pts are
// seconds. What follows is named and written as ffprobe -show_frames and
// -show_packets do (its numbers are strings).
func AppendFrame(b []byte, name string, anchor recording.Anchor, f stream.Frame) []byte {
	b = append(b, `{"stream":`...)
	b = appendString(b, name)
	b = append(b, `,"arrival":`...)
	b = strconv.AppendInt(b, int64(anchor.FromMonotonic(f.Arrival)), 10)
	b = append(b, `,"dts":`...)
	b = appendSeconds(b, f.DTS)
	b = append(b, `,"pts":`...)
	b = appendSeconds(b, f.PTS)
	b = append(b, `,"size":`...)
	b = strconv.AppendInt(b, int64(f.Size), 10)
	b = append(b, `,"key":`...)
	b = strconv.AppendBool(b, f.Key)
	b = append(b, `,"media_type":"`...)
	b = append(b, f.Kind.String()...)
	b = append(b, `","pkt_dts_time":"`...)
	b = appendSeconds(b, f.DTS)
	b = append(b, `","pkt_pts_time":"`...)
	b = appendSeconds(b, f.PTS)
	b = append(b, `","pkt_size":"`...)
	b = strconv.AppendInt(b, int64(f.Size), 10)
	if f.Key {
		return append(b, "\",\"flags\":\"K__\"}\n"...)
	}
	return append(b, "\",\"flags\":\"___\"}\n"...)
}

// appendSeconds writes ns as seconds with six digits, as ffprobe does, cut off.
func appendSeconds(b []byte, ns int64) []byte {
	u := uint64(ns)
	if ns < 0 {
		b, u = append(b, '-'), -u
	}
	us := u / 1000
	b = strconv.AppendUint(b, us/1e6, 10)
	b = append(b, '.')
	us %= 1e6
	for d := uint64(100000); d > 0; d /= 10 {
		b = append(b, byte('0'+us/d%10))
	}
	return b
}

// appendString writes a JSON string (RFC 8259 7); what is not UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c == '"' || c == '\\':
				b = append(b, '\\', c)
			case c < ' ':
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			default:
				b = append(b, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		b = utf8.AppendRune(b, r)
		i += n
	}
	return append(b, '"')
}
