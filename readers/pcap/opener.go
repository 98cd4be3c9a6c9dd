package pcap

import (
	"bytes"

	"snag/internal/packet"
)

// opener is what the payload of a segment begins with.
type opener uint8

const (
	unknownOpener opener = iota
	httpRequest
	tlsHello
	rtspRequest
	sqlRequest
	redisRequest
	mailCommand
	smbRequest
	// farewell asks for nothing: it says that its sender closes, or has failed (a TLS alert).
	farewell
)

// openers are how the recording names them.
var openers = [...]string{"", "an HTTP request", "a TLS ClientHello", "an RTSP request", "an SQL statement", "a Redis command", "a command", "an SMB request", ""}

// openerOf reports what a segment begins with, of protocols in which each request is
// answered.
func openerOf(p *packet.Packet) opener {
	b := p.Payload
	if len(b) < 5 {
		return unknownOpener
	}
	switch b[0] {
	case 0x16: // a TLS handshake record (RFC 8446, section 5.1), of which the first message is a ClientHello
		if b[1] == 3 && len(b) > 5 && b[5] == 1 {
			return tlsHello
		}
	case 0x15:
		if b[1] == 3 {
			return farewell
		}
	case 0x17: // since TLS 1.3 an alert is the one record that is as short: two bytes, their type and the tag
		if b[1] == 3 && b[3] == 0 && b[4] == 19 {
			return farewell
		}
	case '*': // RESP: an array
		if b[1] >= '1' && b[1] <= '9' && bytes.Contains(b[:min(len(b), 8)], []byte("\r\n$")) {
			return redisRequest
		}
	case 'Q': // PostgreSQL's simple query: a length, then the text
		if b[1] == 0 && b[2] == 0 && p.Dst.Port() == portPostgreSQL {
			return sqlRequest
		}
	case 'X': // PostgreSQL's Terminate
		if len(b) == 5 && b[1]|b[2]|b[3] == 0 && b[4] == 4 {
			return farewell
		}
	case 1: // MySQL's COM_QUIT
		if len(b) == 5 && b[1]|b[2]|b[3] == 0 && b[4] == 1 {
			return farewell
		}
	case 0x30: // LDAP's UnbindRequest (RFC 4511, 4.3): a sequence of an identifier and an empty [APPLICATION 2]
		if n := len(b); n == int(b[1])+2 && b[2] == 2 && b[n-2] == 0x42 && b[n-1] == 0 {
			return farewell
		}
	case 0: // NetBIOS' length in front of SMB
		if len(b) >= 8 && (b[4] == 0xff || b[4] == 0xfe) && string(b[5:8]) == "SMB" {
			return smbRequest
		}
	}
	if p.Dst.Port() == portMySQL && b[3] == 0 && b[4] == 3 { // the first packet of a command, COM_QUERY
		return sqlRequest
	}
	return textOpener(b)
}

const (
	portMySQL      = 3306
	portPostgreSQL = 5432
)

// textOpener tells requests that are lines of text: a verb in capitals and what follows.
func textOpener(b []byte) opener {
	word := b[:min(len(b), 12)]
	n := bytes.IndexByte(word, ' ')
	if n < 0 {
		n = bytes.IndexByte(word, '\r')
	}
	if n < 3 {
		return unknownOpener
	}
	switch string(word[:n]) {
	case "GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "CONNECT", "PROPFIND", "PRI":
		return httpRequest
	case "OPTIONS", "DESCRIBE", "SETUP", "PLAY", "ANNOUNCE", "RECORD", "TEARDOWN", "GET_PARAMETER":
		return rtspRequest
	case "EHLO", "HELO", "MAIL", "RCPT", "DATA", "USER", "PASS", "AUTH", "STAT", "LIST", "RETR", "CWD", "PASV", "EPSV", "NOOP":
		return mailCommand
	}
	return unknownOpener
}
