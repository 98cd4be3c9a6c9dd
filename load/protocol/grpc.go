package protocol

import "encoding/binary"

// NewGRPC calls a method of gRPC (its protocol over HTTP/2: grpc/doc/PROTOCOL-HTTP2.md). message is one
// message in its wire format. The answer ends with the stream, whether it is one message or many.
func NewGRPC(scheme, authority, method string, more [][2]string, message []byte) *HTTP2 {
	headers := append([][2]string{{":method", "POST"}, {":scheme", scheme}, {":path", "/" + method}, {":authority", authority},
		{"te", "trailers"}, {"content-type", "application/grpc"}, {"user-agent", "snag"}}, more...)
	p := NewHTTP2(headers, Message(message))
	p.failed = func(about map[string]string) bool { return about["grpc-status"] != "0" }
	return p
}

// Message puts the head of gRPC before a message: not compressed, and its length.
func Message(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}
