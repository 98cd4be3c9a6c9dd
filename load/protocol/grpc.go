package protocol

import "encoding/binary"

// NewGRPC calls a method of gRPC (its protocol over HTTP/2: grpc/doc/PROTOCOL-HTTP2.md). messages are in their wire
// format; none: one that is empty. They are sent one after the other, as far as the windows have room, and the
// client's side of the stream ends with the last one. The answer ends with the stream, whether it is one message or
// many.
func NewGRPC(scheme, authority, method string, more [][2]string, messages ...[]byte) *HTTP2 {
	headers := append([][2]string{{":method", "POST"}, {":scheme", scheme}, {":path", "/" + method}, {":authority", authority},
		{"te", "trailers"}, {"content-type", "application/grpc"}, {"user-agent", "snag"}}, more...)
	if len(messages) == 0 {
		messages = [][]byte{nil}
	}
	var body []byte
	for _, m := range messages {
		body = append(body, Message(m)...)
	}
	p := NewHTTP2(headers, body)
	p.failed = func(about map[string]string) bool { return about["grpc-status"] != "0" }
	return p
}

// Message puts the head of gRPC before a message: not compressed, and its length.
func Message(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}
