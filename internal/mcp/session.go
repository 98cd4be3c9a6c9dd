package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// session is what a client's messages are handled with, and where their answers go.
type session struct {
	*client
	server *Server
	out    *writer
	calls  sync.WaitGroup
}

var errCancelled = errors.New("cancelled by the client")

// handler answers a request that may take long.
type handler func(ctx context.Context, m message) (any, *rpcError)

// begin runs a request beside others, unless there are too many.
func (se *session) begin(ctx context.Context, m message, h handler) {
	ctx, cancel := context.WithCancelCause(ctx)
	if wrong := se.add(m.ID, cancel); wrong != nil {
		cancel(nil)
		se.refuse(m.ID, wrong)
		return
	}
	se.calls.Go(func() {
		defer cancel(nil)
		result, wrong := guarded(ctx, m, h)
		se.remove(m.ID)
		switch {
		case errors.Is(context.Cause(ctx), errCancelled): // who cancels wants no answer
		case wrong != nil:
			se.refuse(m.ID, wrong)
		default:
			se.answer(m.ID, result)
		}
	})
}

// guarded has a bug in one tool end one request, not the server.
func guarded(ctx context.Context, m message, h handler) (result any, wrong *rpcError) {
	defer func() {
		if p := recover(); p != nil {
			result, wrong = nil, fail(codeInternal, "%s failed inside snag, which is a bug: %v", m.Method, p)
		}
	}()
	return h(ctx, m)
}

// call answers tools/call. What a model can correct is a result with isError, not an error of the protocol.
func (se *session) call(ctx context.Context, m message) (any, *rpcError) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return nil, fail(codeInvalidParams, "tools/call: the parameters: %v", err)
	}
	for _, t := range se.server.Tools {
		if t.Name != p.Name {
			continue
		}
		progress, end := se.progressOf(p.Meta.Token)
		r, err := t.Call(ctx, p.Arguments, progress)
		end()
		if err != nil {
			return failed(fmt.Sprintf("%s: %v", t.Name, err)), nil
		}
		return resultOf(r), nil
	}
	return nil, fail(codeInvalidParams, "unknown tool %q: tools/list names them", p.Name)
}

func (se *session) readResource(ctx context.Context, m message) (any, *rpcError) {
	var p struct {
		URI string `json:"uri"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return nil, fail(codeInvalidParams, "resources/read: the parameters: %v", err)
	}
	c, err := se.server.Resources.Read(ctx, p.URI)
	var none *NoResourceError
	switch {
	case errors.As(err, &none):
		return nil, fail(codeNoResource, "read %q: %v", p.URI, err)
	case err != nil:
		return nil, fail(codeInternal, "read %q: %v", p.URI, err)
	}
	return map[string]any{"contents": []Contents{c}}, nil
}

// progressOf returns what reports a call's progress, and what ends that: nothing may follow the answer.
func (se *session) progressOf(token json.RawMessage) (report Progress, end func()) {
	if !usableID(token) || len(token) == 0 {
		return func(float64, float64, string) {}, func() {}
	}
	var mu sync.Mutex
	var over bool
	last := -1.0
	report = func(done, total float64, text string) {
		mu.Lock()
		defer mu.Unlock()
		if over || done < last {
			return
		}
		if done == last { // it must increase with each notification
			done += 1e-3
		}
		last = done
		p := map[string]any{"progressToken": token, "progress": done}
		if total > 0 {
			p["total"] = max(total, done)
		}
		if text != "" {
			p["message"] = text
		}
		se.notify("notifications/progress", p)
	}
	return report, func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}
