package mcp

import (
	"context"
	"encoding/json"
)

// Tool is something that a client can call.
type Tool struct {
	Name, Title, Description string
	// Input and Output are JSON Schemas of objects: of the arguments, and of Result.Structured.
	Input, Output json.RawMessage
	// Call returns an error as text that the model reads: wrong arguments, or what failed. It must end soon after ctx.
	Call func(ctx context.Context, arguments json.RawMessage, p Progress) (Result, error)
}

// Progress reports how much of a call is done, of how much in the same unit (0: not known), and what is done now.
// It may be called from any goroutine, and does nothing where the client did not ask for progress.
type Progress func(done, total float64, message string)

// Result is the answer of a tool.
type Result struct {
	Text string
	// Structured is the answer as a JSON object; it fits Tool.Output.
	Structured json.RawMessage
	// Links are resources with the rest.
	Links []Resource
}

// Resource is something that a client can read.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// Template is a family of resources: URI is an RFC 6570 template.
type Template struct {
	URI         string `json:"uriTemplate"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// Contents is what a resource holds.
type Contents struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType,omitempty"`
	Text     string `json:"text"`
}

// Resources are what a server has to read.
type Resources interface {
	List() []Resource
	Templates() []Template
	// Read returns a *NoResourceError where there is none.
	Read(ctx context.Context, uri string) (Contents, error)
}

// NoResourceError says that a URI names nothing.
type NoResourceError struct{ Why string }

func (e *NoResourceError) Error() string { return e.Why }

// described is how tools/list describes a tool.
type described struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"inputSchema"`
	Output      json.RawMessage `json:"outputSchema,omitempty"`
	Annotations hints           `json:"annotations"`
}

// hints say that no tool changes anything: the package knows no other kind.
type hints struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

func describe(all []Tool) []described {
	out := []described{}
	for _, t := range all {
		out = append(out, described{t.Name, t.Title, t.Description, t.Input, t.Output, hints{ReadOnly: true}})
	}
	return out
}

// content is a block of a result: text, or a link to a resource.
type content struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	*Resource
}

// toolResult is the result of tools/call.
type toolResult struct {
	Content    []content       `json:"content"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
}

func resultOf(r Result) toolResult {
	out := toolResult{Content: []content{{Type: "text", Text: r.Text}}, Structured: r.Structured}
	for _, l := range r.Links {
		out.Content = append(out.Content, content{Type: "resource_link", Resource: &l})
	}
	return out
}

func failed(text string) toolResult {
	return toolResult{Content: []content{{Type: "text", Text: text}}, IsError: true}
}
