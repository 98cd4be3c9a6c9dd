package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Error codes: JSON-RPC 2.0, section 5.1, and those that MCP adds.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeBusy           = -32000
	codeNoResource     = -32002
)

// message is a request (it has an id), a notification (it has none), or a response, which a server that asks
// nothing can ignore.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

func (m message) isResponse() bool { return m.Method == "" && (m.Result != nil || m.Error != nil) }

// rpcError is why a request has no result.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

func fail(code int, format string, args ...any) *rpcError {
	return &rpcError{code, fmt.Sprintf(format, args...)}
}

// parse reads one message. The id is returned with an error too, where there is a usable one.
func parse(line []byte) (message, *rpcError) {
	var m message
	line = bytes.TrimSpace(line)
	if !json.Valid(line) {
		return m, fail(codeParse, "the message is not JSON: send one JSON object a line")
	}
	if line[0] != '{' {
		return m, fail(codeInvalidRequest, "the message is not a JSON object: batches are not supported, send one request a line")
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return message{}, fail(codeInvalidRequest, "the message is not a JSON-RPC 2.0 request: %v", err)
	}
	if !usableID(m.ID) {
		m.ID = nil
		return m, fail(codeInvalidRequest, "the id must be a string or a number")
	}
	if m.Version != "2.0" || m.Method == "" && !m.isResponse() {
		return m, fail(codeInvalidRequest, `the message is not a JSON-RPC 2.0 request: it needs "jsonrpc":"2.0" and a method`)
	}
	return m, nil
}

// usableID: absent, a string or a number (MCP allows no null).
func usableID(id json.RawMessage) bool {
	return len(id) == 0 || id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
}
