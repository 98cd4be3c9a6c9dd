// Package mcp is the server side of the Model Context Protocol over lines of JSON (its stdio transport) and over HTTP
// (its Streamable HTTP transport): tools, resources, progress and cancellation. Specification: modelcontextprotocol.io,
// revision 2025-11-25. It knows nothing of what the tools do. Why it is not the official SDK:
// docs/decisions/0009-own-mcp-server.md; tests talk to it with the SDK's client.
package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"
)

// versions of the protocol that the server speaks, newest first. What differs between them is no part of what it does.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// mostCalls requests run at a time.
const mostCalls = 16

// afterEOF is how long calls may go on after the client closed its end: printf '…' | snag mcp gets its answers, and
// nothing goes on for long for a client that is gone.
const afterEOF = 10 * time.Second

// Server is what a client can talk to.
type Server struct {
	Name, Title, Version string
	// Instructions are what a model has to know of the server.
	Instructions string
	Tools        []Tool
	Resources    Resources
	// Changed has a value when the list of resources has changed; nil: it never does.
	Changed <-chan struct{}

	afterEOF time.Duration // of tests; 0: afterEOF
}

// Serve answers requests until in ends or ctx does. It writes nothing but messages to out, and returns when the last
// call has ended.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	se := &session{client: newClient(), server: s, out: &writer{w: out, failed: cancel}}
	ended := make(chan error, 1)
	go func() { ended <- se.read(ctx, in) }()
	err := se.until(ctx, ended) // the reader may wait for ever, and ends with the process
	grace := s.afterEOF
	if grace == 0 {
		grace = afterEOF
	}
	stop := time.AfterFunc(grace, cancel)
	defer stop.Stop()
	over := make(chan error)
	go func() {
		se.calls.Wait()
		close(over)
	}()
	_ = se.until(context.Background(), over)
	return errors.Join(err, se.out.err())
}

// until reports changes of the resources until something is over, or ctx is.
func (se *session) until(ctx context.Context, over <-chan error) error {
	for {
		select {
		case err := <-over:
			select {
			case <-se.server.Changed: // what came last is reported too
				se.notify("notifications/resources/list_changed", nil)
			default:
			}
			return err
		case <-ctx.Done():
			return nil
		case <-se.server.Changed:
			se.notify("notifications/resources/list_changed", nil)
		}
	}
}

// read handles messages until in ends.
func (se *session) read(ctx context.Context, in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for ctx.Err() == nil {
		line, long, err := nextLine(r)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case long:
			se.refuse(nil, fail(codeInvalidRequest, "the message is longer than %d MB", mostLine>>20))
		case len(bytes.TrimSpace(line)) > 0:
			se.handle(ctx, line)
		}
	}
	return nil
}

func (se *session) handle(ctx context.Context, line []byte) {
	m, wrong := parse(line)
	switch {
	case wrong != nil:
		se.refuse(m.ID, wrong)
	case m.isResponse(): // of nothing that was asked
	case len(m.ID) == 0:
		se.noticed(m)
	default:
		se.asked(ctx, m)
	}
}

// noticed handles a notification.
func (se *session) noticed(m message) {
	if m.Method != "notifications/cancelled" {
		return
	}
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &p) == nil {
		se.cancel(string(p.ID))
	}
}

// asked handles a request. What may take long runs beside the others.
func (se *session) asked(ctx context.Context, m message) {
	switch m.Method {
	case "ping":
		se.answer(m.ID, struct{}{})
		return
	case "initialize":
		se.initialize(m)
		return
	}
	if !se.ready() {
		se.refuse(m.ID, fail(codeInvalidRequest, "%s before initialize: send initialize first", m.Method))
		return
	}
	switch m.Method {
	case "tools/list":
		se.answer(m.ID, map[string]any{"tools": describe(se.server.Tools)})
	case "resources/list":
		se.answer(m.ID, map[string]any{"resources": append([]Resource{}, se.server.Resources.List()...)})
	case "resources/templates/list":
		se.answer(m.ID, map[string]any{"resourceTemplates": append([]Template{}, se.server.Resources.Templates()...)})
	case "tools/call":
		se.begin(ctx, m, se.call)
	case "resources/read":
		se.begin(ctx, m, se.readResource)
	default:
		se.refuse(m.ID, fail(codeNoMethod, "unknown method %q", m.Method))
	}
}

func (se *session) initialize(m message) {
	var p struct {
		Version string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		se.refuse(m.ID, fail(codeInvalidParams, "initialize: the parameters: %v", err))
		return
	}
	se.client.begin()
	version := versions[0]
	if slices.Contains(versions, p.Version) {
		version = p.Version
	}
	s := se.server
	se.answer(m.ID, map[string]any{
		"protocolVersion": version,
		"capabilities":    map[string]any{"tools": struct{}{}, "resources": map[string]any{"listChanged": s.Changed != nil}},
		"serverInfo":      map[string]any{"name": s.Name, "title": s.Title, "version": s.Version},
		"instructions":    s.Instructions,
	})
}
