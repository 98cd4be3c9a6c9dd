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
)

// answer goes on with what the server answered.
func (s *session) answer(values []any, at int64) error {
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
		s.result(transaction, values)
	case "_error":
		return s.rejected(transaction, values)
	case "onStatus":
		return s.status(values, at)
	case "close":
		return s.ended("the server sent close")
	}
	return nil // onBWDone, onFCSubscribe and the like ask for nothing
}

func (s *session) result(transaction float64, values []any) {
	switch {
	case transaction == transactionConnect && s.phase == connecting:
		s.phase = creating
		s.sendNumber(TypeWindowAckSize, window)
		s.command(commandChunk, 0, "createStream", transactionCreate, nil)
	case transaction == transactionCreate && s.phase == creating:
		s.phase, s.stream = asking, 1
		if len(values) > 3 {
			if id, ok := values[3].(float64); ok && id >= 0 && id < 1<<32 {
				s.stream = uint32(id)
			}
		}
		// -2: a live stream, or else a recorded one of that name (section 7.2.2.1)
		s.command(playChunk, s.stream, "play", 0, nil, s.to.name, -2000)
		s.sendEvent(EventSetBufferLength, s.stream, buffer)
	}
}

// rejected is an _error; those of commands that snag did not send say nothing.
func (s *session) rejected(transaction float64, values []any) error {
	code, words := status(values)
	if transaction == transactionConnect && s.phase == connecting {
		if c, ok := challengeIn(words); ok {
			return c
		}
	}
	if transaction > transactionCreate || s.phase > creating && transaction != 0 {
		return nil
	}
	return s.refused(join(code, words, "_error"))
}

// status acts on onStatus (section 7.2.2): its level and its code.
func (s *session) status(values []any, at int64) error {
	code, words := status(values)
	why := join(code, words, "onStatus")
	switch code {
	case "NetStream.Play.PublishNotify":
		s.publish(at)
		return nil
	case "NetStream.Play.UnpublishNotify", "NetStream.Play.Stop", "NetStream.Play.Complete":
		if s.published {
			return s.ended(why)
		}
		return nil
	case "NetConnection.Connect.Closed":
		return s.ended(why)
	}
	if level(values) == "error" || strings.HasSuffix(code, ".Rejected") || strings.HasSuffix(code, ".StreamNotFound") {
		if s.published {
			return s.ended(why)
		}
		return s.refused(why)
	}
	if s.phase == asking && strings.HasPrefix(code, "NetStream.") {
		s.phase = playing
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
