package mcp

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// connected is a session of the official SDK's client with a server.
func connected(t *testing.T, s *Server, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.Serve(context.Background(), toServer, fromServer) }()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	se, err := c.Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = se.Close()
		_ = fromClient.Close()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Error("the server does not end with its client")
		}
	})
	return se
}

func TestTheSDKsClient(t *testing.T) {
	progress := make(chan *sdk.ProgressNotificationParams, 10)
	changes := make(chan struct{}, 1)
	changed := make(chan struct{}, 1)
	s := testServer()
	s.Changed, s.Instructions = changed, "read this"
	se := connected(t, s, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params },
		ResourceListChangedHandler:  func(context.Context, *sdk.ResourceListChangedRequest) { changes <- struct{}{} },
	})
	if got := se.InitializeResult(); got.Instructions != "read this" || got.ServerInfo.Name != "test" || got.ProtocolVersion != "2025-11-25" {
		t.Errorf("%+v", got)
	}
	tools, err := se.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 3 {
		t.Fatal(err, tools)
	}
	for _, tool := range tools.Tools {
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s is not read-only", tool.Name)
		}
	}
	p := &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "good morning", "times": 2}}
	p.SetProgressToken("token")
	r, err := se.CallTool(t.Context(), p)
	if err != nil || r.IsError || r.Content[0].(*sdk.TextContent).Text != "good morning" || r.Content[1].(*sdk.ResourceLink).URI != "x://1" {
		t.Fatalf("%+v %v", r, err)
	}
	if b, _ := json.Marshal(r.StructuredContent); string(b) != `{"text":"good morning","times":2}` {
		t.Errorf("%s", b)
	}
	if a, b := <-progress, <-progress; a.Message != "half" || b.Message != "still half" || b.Progress <= a.Progress || a.Total != 2 || a.ProgressToken != "token" {
		t.Errorf("%+v %+v", a, b)
	}
	if c, err := se.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "x://1"}); err != nil || c.Contents[0].Text != "1" {
		t.Errorf("%+v %v", c, err)
	}
	if _, err := se.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "x://7"}); err == nil || !strings.Contains(err.Error(), "there is none") {
		t.Errorf("%v", err)
	}
	if c, err := se.ListResourceTemplates(t.Context(), nil); err != nil || len(c.ResourceTemplates) != 1 {
		t.Errorf("%+v %v", c, err)
	}
	changed <- struct{}{}
	select {
	case <-changes:
	case <-time.After(10 * time.Second):
		t.Error("the client does not hear that resources changed")
	}
	if err := se.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// A call that the client cancels ends, and others do not.
func TestCancel(t *testing.T) {
	began, ended := make(chan string, 2), make(chan string, 2)
	s := testServer()
	s.Tools = append(s.Tools, Tool{Name: "long", Input: SchemaOf[echoIn](), Call: func(ctx context.Context, raw json.RawMessage, _ Progress) (Result, error) {
		in, err := Arguments[echoIn](raw)
		began <- in.Text
		<-ctx.Done()
		ended <- in.Text
		return Result{}, err
	}})
	se := connected(t, s, nil)
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error, 2)
	for text, ctx := range map[string]context.Context{"first": ctx, "second": t.Context()} {
		go func() {
			_, err := se.CallTool(ctx, &sdk.CallToolParams{Name: "long", Arguments: map[string]any{"text": text}})
			answered <- err
		}()
	}
	<-began
	<-began
	cancel()
	select {
	case got := <-ended:
		if got != "first" {
			t.Errorf("%s ended", got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("nothing ended")
	}
	if err := <-answered; err == nil {
		t.Error("a cancelled call has an answer")
	}
	select {
	case got := <-ended:
		t.Errorf("%s ended too", got)
	case <-time.After(50 * time.Millisecond):
	}
	if err := se.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
