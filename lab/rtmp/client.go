// Package rtmp is as much of an RTMP player as the lab's edge relays need: shake
// hands, connect to an application, ask for a stream, count what comes. It
// follows Adobe's RTMP 1.0 specification; media is read and thrown away.
package rtmp

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

const handshakeSize = 1536 // C1, S1, C2 and S2 (section 5.2.3)

// ErrNotFound says that the server knows no such stream.
var ErrNotFound = errors.New("rtmp: no such stream")

// Refused is the server's answer when it is neither yes nor "no such stream".
type Refused struct{ Code string }

func (e *Refused) Error() string { return "rtmp: the server answered " + e.Code }

// Player is a connection that has shaken hands. Deadlines are the caller's, on
// the connection.
type Player struct {
	conn net.Conn
	in   *chunks
	// Bytes of messages that have come since Play.
	Bytes uint64
}

// Handshake sends C0 C1, reads S0 S1 S2 and answers with C2.
func Handshake(conn net.Conn) (*Player, error) {
	hello := make([]byte, 1+handshakeSize)
	hello[0] = 3 // version; time and zero stay 0
	if _, err := rand.Read(hello[9:]); err != nil {
		return nil, fmt.Errorf("rtmp: random bytes for the handshake: %w", err)
	}
	if _, err := conn.Write(hello); err != nil {
		return nil, fmt.Errorf("rtmp: send C0 C1: %w", err)
	}
	answer := make([]byte, 1+2*handshakeSize)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return nil, fmt.Errorf("rtmp: read S0 S1 S2: %w", err)
	}
	if answer[0] != 3 {
		return nil, fmt.Errorf("rtmp: the server speaks version %d, not 3", answer[0])
	}
	if _, err := conn.Write(answer[1 : 1+handshakeSize]); err != nil { // C2 repeats S1
		return nil, fmt.Errorf("rtmp: send C2: %w", err)
	}
	return &Player{conn: conn, in: newChunks(conn)}, nil
}

// Play asks an application for a stream and returns when the server has begun to
// play it, or with why not: ErrNotFound, *Refused, or the connection's error.
func (p *Player) Play(host, app, stream string) error {
	err := p.command(0, "connect", 1.0, map[string]any{
		"app": app, "flashVer": "LNX 9,0,124,2", "tcUrl": "rtmp://" + host + "/" + app,
		"fpad": false, "capabilities": 15.0, "audioCodecs": 4071.0, "videoCodecs": 252.0, "videoFunction": 1.0,
	})
	if err != nil {
		return err
	}
	if _, err := p.result(1); err != nil {
		return fmt.Errorf("connect to %s: %w", app, err)
	}
	if err := p.command(0, "createStream", 2.0, nil); err != nil {
		return err
	}
	args, err := p.result(2)
	if err != nil {
		return fmt.Errorf("createStream: %w", err)
	}
	id := 1.0
	if len(args) > 3 {
		if n, ok := args[3].(float64); ok && n >= 0 && n <= 1<<31 {
			id = n
		}
	}
	if err := p.command(uint32(id), "play", 0.0, nil, stream, -2000.0); err != nil {
		return err
	}
	for {
		args, err := p.nextCommand()
		if err != nil {
			return fmt.Errorf("play %s/%s: %w", app, stream, err)
		}
		switch code := statusCode(args); code {
		case "":
		case "NetStream.Play.Start", "NetStream.Play.Reset", "NetStream.Data.Start", "NetStream.Play.PublishNotify":
			return nil
		case "NetStream.Play.StreamNotFound":
			return ErrNotFound
		default:
			return &Refused{code}
		}
	}
}

// Watch reads one message, answers it where it is a ping, and counts it.
func (p *Player) Watch() error {
	m, err := p.in.next()
	if err != nil {
		return err
	}
	p.Bytes += uint64(len(m.body))
	return p.control(m)
}

func (p *Player) command(stream uint32, values ...any) error {
	var body []byte
	for _, v := range values {
		body = appendAMF(body, v)
	}
	if _, err := p.conn.Write(appendMessage(nil, 3, typeCommand, stream, body)); err != nil {
		return fmt.Errorf("rtmp: send %v: %w", values[0], err)
	}
	return nil
}

// result waits for the answer to a transaction.
func (p *Player) result(transaction float64) ([]any, error) {
	for {
		args, err := p.nextCommand()
		if err != nil {
			return nil, err
		}
		if len(args) < 2 || args[1] != transaction {
			continue
		}
		switch args[0] {
		case "_result":
			return args, nil
		case "_error":
			code := statusCode(args)
			if code == "" {
				code = "_error"
			}
			return nil, &Refused{code}
		}
	}
}

func (p *Player) nextCommand() ([]any, error) {
	for {
		m, err := p.in.next()
		if err != nil {
			return nil, err
		}
		if err := p.control(m); err != nil {
			return nil, err
		}
		if m.kind != typeCommand {
			continue
		}
		args, err := decodeAMF(m.body)
		if err != nil {
			return nil, err
		}
		if len(args) > 0 {
			return args, nil
		}
	}
}

// control answers a ping request with a pong (section 7.1.7); a server closes
// the players that do not.
func (p *Player) control(m message) error {
	if m.kind != typeUserControl || len(m.body) < 6 || binary.BigEndian.Uint16(m.body) != 6 {
		return nil
	}
	pong := append([]byte{0, 7}, m.body[2:6]...)
	_, err := p.conn.Write(appendMessage(nil, 2, typeUserControl, 0, pong))
	return err
}

// statusCode finds the code of an onStatus, _result or _error.
func statusCode(args []any) string {
	for _, a := range args {
		if o, ok := a.(map[string]any); ok {
			if code, ok := o["code"].(string); ok {
				return code
			}
		}
	}
	return ""
}
