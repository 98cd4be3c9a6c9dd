package protocol

// Server implements Protocol.
func (p *HTTP2) Server() Server {
	s := &http2Server{left: len(preface)}
	s.frames.each = s.take
	return s
}

// http2Server answers each request with 200 and no body. Of gRPC that is an error, which measures
// the same.
type http2Server struct {
	frames frames
	left   int // of the preface
	out    []byte
}

func (s *http2Server) Serve(b []byte) []byte {
	if s.left > 0 {
		if s.left == len(preface) {
			s.out = append(s.out, frame(frameSettings, 0, 0, setting(settingWindow, mostWindow))...)
			s.out = append(s.out, windowBy(0, mostWindow-firstWindow)...)
		}
		n := min(s.left, len(b))
		s.left, b = s.left-n, b[n:]
	}
	_ = s.frames.read(b) // of this process: well formed
	out := s.out
	s.out = nil
	return out
}

func (s *http2Server) take(kind, flags byte, stream uint32, payload []byte) error {
	switch {
	case kind == frameSettings && flags&flagAck == 0:
		s.out = append(s.out, frame(frameSettings, flagAck, 0, nil)...)
	case kind == frameData && len(payload) > 0:
		s.out = append(s.out, windowBy(0, int64(len(payload)))...)
	}
	if (kind == frameHeaders || kind == frameData) && flags&flagEndStream != 0 {
		s.out = append(s.out, frame(frameHeaders, flagEndHeaders|flagEndStream, stream, []byte{0x88})...) // ":status: 200" of the static table
	}
	return nil
}
