package load

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	grpcgo "google.golang.org/grpc"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/keepalive"
	grpcreflection "google.golang.org/grpc/reflection"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"snag/load/reflection"
)

// calls is grpc-go's test service, which keeps how many messages came with each call and their bytes.
type calls struct {
	grpc_testing.UnimplementedTestServiceServer
	takes time.Duration

	mu       sync.Mutex
	messages []int
	bytes    int
}

func (s *calls) came(messages, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages, s.bytes = append(s.messages, messages), s.bytes+bytes
}

func (s *calls) UnaryCall(_ context.Context, r *grpc_testing.SimpleRequest) (*grpc_testing.SimpleResponse, error) {
	time.Sleep(s.takes)
	s.came(1, len(r.GetPayload().GetBody()))
	return &grpc_testing.SimpleResponse{}, nil
}

func (s *calls) StreamingInputCall(in grpcgo.ClientStreamingServer[grpc_testing.StreamingInputCallRequest, grpc_testing.StreamingInputCallResponse]) error {
	for n, size := 0, 0; ; n++ {
		m, err := in.Recv()
		if errors.Is(err, io.EOF) {
			time.Sleep(s.takes)
			s.came(n, size)
			return in.SendAndClose(&grpc_testing.StreamingInputCallResponse{AggregatedPayloadSize: int32(size)})
		}
		if err != nil {
			return err
		}
		size += len(m.GetPayload().GetBody())
	}
}

func (s *calls) FullDuplexCall(both grpcgo.BidiStreamingServer[grpc_testing.StreamingOutputCallRequest, grpc_testing.StreamingOutputCallResponse]) error {
	for n, size := 0, 0; ; n++ {
		m, err := both.Recv()
		if errors.Is(err, io.EOF) {
			s.came(n, size)
			return nil
		}
		if err != nil {
			return err
		}
		time.Sleep(s.takes)
		size += len(m.GetPayload().GetBody())
		if err := both.Send(&grpc_testing.StreamingOutputCallResponse{Payload: m.GetPayload()}); err != nil {
			return err
		}
	}
}

// serve runs the service with reflection. It returns grpc://HOST:PORT/SERVICE/.
func (s *calls) serve(t *testing.T, with ...grpcgo.ServerOption) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpcgo.NewServer(with...)
	grpc_testing.RegisterTestServiceServer(g, s)
	grpcreflection.Register(g)
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	return "grpc://" + l.Addr().String() + "/grpc.testing.TestService/"
}

// described writes a descriptor set of the service, as protoc does.
func described(t *testing.T) string {
	t.Helper()
	set := &descriptorpb.FileDescriptorSet{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		set.File = append(set.File, protodesc.ToFileDescriptorProto(f))
	}
	add(grpc_testing.File_grpc_testing_test_proto)
	seen := map[string]bool{}
	all := set.File
	set.File = nil
	for _, f := range all {
		if !seen[f.GetName()] {
			seen[f.GetName()] = true
			set.File = append(set.File, f)
		}
	}
	b, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "service.pb")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each call of a client stream or of one in both directions has all its messages, by reflection and by a descriptor.
func TestStreamsOfGRPC(t *testing.T) {
	file := described(t)
	for _, tt := range []struct {
		method, json string
		messages     int
		descriptor   string
		want, bytes  int // of one call
	}{
		{"UnaryCall", `{"payload":{"body":"YWJj"}}`, 0, "", 1, 3},
		{"StreamingInputCall", `{"payload":{"body":"YWJj"}}`, 5, "", 5, 15},
		{"StreamingInputCall", `{"payload":{"body":"YWJj"}} {}`, 5, file, 5, 9},
		{"StreamingInputCall", `{"payload":{"body":"YWJj"}} {}`, 0, file, 2, 3},
		{"FullDuplexCall", `{"payload":{"body":"YWJj"}}`, 4, "", 4, 12},
		{"FullDuplexCall", "", 3, file, 3, 0},
	} {
		s := &calls{}
		url := s.serve(t) + tt.method
		messages, err := reflection.Encode(context.Background(), reflection.Call{Target: url, JSON: tt.json, Messages: tt.messages, Descriptor: tt.descriptor})
		if err != nil {
			t.Fatalf("%+v: %v", tt, err)
		}
		p := plan(target(t, url, Request{Messages: messages}))
		p.Rate, p.For, p.Streams, p.Conns = 200, 300*time.Millisecond, 8, 1
		r, err := Run(context.Background(), p)
		if err != nil {
			t.Fatalf("%+v: %v", tt, err)
		}
		if r.Done != r.Sent || r.Sent+r.Behind != 60 || r.Failed > 0 || !r.Lossless() || int64(len(s.messages)) != r.Done || s.bytes != tt.bytes*len(s.messages) {
			t.Errorf("%+v: %d sent, %d answered, %d errors, lost %v; the server has %d calls, %d bytes", tt, r.Sent, r.Done, r.Failed, r.Lost, len(s.messages), s.bytes)
		}
		for _, n := range s.messages {
			if n != tt.want {
				t.Errorf("%+v: a call of %d messages", tt, n)
				break
			}
		}
	}
}

// The time of a stream is up to its status: each of its messages takes 10 ms, and streams go on at the same time.
func TestTheTimeOfAStreamOfGRPC(t *testing.T) {
	s := &calls{takes: 10 * time.Millisecond}
	url := s.serve(t, grpcgo.MaxConcurrentStreams(20)) + "FullDuplexCall"
	messages, err := reflection.Encode(context.Background(), reflection.Call{Target: url, Messages: 5})
	if err != nil {
		t.Fatal(err)
	}
	p := plan(target(t, url, Request{Messages: messages}))
	p.Rate, p.Conns, p.Streams = 100, 1, 50
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if p50 := time.Duration(r.FromDue.ValueAtQuantile(50)); p50 < 50*time.Millisecond || p50 > 100*time.Millisecond || r.Done != r.Sent || r.Failed > 0 || r.Open < 4 {
		t.Errorf("half within %v, %d of %d answered, %d errors, %.1f open", p50, r.Done, r.Sent, r.Failed, r.Open)
	}
	if r.Streams.Limit == nil || *r.Streams.Limit != 20 {
		t.Errorf("%+v", r.Streams)
	}
}

// A server that ends its connections after a time (GOAWAY, twice) loses no call.
func TestGRPCServersEndConnections(t *testing.T) {
	s := &calls{takes: 20 * time.Millisecond}
	url := s.serve(t, grpcgo.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: 200 * time.Millisecond, MaxConnectionAgeGrace: 5 * time.Second})) + "UnaryCall"
	p := plan(target(t, url, Request{}))
	p.Rate, p.Conns, p.Streams, p.For = 200, 2, 20, 1500*time.Millisecond
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Sent+r.Behind != 300 || r.Done != r.Sent || r.Failed > 0 || !r.Lossless() || r.Closed < 6 || len(r.Locals.Ports) < 8 {
		t.Errorf("%d sent, %d answered, %d errors, %d not sent, %d closed, lost %v", r.Sent, r.Done, r.Failed, r.Behind, r.Closed, r.Lost)
	}
}

// While the last calls of a connection that the server ends are answered, others go over a new one: they do not wait.
func TestCallsDoNotWaitForAConnectionThatEnds(t *testing.T) {
	s := &calls{takes: 300 * time.Millisecond}
	url := s.serve(t, grpcgo.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: 200 * time.Millisecond, MaxConnectionAgeGrace: 5 * time.Second})) + "UnaryCall"
	p := plan(target(t, url, Request{}))
	p.Rate, p.Conns, p.Streams, p.For = 100, 1, 100, 1500*time.Millisecond
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Done != r.Sent || r.Sent < 140 || !r.Lossless() || r.Failed > 0 || r.Closed < 4 {
		t.Errorf("%d sent, %d answered, %d errors, %d closed, lost %v", r.Sent, r.Done, r.Failed, r.Closed, r.Lost)
	}
	if each := r.Parts.Waiting / float64(r.Parts.N); each > 0.05 {
		t.Errorf("a call waited for %.3f s for a connection, on average", each)
	}
}

// What does not fit a method is said before anything is sent.
func TestMessagesThatDoNotFit(t *testing.T) {
	file := described(t)
	for _, tt := range []struct {
		method, json string
		messages     int
		want         string
	}{
		{"UnaryCall", "{} {}", 0, "UnaryCall takes one message; several are for methods that take a stream of them"},
		{"StreamingOutputCall", "", 2, "takes one message"},
		{"StreamingInputCall", `{} {"payload":{"size":1}}`, 0, "message 2 is not a grpc.testing.StreamingInputCallRequest"},
		{"StreamingInputCall", `{} [`, 0, "message 2 is not JSON"},
		{"Nothing", "", 2, "has no method Nothing: EmptyCall, UnaryCall"},
	} {
		_, err := reflection.Encode(context.Background(), reflection.Call{Target: "grpc://h:1/grpc.testing.TestService/" + tt.method, JSON: tt.json, Messages: tt.messages, Descriptor: file})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}
