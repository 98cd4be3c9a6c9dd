package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"snag/internal/cli"
	"snag/load"
	"snag/load/reflection"
)

type loadFlags struct {
	rate, conns, size string
	repeats, streams  int
	until             string
	every, deadline   time.Duration
	window, timeout   time.Duration
	request           load.Request
	descriptor        string
	messages          int
	noDelay, quickAck bool
	options           load.SocketOptions
	hdr, html, out    string
	pingPong, spin    bool
	bandwidth         string
	json, yes         bool
	like              likeFlags
	quickAckSet       bool // by --like
	media             mediaFlags
}

func (f *loadFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.rate, "rate", "100", "requests per second over all connections (1k is 1,000); a range as 10..40k: a sweep; max: as many as may be open, again and again")
	flags.StringVar(&f.conns, "conns", "10", "connections; a range as 1..64: a sweep")
	flags.IntVar(&f.streams, "streams", 1, "HTTP/2 and gRPC: so many requests can be open on one connection at a time")
	flags.IntVar(&f.repeats, "repeats", 3, "of a sweep: how often each step runs")
	flags.StringVar(&f.until, "until", "", "find the highest rate (with session: how many sessions) at which this holds, as 'p99 < 100ms'")
	flags.DurationVar(&f.every, "every", 0, "sessions: each connection sends one request in this time (instead of --rate; 320ms with session:)")
	flags.DurationVar(&f.deadline, "deadline", 0, "also count the requests that are not answered within this time (as --every with session:)")
	flags.DurationVar(&f.window, "for", 10*time.Second, "how long (of a sweep and --until: each step, 2s unless given)")
	flags.DurationVar(&f.timeout, "timeout", 5*time.Second, "how long a request may be open")
	flags.StringVar(&f.size, "size", "64", "tcp and udp: bytes of a message (4k is 4,096); a range as 1..64k: a sweep")
	f.addRequest(cmd)
	flags.IntVar(&f.options.BusyPoll, "busy-poll", 0, "SO_BUSY_POLL, µs")
	flags.IntVar(&f.options.CPU, "cpu", -1, "keep snag's thread on this CPU (default: any)")
	flags.BoolVar(&f.pingPong, "pingpong", false, "one connection that is read again and again, without sleep, until the answer is there: then the next request")
	flags.BoolVar(&f.spin, "spin", false, "with --cpu: do not sleep for the last 100 µs before a request is due")
	flags.StringVar(&f.bandwidth, "bandwidth", "", "tcp and udp: send messages of --size at this bit rate, as 50Mbit, and show how much arrives")
	flags.StringVar(&f.hdr, "hdr", "", "also write the times since each request was due to this file, as an HdrHistogram log")
	flags.StringVar(&f.html, "html", "", "of a sweep: also write a page with a chart to this file")
	flags.StringVarP(&f.out, "out", "o", "", "also keep the load as a recording in this folder (snag show, snag judge)")
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "connections" {
			name = "conns"
		}
		return pflag.NormalizedName(name)
	})
	f.like.add(flags)
	f.media.add(flags)
	flags.BoolVar(&f.json, "json", false, "as JSON (docs/load.md)")
	flags.BoolVar(&f.yes, "yes", false, "send more than 1,000 requests per second to another host, or open more than 1,000 connections to it, without a question")
}

// addRequest adds those of a request and its connection, which snag eliminate has too.
func (f *loadFlags) addRequest(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&f.request.Reply, "reply", -1, "tcp and udp: bytes of an answer; 0: none is awaited (default: as --size)")
	flags.IntSliceVar(&f.request.Split, "split", nil, "bytes of each write of a request, as 20,80 (default: one write)")
	flags.StringVar(&f.request.Data, "data", "", "message of tcp and udp, body of HTTP, message of gRPC as JSON, command of Redis, statement of PostgreSQL; @FILE reads a file")
	flags.StringVar(&f.request.Method, "method", "", "HTTP: the method (default: GET; POST with --data)")
	flags.StringArrayVar(&f.request.Headers, "header", nil, "HTTP and gRPC: a header, as 'Name: value'")
	flags.BoolVar(&f.request.HTTP2, "http2", false, "HTTP/2 instead of HTTP/1.1")
	flags.BoolVar(&f.request.Insecure, "insecure", false, "TLS: accept any certificate")
	flags.IntVar(&f.messages, "messages", 0, "gRPC: messages in one request, of methods that take a stream (default: as many as --data has, or 1)")
	flags.StringVar(&f.descriptor, "descriptor", "", "gRPC: a file of protoc --descriptor_set_out (default: the service is asked by reflection)")
	flags.BoolVar(&f.noDelay, "nodelay", true, "TCP_NODELAY; false: Nagle's algorithm delays a write while another is not acknowledged")
	flags.BoolVar(&f.quickAck, "quickack", false, "TCP_QUICKACK: acknowledge at once (default: as the kernel has it)")
	flags.IntVar(&f.options.SendBuffer, "sndbuf", 0, "SO_SNDBUF, bytes (default: as the kernel has it)")
	flags.IntVar(&f.options.ReceiveBuffer, "rcvbuf", 0, "SO_RCVBUF, bytes (default: as the kernel has it)")
	flags.StringVar(&f.options.Congestion, "congestion", "", "TCP_CONGESTION, as cubic (default: as the kernel has it)")
}

// asked is what the flags ask for.
type asked struct {
	plan     load.Plan
	from, to float64 // requests/s; equal: one rate
	conns    []int
	sizes    []load.SizedTarget
	bound    *load.Bound
	every    time.Duration // each connection is a session that sends a message in this time; 0: none is
	bits     float64       // per second; 0: requests are asked
}

func (a asked) sweeps() bool {
	return a.bound == nil && (a.to > a.from || len(a.conns) > 1 || len(a.sizes) > 1)
}

// stepLasts is how long a step of a sweep is unless --for says so.
const stepLasts = 2 * time.Second

func (f *loadFlags) read(ctx context.Context, cmd *cobra.Command, target string) (out asked, err error) {
	given := cmd.Flags().Changed
	if target, err = f.session(cmd, target); err != nil {
		return out, err
	}
	if out.from, out.to, err = load.ParseRates(f.rate); err != nil {
		return out, cli.Usage("--rate %s: %v", f.rate, err)
	}
	if out.conns, err = load.ParseConns(f.conns); err != nil {
		return out, cli.Usage("--conns: %v", err)
	}
	sizes, err := load.ParseSizes(f.size)
	if err != nil {
		return out, cli.Usage("--size: %v", err)
	}
	if len(sizes) > 1 && f.until != "" {
		return out, cli.Usage("--until is of one --size")
	}
	if err := f.sessions(given, &out); err != nil {
		return out, err
	}
	if err := f.modes(given, &out); err != nil {
		return out, err
	}
	if message := strings.HasPrefix(target, "tcp://") || strings.HasPrefix(target, "udp://"); message && given("size") && f.request.Data != "" {
		return out, cli.Usage("--size and --data: a message is as long as its data")
	}
	if err := f.bounded(given, &out); err != nil {
		return out, err
	}
	for _, n := range sizes {
		f.request.Size = n
		if out.plan.Target, err = f.target(ctx, target); err != nil {
			return out, err
		}
		out.sizes = append(out.sizes, load.SizedTarget{Size: n, Target: out.plan.Target})
	}
	if len(sizes) > 1 && !out.plan.Target.Sized() {
		return out, cli.Usage("--size is of tcp:// and udp:// targets: %s has its own messages", out.plan.Target.Name)
	}
	if out.sweeps() && f.repeats < 1 {
		return out, cli.Usage("--repeats %d: at least 1", f.repeats)
	}
	for name, value := range map[string]string{"hdr": f.hdr, "out": f.out} {
		if value != "" && (out.sweeps() || out.bound != nil) {
			return out, cli.Usage("--%s is of one rate, and not of a sweep or --until", name)
		}
	}
	if f.html == "-" && f.json {
		return out, cli.Usage("--json and --html -: both go to standard output; give the page a file")
	}
	if f.html != "" && !out.sweeps() {
		return out, cli.Usage("--html is of a sweep: give a range of --rate or --conns")
	}
	if out.sweeps() && out.from == 0 {
		return out, cli.Usage("--rate max on several numbers of connections: give a range of rates, such as 10..40k")
	}
	if err := f.applyLike(ctx, cmd, target, &out); err != nil {
		return out, err
	}
	f.options.NoDelay = &f.noDelay
	if given("quickack") || f.quickAckSet {
		f.options.QuickAck = &f.quickAck
	}
	window := f.window
	if (out.sweeps() || out.bound != nil) && !given("for") {
		window = stepLasts
	}
	if out.bound != nil && !given("for") {
		window = max(window, messagesOfStep*out.every)
	}
	p := &out.plan
	p.Sessions = f.every > 0
	p.PingPong, p.Spin, p.Streams = f.pingPong, f.spin, f.streams
	p.Rate, p.Conns, p.For, p.Warm, p.Timeout, p.Options, p.Deadline = out.from, out.conns[0], window, min(time.Second, window/10), f.timeout, f.options, f.deadline
	if out.bits > 0 {
		if out.plan, err = p.ForBandwidth(out.bits); err != nil {
			return out, cli.Usage("--bandwidth: %v", err)
		}
		out.from, out.to = out.plan.Rate, out.plan.Rate
	}
	if err := out.plan.Check(); err != nil {
		return out, cli.Usage("%v", err)
	}
	return out, nil
}

// wholeRequest is the request with the size of its answer, and with the data of a file.
func (f *loadFlags) wholeRequest() (load.Request, error) {
	r := f.request
	path, isFile := strings.CutPrefix(r.Data, "@")
	if isFile {
		b, err := os.ReadFile(path)
		if err != nil {
			return r, err
		}
		r.Data = string(b)
	}
	switch {
	case r.Reply >= 0:
	case f.bandwidth != "":
		r.Reply = 0
	case r.Data != "":
		r.Reply = len(r.Data)
	default:
		r.Reply = r.Size
	}
	return r, nil
}

// target reads the URL, after what it needs from files and from the service itself.
func (f *loadFlags) target(ctx context.Context, text string) (load.Target, error) {
	r, err := f.wholeRequest()
	if err != nil {
		return load.Target{}, err
	}
	to, err := load.ParseTarget(text, r)
	if err != nil {
		return to, cli.Usage("%v", err)
	}
	if !strings.HasPrefix(text, "grpc") {
		if f.messages != 0 {
			return to, cli.Usage("--messages is of grpc:// and grpcs://: a request to %s is one message", to.Name)
		}
		return to, nil
	}
	if f.messages < 0 || f.messages > mostMessages {
		return to, cli.Usage("--messages %d: from 1 to %d", f.messages, mostMessages)
	}
	if r.Data == "" && f.messages <= 1 {
		return to, nil
	}
	if r.Messages, err = f.encode(ctx, text, r); err != nil {
		return to, err
	}
	if to, err = load.ParseTarget(text, r); err != nil {
		return to, cli.Usage("%v", err)
	}
	return to, nil
}

// mostMessages of one request are kept in memory for as long as the load runs.
const mostMessages = 1_000_000

// encode has the messages of gRPC in their wire format.
func (f *loadFlags) encode(ctx context.Context, target string, r load.Request) ([][]byte, error) {
	messages, err := reflection.Encode(ctx, reflection.Call{Target: target, JSON: r.Data, Messages: f.messages, Descriptor: f.descriptor, Insecure: r.Insecure})
	var bad *reflection.DataError
	var one *reflection.OneMessageError
	switch {
	case errors.As(err, &one) && f.messages > 1:
		return nil, cli.Usage("--messages %d: %v", f.messages, err)
	case errors.As(err, &bad), errors.As(err, &one):
		return nil, cli.Usage("--data: %v", err)
	}
	return messages, err
}
