package load

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// python is Debian's, which has its package python3-grpcio.
const python = "/usr/bin/python3"

// grpcio starts testdata/grpc_server.py. It returns grpc://HOST:PORT/snag.test/, and what ends it and returns how
// many calls it answered.
func grpcio(t *testing.T, args ...string) (url string, end func() int64) {
	t.Helper()
	if exec.Command(python, "-c", "import grpc").Run() != nil {
		t.Skip("python3-grpcio is not installed: make setup installs it")
	}
	cmd := exec.Command(python, append([]string{"testdata/grpc_server.py"}, args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	number := func() int64 {
		line, _ := lines.ReadString('\n')
		n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			t.Fatalf("the server printed %q", line)
		}
		return n
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return fmt.Sprintf("grpc://127.0.0.1:%d/snag.test/", number()), func() int64 {
		in.Close()
		return number()
	}
}

// Several calls on one connection to a server of gRPC's C-core: unary ones, and streams that need its flow control.
func TestSeveralCallsOfGrpcio(t *testing.T) {
	t.Parallel()
	large := make([]byte, 50_000)
	for _, tt := range []struct {
		method   string
		messages [][]byte
	}{
		{"Unary", nil},
		{"Unary", [][]byte{make([]byte, 2_000_000)}},
		{"Upload", slices.Repeat([][]byte{large}, 20)},
		{"Both", slices.Repeat([][]byte{large}, 20)},
	} {
		url, end := grpcio(t, "0.05", "32", "0")
		p := plan(target(t, url+tt.method, Request{Messages: tt.messages}))
		p.Rate, p.Conns, p.Streams, p.Timeout = 40, 1, 30, 5*time.Second
		r, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if r.Done != r.Sent || r.Sent < 30 || r.Failed > 0 || !r.Lossless() || r.Open < 1.8 || len(r.Locals.Ports) != 1 {
			t.Errorf("%s of %d: %d sent, %d answered, %d errors, lost %v, %.1f open", tt.method, len(tt.messages), r.Sent, r.Done, r.Failed, r.Lost, r.Open)
		}
		if n := end(); n != r.Done {
			t.Errorf("%s of %d: the server answered %d calls, and %d were counted", tt.method, len(tt.messages), n, r.Done)
		}
	}
}

func TestTheLimitOfGrpcio(t *testing.T) {
	t.Parallel()
	url, end := grpcio(t, "0.05", "32", "0", "grpc.max_concurrent_streams=4")
	p := plan(target(t, url+"Unary", Request{}))
	p.Rate, p.Conns, p.Streams = 200, 1, 30
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if l := r.Streams.Limit; l == nil || *l != 4 || r.Streams.Waited < 20 || r.Open > 4 || r.Done != r.Sent || r.Failed > 0 {
		t.Errorf("limit %v, %+v, %.1f open, %d of %d answered, %d errors", l, r.Streams, r.Open, r.Done, r.Sent, r.Failed)
	}
	if n := end(); n != r.Done {
		t.Errorf("the server answered %d calls, and %d were counted", n, r.Done)
	}
}

// Calls beyond what the server takes at a time are refused by their status (RESOURCE_EXHAUSTED): errors, and no more.
func TestGrpcioRefusesCalls(t *testing.T) {
	t.Parallel()
	url, end := grpcio(t, "0.1", "32", "2")
	p := plan(target(t, url+"Unary", Request{}))
	p.Rate, p.Conns, p.Streams = 100, 1, 50
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Done != r.Sent || r.Failed < 50 || len(r.Lost) > 0 || len(r.Locals.Ports) != 1 {
		t.Errorf("%d sent, %d answered, %d errors, lost %v, on %d connections", r.Sent, r.Done, r.Failed, r.Lost, len(r.Locals.Ports))
	}
	if n := end(); n != r.Done-r.Failed {
		t.Errorf("the server answered %d calls, and %d were counted", n, r.Done-r.Failed)
	}
}

// C-core ends connections by two GOAWAYs and a PING between them. No call is lost, and none is made twice.
func TestGrpcioEndsConnections(t *testing.T) {
	t.Parallel()
	url, end := grpcio(t, "0.02", "32", "0", "grpc.max_connection_age_ms=200", "grpc.max_connection_age_grace_ms=5000")
	p := plan(target(t, url+"Unary", Request{}))
	p.Rate, p.Conns, p.Streams, p.For = 200, 2, 20, 1500*time.Millisecond
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Done != r.Sent || r.Sent < 280 || r.Failed > 0 || !r.Lossless() || r.Closed < 6 {
		t.Errorf("%d sent, %d answered, %d errors, %d not sent, %d closed, lost %v", r.Sent, r.Done, r.Failed, r.Behind, r.Closed, r.Lost)
	}
	if n := end(); n != r.Done {
		t.Errorf("the server answered %d calls, and %d were counted", n, r.Done)
	}
}
