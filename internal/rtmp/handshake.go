package rtmp

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"unicode"
)

// HandshakeSize is C1's, S1's, C2's and S2's (section 5.2.3).
const HandshakeSize = 1536

// Version is C0's and S0's.
const Version = 3

// Handshake is a client's: it sends C0 C1, reads S0 S1 S2 and answers with C2. What S1 and S2 hold
// is not looked at: the digests of Flash servers are theirs to check, and those
// that ask for them fall back when C1's version is 0, as it is here.
func Handshake(conn io.ReadWriter) error {
	hello := make([]byte, 1+HandshakeSize)
	hello[0] = Version // C1: time 0, zero 0, random
	if _, err := rand.Read(hello[9:]); err != nil {
		return fmt.Errorf("random bytes for the handshake: %w", err)
	}
	if _, err := conn.Write(hello); err != nil {
		return err
	}
	answer := make([]byte, 1+2*HandshakeSize)
	n, err := io.ReadAtLeast(conn, answer, 1)
	if err != nil {
		return gone(err, n)
	}
	if answer[0] != Version {
		more, _ := io.ReadAtLeast(conn, answer[n:], min(len(answer)-n, 16)) // enough to know it
		return notRTMP(answer[:n+more])
	}
	more, err := io.ReadFull(conn, answer[n:])
	if err != nil {
		return gone(err, n+more)
	}
	_, err = conn.Write(answer[1 : 1+HandshakeSize]) // C2 repeats S1
	return err
}

func gone(err error, n int) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the server closed the connection after %d of %d bytes: is this port for RTMP, and not for RTMPS?", n, 1+2*HandshakeSize)
	}
	if errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("the server, or something before it, reset the connection after %d of %d bytes: is this port for RTMP, and not for RTMPS?", n, 1+2*HandshakeSize)
	}
	return err
}

// notRTMP names the protocol that answered.
func notRTMP(b []byte) error {
	for _, p := range []struct{ begin, is string }{
		{"HTTP/", "HTTP, not RTMP: is this the port of a web page or of HLS?"},
		{"RTSP/", "RTSP, not RTMP: use rtsp://"},
		{"SSH-", "SSH, not RTMP"},
		{"\x15\x03", "TLS, not RTMP: use rtmps://"},
		{"\x16\x03", "TLS, not RTMP: use rtmps://"},
		{"\x06", "RTMPE (encrypted), which snag does not read: use rtmps:// or ask for plain RTMP"},
	} {
		if bytes.HasPrefix(b, []byte(p.begin)) {
			return errors.New("the server answers " + p.is)
		}
	}
	line := strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '.'
		}
		return r
	}, string(b[:min(len(b), 24)]))
	return fmt.Errorf("the server answers %q, not RTMP: is this port for RTMP?", line)
}
