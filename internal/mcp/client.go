package mcp

import (
	"context"
	"encoding/json"
	"sync"
)

// client is what is known of a client, over all of its connections.
type client struct {
	mu      sync.Mutex
	began   bool                               // it sent initialize
	running map[string]context.CancelCauseFunc // by the request's id as JSON
}

func newClient() *client { return &client{running: map[string]context.CancelCauseFunc{}} }

func (c *client) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began = true
}

func (c *client) ready() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.began
}

// add notes a request that runs; an error says why it may not.
func (c *client) add(id json.RawMessage, cancel context.CancelCauseFunc) *rpcError {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, double := c.running[string(id)]; double {
		return fail(codeInvalidRequest, "the id %s is that of a request that is not answered yet", id)
	}
	if len(c.running) >= mostCalls {
		return fail(codeBusy, "%d requests are not answered yet: wait for one of them", mostCalls)
	}
	c.running[string(id)] = cancel
	return nil
}

func (c *client) remove(id json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, string(id))
}

func (c *client) cancel(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.running[id]; cancel != nil {
		cancel(errCancelled)
	}
}

// busy reports whether a request runs.
func (c *client) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.running) > 0
}
