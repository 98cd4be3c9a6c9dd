package main

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
)

// --messages and --data are checked against what the service says of its method, and are all in one request.
func TestMessagesOfOneRequest(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(s, health.NewServer())
	reflection.Register(s)
	go func() { _ = s.Serve(l) }()
	defer s.Stop()
	const stream, unary = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "/grpc.health.v1.Health/Check"
	for _, tt := range []struct {
		method, data string
		messages     int
		times        int // that the data is in the request
		want         string
	}{
		{stream, `{"host":"abcdef"}`, 3, 3, ""},
		{stream, `{"host":"abcdef"} {"host":"-"}`, 0, 1, ""},
		{unary, `{"service":"abcdef"}`, 0, 1, ""},
		{unary, `{"service":"abcdef"}`, 1, 1, ""},
		{unary, `{"service":"abcdef"}`, 3, 0, "--messages 3: grpc.health.v1.Health.Check takes one message"},
		{unary, `{} {}`, 0, 0, "--data: grpc.health.v1.Health.Check takes one message"},
		{unary, `{"nothing":1}`, 0, 0, "--data: message 1 is not a grpc.health.v1.HealthCheckRequest"},
	} {
		f := &loadFlags{messages: tt.messages}
		f.request.Data = tt.data
		to, err := f.target(context.Background(), "grpc://"+l.Addr().String()+tt.method)
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", tt, err)
			continue
		}
		if n := bytes.Count(bytes.Join(to.Protocol.New().Ask(0), nil), []byte("abcdef")); n != tt.times {
			t.Errorf("%+v: it is in the request %d times", tt, n)
		}
	}
}
