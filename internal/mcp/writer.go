package mcp

import (
	"encoding/json"
	"io"
	"sync"

	"snag/internal/shown"
)

// writer writes messages, each at once. After the first error it writes no more, and failed ends the session.
type writer struct {
	mu     sync.Mutex
	w      io.Writer
	wrong  error
	failed func()
}

func (w *writer) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrong
}

func (w *writer) write(v any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wrong != nil {
		return
	}
	enc := json.NewEncoder(shown.JSON(w.w))
	enc.SetEscapeHTML(false)
	if w.wrong = enc.Encode(v); w.wrong != nil {
		w.failed()
	}
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

func (se *session) answer(id json.RawMessage, result any) {
	se.out.write(response{Version: "2.0", ID: id, Result: result})
}

// refuse answers with an error. Without an id it is null, as JSON-RPC has it for what could not be read.
func (se *session) refuse(id json.RawMessage, e *rpcError) {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	se.out.write(response{Version: "2.0", ID: id, Error: e})
}

func (se *session) notify(method string, params any) {
	se.out.write(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", method, params})
}
