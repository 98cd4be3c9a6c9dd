package main

import (
	"testing"
	"time"

	"snag/internal/conversation"
	"snag/load"
)

// What a program had set is set again, except what the user says.
func TestLikeTakesOptions(t *testing.T) {
	off, on := false, true
	c := conversation.Conversation{NoDelay: &off, QuickAck: &on, SendBuffer: 1000, ReceiveBuffer: 2000, Congestion: "reno", Timeout: time.Second}
	f := loadFlags{noDelay: true, timeout: 5 * time.Second}
	f.take(c, func(string) bool { return false })
	if f.noDelay || !f.quickAck || !f.quickAckSet || f.options.SendBuffer != 1000 || f.options.ReceiveBuffer != 2000 || f.options.Congestion != "reno" || f.timeout != time.Second {
		t.Errorf("%+v", f)
	}
	f = loadFlags{noDelay: true, timeout: 5 * time.Second, options: load.SocketOptions{SendBuffer: 7, ReceiveBuffer: 8, Congestion: "cubic"}}
	f.take(c, func(string) bool { return true })
	if !f.noDelay || f.quickAckSet || f.options.SendBuffer != 7 || f.options.ReceiveBuffer != 8 || f.options.Congestion != "cubic" || f.timeout != 5*time.Second {
		t.Errorf("given flags: %+v", f)
	}
	f = loadFlags{noDelay: true, timeout: 5 * time.Second}
	f.take(conversation.Conversation{}, func(string) bool { return false })
	if !f.noDelay || f.quickAckSet || f.options.SendBuffer != 0 || f.timeout != 5*time.Second {
		t.Errorf("nothing was set: %+v", f)
	}
}
