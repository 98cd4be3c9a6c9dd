package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}` + "\n"

type nothing struct{}

func (nothing) List() []Resource      { return []Resource{{URI: "x://1", Name: "one"}} }
func (nothing) Templates() []Template { return []Template{{URI: "x://{n}", Name: "any"}} }
func (nothing) Read(_ context.Context, uri string) (Contents, error) {
	switch uri {
	case "x://1":
		return Contents{URI: uri, Text: "1"}, nil
	case "x://broken":
		return Contents{}, errors.New("the disk is gone")
	}
	return Contents{}, &NoResourceError{"there is none"}
}

type echoIn struct {
	Text  string   `json:"text" doc:"what is said"`
	Times int      `json:"times,omitempty"`
	More  []string `json:"more,omitempty"`
}

// testServer has a tool that answers, one that waits until it is cancelled, and one that has a bug.
func testServer() *Server {
	return &Server{Name: "test", Version: "1", Resources: nothing{}, afterEOF: 200 * time.Millisecond, Tools: []Tool{
		{Name: "echo", Input: SchemaOf[echoIn](), Output: SchemaOf[echoIn](), Call: func(_ context.Context, raw json.RawMessage, p Progress) (Result, error) {
			in, err := Arguments[echoIn](raw)
			if err != nil {
				return Result{}, err
			}
			p(1, 2, "half")
			p(1, 2, "still half")
			p(0.5, 2, "back: it is not sent")
			structured, err := json.Marshal(in)
			return Result{Text: in.Text, Structured: structured, Links: []Resource{{URI: "x://1", Name: "one"}}}, err
		}},
		{Name: "wait", Call: func(ctx context.Context, _ json.RawMessage, _ Progress) (Result, error) {
			<-ctx.Done()
			return Result{Text: "ended"}, nil
		}},
		{Name: "bug", Call: func(context.Context, json.RawMessage, Progress) (Result, error) { panic("a bug") }},
	}}
}

// said are the messages that a server answers an input with.
func said(t *testing.T, in string) []string {
	t.Helper()
	var out strings.Builder
	if err := testServer().Serve(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, l := range lines {
		var m struct {
			Version string `json:"jsonrpc"`
		}
		if err := json.Unmarshal([]byte(l), &m); err != nil || m.Version != "2.0" {
			t.Errorf("it is not a message: %q (%v)", l, err)
		}
	}
	return lines
}

func call(id, name, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}` + "\n"
}

// What a client gets wrong has one answer with the reason, and the server goes on.
func TestWrongMessages(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"no JSON":          {"{nonsense\n", `"id":null,"error":{"code":-32700,"message":"the message is not JSON`},
		"half a line":      {`{"jsonrpc":"2.0","id":1,"meth`, `"id":null,"error":{"code":-32700`},
		"no object":        {"42\n", `"code":-32600,"message":"the message is not a JSON object`},
		"a batch":          {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]` + "\n", `"code":-32600,"message":"the message is not a JSON object: batches`},
		"a null id":        {`{"jsonrpc":"2.0","id":null,"method":"ping"}` + "\n", `"id":null,"error":{"code":-32600`},
		"an object as id":  {`{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n", `"id":null,"error":{"code":-32600`},
		"another version":  {`{"jsonrpc":"1.0","id":1,"method":"ping"}` + "\n", `"id":1,"error":{"code":-32600`},
		"no method":        {`{"jsonrpc":"2.0","id":1}` + "\n", `"id":1,"error":{"code":-32600`},
		"a wrong type":     {`{"jsonrpc":"2.0","id":1,"method":7}` + "\n", `"error":{"code":-32600`},
		"unknown method":   {`{"jsonrpc":"2.0","id":1,"method":"tools/eat"}` + "\n", `"id":1,"error":{"code":-32601,"message":"unknown method \"tools/eat\""`},
		"unknown tool":     {call("1", "apply", "{}"), `"id":1,"error":{"code":-32602,"message":"unknown tool \"apply\"`},
		"no parameters":    {`{"jsonrpc":"2.0","id":1,"method":"tools/call"}` + "\n", `"id":1,"error":{"code":-32602`},
		"unknown argument": {call("1", "echo", `{"text":"a","texts":"b"}`), `echo: unknown argument \"texts\": there are text, times, more"}],"isError":true`},
		"wrong argument":   {call("1", "echo", `{"times":"two"}`), `times is a string, and must be a whole number in range"}],"isError":true`},
		"too large":        {call("1", "echo", `{"times":1e300}`), `times is a number 1e300, and must be a whole number in range"}],"isError":true`},
		"a list":           {call("1", "echo", `[1]`), `the arguments must be a JSON object with text, times, more"}],"isError":true`},
		"a bug":            {call("1", "bug", `{}`), `"id":1,"error":{"code":-32603,"message":"tools/call failed inside snag, which is a bug: a bug"`},
		"no resource":      {`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://2"}}` + "\n", `"id":1,"error":{"code":-32002`},
		"broken resource":  {`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://broken"}}` + "\n", `"id":1,"error":{"code":-32603`},
		"a long line":      {strings.Repeat("x", mostLine+1) + "\n", `"id":null,"error":{"code":-32600,"message":"the message is longer than 1 MB"`},
		"a long last line": {strings.Repeat("x", mostLine+1), `"id":null,"error":{"code":-32600,"message":"the message is longer than 1 MB"`},
	} {
		in := hello + c.in
		if strings.HasSuffix(c.in, "\n") {
			in += "\n \n" + `{"jsonrpc":"2.0","id":99,"method":"ping"}`
		}
		lines := said(t, in)
		all := strings.Join(lines, "\n")
		if n := strings.Count(all, c.want); n != 1 {
			t.Errorf("%s: %d answers with %s in\n%s", name, n, c.want, all)
		}
		if strings.HasSuffix(c.in, "\n") && !strings.Contains(all, `"id":99,"result":{}`) {
			t.Errorf("%s: the server does not go on: %s", name, all)
		}
	}
}

func TestBeforeInitialize(t *testing.T) {
	lines := said(t, `{"jsonrpc":"2.0","id":"a","method":"ping","params":{"_meta":{},"later":1},"unknown":[]}`+"\n"+`{"jsonrpc":"2.0","id":"b","method":"tools/list"}`+"\n"+
		`{"jsonrpc":"2.0","id":"c","method":"initialize","params":{"protocolVersion":"1999-01-01"}}`+"\n")
	if len(lines) != 3 || lines[0] != `{"jsonrpc":"2.0","id":"a","result":{}}` || !strings.Contains(lines[1], "tools/list before initialize") {
		t.Errorf("%q", lines)
	}
	if !strings.Contains(lines[2], `"protocolVersion":"2025-11-25"`) {
		t.Errorf("an unknown version is answered with the newest: %s", lines[2])
	}
}

// The end of the input ends what waits, after a while, and its answer is still sent.
func TestEndOfInput(t *testing.T) {
	lines := said(t, hello+call("1", "echo", `{"text":"`+"\u202e"+`<a>"}`)+call("2", "wait", "{}"))
	all := strings.Join(lines, "\n")
	if !strings.Contains(all, `\u202e<a>`) || !strings.Contains(all, `"id":2,"result":{"content":[{"type":"text","text":"ended"}]}`) {
		t.Errorf("%s", all)
	}
	if !strings.Contains(all, `{"type":"resource_link","uri":"x://1","name":"one"}`) {
		t.Errorf("no link: %s", all)
	}
}

// No memory is taken for a line without an end.
func TestALineOf100MB(t *testing.T) {
	r := bufio.NewReader(io.MultiReader(io.LimitReader(endless{}, 100<<20), strings.NewReader("\nnext")))
	line, long, err := nextLine(r)
	if err != nil || !long || cap(line) > 2*mostLine {
		t.Fatalf("%d bytes, long %v, %v", cap(line), long, err)
	}
	if line, long, err = nextLine(r); err != nil || long || string(line) != "next" {
		t.Errorf("%q %v %v", line, long, err)
	}
	if _, _, err = nextLine(r); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// A client that is gone ends the session, whatever runs.
func TestNobodyReads(t *testing.T) {
	in, client := io.Pipe()
	defer client.Close()
	go func() { _, _ = io.WriteString(client, hello+call("1", "wait", "{}")) }()
	done := make(chan error, 1)
	go func() { done <- testServer().Serve(t.Context(), in, broken{}) }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the session goes on")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// Two requests with one id, and more than the server takes.
func TestManyCalls(t *testing.T) {
	in := hello + call("1", "wait", "{}") + call("1", "wait", "{}")
	for i := range mostCalls {
		in += call(`"x`+string(rune('a'+i))+`"`, "wait", "{}")
	}
	all := strings.Join(said(t, in), "\n")
	if !strings.Contains(all, `"message":"the id 1 is that of a request that is not answered yet"`) || !strings.Contains(all, `"message":"16 requests are not answered yet: wait for one of them"`) {
		t.Errorf("%s", all)
	}
	if n := strings.Count(all, `"text":"ended"`); n != mostCalls {
		t.Errorf("%d calls ended, want %d", n, mostCalls)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(hello + call("1", "echo", `{"text":"a"}`)))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	f.Add([]byte("[]\n{}\n\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out strings.Builder
		s := testServer()
		s.afterEOF = time.Millisecond
		if err := s.Serve(t.Context(), strings.NewReader(string(in)), &out); err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(out.String()) {
			if !json.Valid([]byte(l)) {
				t.Errorf("%q is answered by %q", in, l)
			}
		}
	})
}
