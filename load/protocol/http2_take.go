package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// take takes one frame from the server.
func (c *http2Client) take(kind, flags byte, stream uint32, payload []byte) error {
	switch kind {
	case frameSettings:
		if flags&flagAck == 0 {
			c.reply = appendFrame(c.reply, frameSettings, flagAck, 0, nil)
			return c.settings(payload)
		}
	case framePing:
		if flags&flagAck == 0 {
			c.reply = appendFrame(c.reply, framePing, flagAck, 0, payload)
		}
	case frameWindow:
		return c.opens(stream, payload)
	case frameGoAway:
		return c.goAway(payload)
	case frameData:
		return c.data(flags, stream, payload)
	case frameReset:
		if s := c.of(stream); s != nil {
			c.end(s, true)
		}
	case frameHeaders, frameContinuation:
		return c.header(kind, flags, stream, payload)
	}
	return nil
}

// opens takes a WINDOW_UPDATE.
func (c *http2Client) opens(stream uint32, payload []byte) error {
	if len(payload) != 4 {
		return errors.New("a WINDOW_UPDATE frame of HTTP/2 has the wrong size")
	}
	n := int64(binary.BigEndian.Uint32(payload) & mostWindow)
	if stream == 0 {
		c.sendConn += n
		c.goOn()
		return nil
	}
	if s := c.of(stream); s != nil {
		s.window += n
		c.reply = c.more(c.reply, s)
	}
	return nil
}

// goOn sends what the windows have room for now, the oldest request first.
func (c *http2Client) goOn() {
	for _, s := range c.open {
		c.reply = c.more(c.reply, s)
	}
}

func (c *http2Client) settings(b []byte) error {
	c.settled = true
	for ; len(b) >= 6; b = b[6:] {
		value := binary.BigEndian.Uint32(b[2:])
		switch binary.BigEndian.Uint16(b) {
		case settingWindow:
			if value > mostWindow {
				return fmt.Errorf("a window of %d bytes is more than HTTP/2 allows", value)
			}
			for _, s := range c.open {
				s.window += int64(value) - c.firstStream
			}
			c.firstStream = int64(value)
		case settingStreams:
			c.limit, c.limited = min(int64(value), mostWindow), true
		case settingTable:
			// The encoder here uses no dynamic table.
		}
	}
	c.goOn()
	return nil
}

// goAway takes the end of a connection: requests up to the last one that the server names are still answered, and
// those after it were not processed (RFC 9113, 6.8).
func (c *http2Client) goAway(payload []byte) error {
	if len(payload) < 8 {
		return errors.New("a GOAWAY frame of HTTP/2 is too short")
	}
	c.going = true
	last := binary.BigEndian.Uint32(payload) & mostWindow
	for _, s := range slices.Clone(c.open) {
		if s.id > last {
			c.ended = append(c.ended, Ended{Number: s.number, Untaken: true})
			c.remove(s)
		}
	}
	return nil
}

func (c *http2Client) data(flags byte, stream uint32, payload []byte) error {
	if c.receive -= int64(len(payload)); c.receive < windowIsLow {
		c.reply = append(c.reply, windowBy(0, mostWindow-c.receive)...)
		c.receive = mostWindow
	}
	if flags&flagEndStream != 0 {
		c.answered(c.of(stream))
	}
	return nil
}

func (c *http2Client) header(kind, flags byte, stream uint32, payload []byte) error {
	if kind == frameHeaders {
		c.blockEnds = flags&flagEndStream != 0
		pad, skip := 0, 0
		if flags&flagPadded != 0 {
			if len(payload) == 0 {
				return errors.New("a HEADERS frame of HTTP/2 is too short")
			}
			pad, skip = int(payload[0]), 1
		}
		if flags&flagPriority != 0 {
			skip += 5
		}
		if len(payload) < skip+pad {
			return errors.New("a HEADERS frame of HTTP/2 is too short")
		}
		payload = payload[skip : len(payload)-pad]
		c.block = c.block[:0]
	}
	if c.block = append(c.block, payload...); len(c.block) > mostHeaderList {
		return fmt.Errorf("the headers of an answer are longer than %d kB", mostHeaderList>>10)
	}
	if flags&flagEndHeaders == 0 {
		return nil
	}
	c.into = c.of(stream)
	if _, err := c.hpack.Write(c.block); err != nil {
		return fmt.Errorf("the headers of an answer cannot be decoded: %w", err)
	}
	if err := c.hpack.Close(); err != nil {
		return fmt.Errorf("the headers of an answer cannot be decoded: %w", err)
	}
	if c.blockEnds {
		c.answered(c.into)
	}
	return nil
}

// answered takes the end of an answer; nil: of a request that was given up.
func (c *http2Client) answered(s *http2Stream) {
	if s == nil {
		return
	}
	if len(s.rest) > 0 { // an answer before the end of the request: the stream stays open until this side ends it
		c.reply = append(c.reply, resetOf(s.id)...)
	}
	c.end(s, c.p.failed(s.about))
}

func (c *http2Client) end(s *http2Stream, failed bool) {
	c.got.Done++
	if failed {
		c.got.Failed++
	}
	c.ended = append(c.ended, Ended{Number: s.number, Failed: failed})
	c.remove(s)
}
