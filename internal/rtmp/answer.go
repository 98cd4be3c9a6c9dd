package rtmp

import (
	"strings"

	"snag/internal/amf"
)

// buffer is what snag says that it buffers, ms, as ffmpeg does: servers send no
// less ahead for it, and some wait for it before they send.
const buffer = 3000

// Transactions by number (section 7.2).
const (
	transactionConnect = 1
	transactionCreate  = 2
	transactionPublish = 5 // after those of announce
)

// answer goes on with what the server answered.
func (c *Client) answer(values []any, at int64) error {
	if len(values) == 0 {
		return nil
	}
	name, _ := values[0].(string)
	transaction := 0.0
	if len(values) > 1 {
		transaction, _ = values[1].(float64)
	}
	switch name {
	case "_result":
		c.result(transaction, values)
	case "_error":
		return c.rejected(transaction, values)
	case "onStatus":
		return c.status(values, at)
	case "close":
		return &Ended{"the server sent close"}
	}
	return nil // onBWDone, onFCSubscribe and the like ask for nothing
}

func (c *Client) result(transaction float64, values []any) {
	switch {
	case transaction == transactionConnect && c.Phase == Connecting:
		c.Phase = Creating
		c.sendNumber(TypeWindowAckSize, window)
		if c.hears == nil {
			c.announce()
		}
		c.command(commandChunk, 0, "createStream", transactionCreate, nil)
	case transaction == transactionCreate && c.Phase == Creating:
		c.Phase, c.Stream = Asking, 1
		if len(values) > 3 {
			if id, ok := values[3].(float64); ok && id >= 0 && id < 1<<32 {
				c.Stream = uint32(id)
			}
		}
		if c.hears == nil {
			c.command(playChunk, c.Stream, "publish", transactionPublish, nil, c.to.Name, "live")
			return
		}
		// -2: a live stream, or else a recorded one of that name (section 7.2.2.1)
		c.command(playChunk, c.Stream, "play", 0, nil, c.to.Name, -2000)
		c.sendEvent(EventSetBufferLength, c.Stream, buffer)
	}
}

// rejected is an _error; those of commands that do not matter say nothing.
func (c *Client) rejected(transaction float64, values []any) error {
	code, words := status(values)
	if (transaction > transactionCreate || c.Phase > Creating && transaction != 0) && !(c.hears == nil && transaction == transactionPublish) {
		return nil
	}
	return &Refused{join(code, words, "_error"), words, transaction == transactionConnect && c.Phase == Connecting}
}

// status acts on onStatus (section 7.2.2): its level and its code.
func (c *Client) status(values []any, at int64) error {
	code, words := status(values)
	why := join(code, words, "onStatus")
	if c.hears == nil && code == "NetStream.Publish.Start" {
		c.Phase, c.Published = Playing, true
		return nil
	}
	switch code {
	case "NetStream.Play.PublishNotify":
		c.appear(at)
		return nil
	case "NetStream.Play.UnpublishNotify", "NetStream.Play.Stop", "NetStream.Play.Complete":
		if c.Published {
			return &Ended{why}
		}
		return nil
	case "NetConnection.Connect.Closed":
		return &Ended{why}
	}
	if level(values) == "error" || strings.HasSuffix(code, ".Rejected") || strings.HasSuffix(code, ".StreamNotFound") {
		if c.Published {
			return &Ended{why}
		}
		return &Refused{Why: why, Words: words}
	}
	if c.hears != nil && c.Phase == Asking && strings.HasPrefix(code, "NetStream.") {
		c.Phase = Playing
	}
	return nil
}

// status finds the code and the words of an onStatus, a _result or an _error.
func status(values []any) (code, words string) {
	for _, v := range values {
		if o, ok := v.(amf.Object); ok && (o.Get("code") != nil || o.Get("description") != nil) {
			return o.String("code"), o.String("description")
		}
	}
	return "", ""
}

func level(values []any) string {
	for _, v := range values {
		if o, ok := v.(amf.Object); ok && o.Get("level") != nil {
			return o.String("level")
		}
	}
	return ""
}

func join(code, words, neither string) string {
	switch {
	case code == "" && words == "":
		return neither
	case code == "":
		return words
	case words == "" || words == code:
		return code
	}
	return code + ": " + words
}
