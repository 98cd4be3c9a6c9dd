package main

// All that is measured.
var contests = []contest{
	pingPong("tcp"), pingPong("udp"),
	lag(1000), lag(10_000),
	high(),
	cpu("CPU, saturated", 0), cpu("CPU, 10,000 requests/s", 10_000),
	redis(), grpcContest(), bulk(),
}

// A service that sleeps, one with a small window (of a message that is larger), and one behind a path that loses
// packets are slow, and nothing of them is Nagle's algorithm.
var checks = []check{
	nagle("Nagle: the client's split writes", "TCP_NODELAY", own(), append([]string{"--nodelay=false"}, split...)...),
	nagle("Nagle: the service's split answer", "TCP_QUICKACK", own("-parts", "2", "-nagle")),
	nagle("control: split writes with TCP_NODELAY", "", own(), split...),
	nagle("control: a split answer with TCP_NODELAY", "", own("-parts", "2")),
	limited("control: a slow service", own("-takes", "50ms")),
	limited("control: a small window", own("-size", "60000", "-rcvbuf", "8192"), "--size", "60000"),
	limited("control: a path that loses packets", lossy),
	limited("control: a generator without CPU", busy),
	realGRPC("control: gRPC"),
	realGRPC("control: gRPC, without its probes of the bandwidth", "grpc.http2.bdp_probe=0", "grpc.optimization_target=1"),
	knee(4), knee(8), knee(16),
	session(),
}

// goal is a figure of snag beside that of another, or beside a number.
type goal struct {
	contest, figure string
	peer            string  // "": the figure itself is the value
	most, least     float64 // 0: no such bound
}

var goals = []goal{
	{"ping-pong over tcp", "p50, µs", "sockperf", 1.10, 0}, {"ping-pong over tcp", "p99, µs", "sockperf", 1.15, 0},
	{"ping-pong over tcp", "p50, µs", "sockperf --nonblocked", 1.10, 0}, {"ping-pong over tcp", "p99, µs", "sockperf --nonblocked", 1.15, 0},
	{"ping-pong over udp", "p50, µs", "sockperf", 1.10, 0}, {"ping-pong over udp", "p99, µs", "sockperf", 1.15, 0},
	{"ping-pong over udp", "p50, µs", "sockperf --nonblocked", 1.10, 0}, {"ping-pong over udp", "p99, µs", "sockperf --nonblocked", 1.15, 0},
	{"lateness at 1,000 requests/s", "late p50, µs", "wrk2", 0.10, 0}, {"lateness at 1,000 requests/s", "late p50, µs", "fortio", 0.10, 0}, {"lateness at 1,000 requests/s", "late p50, µs", "snag --spin", 0, 0},
	{"lateness at 10,000 requests/s", "late p50, µs", "wrk2", 0.20, 0}, {"lateness at 10,000 requests/s", "late p50, µs", "fortio", 0.20, 0}, {"lateness at 10,000 requests/s", "late p50, µs", "snag --spin", 0, 0},
	{"40,000 requests/s", "achieved, share", "", 0, 0.99}, {"40,000 requests/s", "achieved, share", "wrk2", 0, 0}, {"40,000 requests/s", "achieved, share", "fortio", 0, 0},
	{"CPU, saturated", "CPU per request, µs", "fortio", 1.0, 0}, {"CPU, saturated", "CPU per request, µs", "wrk", 0, 0},
	{"CPU, 10,000 requests/s", "CPU per request, µs", "wrk2", 2.0, 0}, {"CPU, 10,000 requests/s", "CPU per request, µs", "fortio", 0, 0},
	{"Redis, saturated", "CPU per request, µs", "redis-benchmark", 0, 0},
	{"gRPC, saturated", "requests/s", "ghz", 0, 0},
	{"bandwidth of one connection", "Gbit/s", "iperf3", 0, 0},
}
