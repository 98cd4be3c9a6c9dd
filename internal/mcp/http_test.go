package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// overHTTP serves until the test ends; it returns the address.
func overHTTP(t *testing.T, s *Server) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	server := httptest.NewServer(NewHTTP(ctx, s))
	t.Cleanup(func() {
		cancel()
		server.Close() // waits for requests that are not answered
	})
	return server.URL
}

func TestTheSDKsClientOverHTTP(t *testing.T) {
	progress := make(chan *sdk.ProgressNotificationParams, 10)
	changes := make(chan struct{}, 1)
	changed := make(chan struct{}, 1)
	s := testServer()
	s.Changed = changed
	at := overHTTP(t, s)
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params },
		ResourceListChangedHandler:  func(context.Context, *sdk.ResourceListChangedRequest) { changes <- struct{}{} },
	})
	se, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: at}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := se.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 3 {
		t.Fatal(err, tools)
	}
	p := &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "good morning", "times": 2}}
	p.SetProgressToken("token")
	r, err := se.CallTool(t.Context(), p)
	if err != nil || r.IsError || r.Content[0].(*sdk.TextContent).Text != "good morning" {
		t.Fatalf("%+v %v", r, err)
	}
	if a := <-progress; a.Message != "half" || a.ProgressToken != "token" {
		t.Errorf("%+v", a)
	}
	if c, err := se.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "x://1"}); err != nil || c.Contents[0].Text != "1" {
		t.Errorf("%+v %v", c, err)
	}
	for told := false; !told; { // its stream may open after the first change
		select {
		case changed <- struct{}{}:
		default:
		}
		select {
		case <-changes:
			told = true
		case <-time.After(100 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("the client does not hear that resources changed")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := se.CallTool(ctx, &sdk.CallToolParams{Name: "wait"}); err == nil {
		t.Error("a cancelled call has an answer")
	}
	if err := se.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if err := se.Close(); err != nil {
		t.Error(err)
	}
}

// asks sends one request with headers as name: value.
func asks(t *testing.T, method, at, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(b)
}

func begun(t *testing.T, at string) (header string) {
	t.Helper()
	answer, body := asks(t, "POST", at, hello)
	id := answer.Header.Get(sessionHeader)
	if answer.StatusCode != 200 || id == "" || !json.Valid([]byte(body)) || !strings.Contains(body, `"protocolVersion":"2025-06-18"`) {
		t.Fatalf("%s %v %s", answer.Status, answer.Header, body)
	}
	return sessionHeader + ": " + id
}

func TestHTTP(t *testing.T) {
	at := overHTTP(t, testServer())
	id := begun(t, at)
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	const echo = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},"_meta":{"progressToken":1}}}`
	for name, c := range map[string]struct {
		method, body string
		headers      []string
		status       int
		says         string
	}{
		"a list":              {"POST", list, []string{id}, 200, `"name":"echo"`},
		"events":              {"POST", echo, []string{id}, 200, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\""},
		"JSON alone":          {"POST", echo, []string{id, "Accept: application/json"}, 200, `{"jsonrpc":"2.0","id":1,"result":{"content"`},
		"a notification":      {"POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, []string{id}, 202, ""},
		"a response":          {"POST", `{"jsonrpc":"2.0","id":5,"result":{}}`, []string{id}, 202, ""},
		"no session":          {"POST", list, nil, 400, "send initialize first"},
		"an ended session":    {"POST", list, []string{sessionHeader + ": AAAA"}, 404, "send initialize again"},
		"no JSON":             {"POST", "{", []string{id}, 400, `"code":-32700`},
		"a batch":             {"POST", "[" + list + "]", []string{id}, 400, "batches are not supported"},
		"a long message":      {"POST", strings.Repeat("a", mostLine+1), []string{id}, 413, "longer than 1 MB"},
		"another page":        {"POST", list, []string{id, "Origin: http://evil.example"}, 403, "another server"},
		"its own page":        {"POST", list, []string{id, "Origin: " + at}, 200, `"name":"echo"`},
		"a version":           {"POST", list, []string{id, versionHeader + ": 2025-06-18"}, 200, `"name":"echo"`},
		"an unknown version":  {"POST", list, []string{id, versionHeader + ": 2019-01-01"}, 400, "is not supported"},
		"another method":      {"PUT", list, []string{id}, 405, ""},
		"a stream of nothing": {"GET", "", []string{id, "Accept: application/json"}, 406, eventStream},
		"a stream of nobody":  {"GET", "", []string{sessionHeader + ": AAAA"}, 404, ""},
	} {
		answer, body := asks(t, c.method, at, c.body, c.headers...)
		if answer.StatusCode != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: %s %q", name, answer.Status, body)
		}
	}
	if answer, _ := asks(t, "DELETE", at, "", id); answer.StatusCode != 204 {
		t.Error(answer.Status)
	}
	if answer, _ := asks(t, "POST", at, list, id); answer.StatusCode != 404 {
		t.Error("an ended session is answered: ", answer.Status)
	}
}

// Whoever is gone has a moment to come back for nothing: then the call ends.
func TestACallOfWhoHasGoneEnds(t *testing.T) {
	s := testServer()
	began, ended := make(chan struct{}), make(chan struct{})
	s.Tools = append(s.Tools, Tool{Name: "long", Call: func(ctx context.Context, _ json.RawMessage, _ Progress) (Result, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return Result{}, nil
	}})
	at := overHTTP(t, s)
	id := begun(t, at)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", at, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"long"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	name, value, _ := strings.Cut(id, ": ")
	r.Header.Set(name, value)
	go func() {
		if answer, err := http.DefaultClient.Do(r); err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
	}()
	<-began
	cancel()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the call goes on")
	}
}

// Clients that never say goodbye do not fill the memory: the one that was used least recently is forgotten.
func TestSessionsAreBounded(t *testing.T) {
	at := overHTTP(t, testServer())
	first := begun(t, at)
	second := begun(t, at)
	for i := range mostSessions - 1 {
		if i%8 == 0 {
			asks(t, "POST", at, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, first)
		}
		begun(t, at)
	}
	got := ""
	for _, id := range []string{first, second} {
		answer, _ := asks(t, "POST", at, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, id)
		got += fmt.Sprint(answer.StatusCode, " ")
	}
	if got != "200 404 " {
		t.Error(got)
	}
}
