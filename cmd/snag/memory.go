package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// smallHeap, bytes: with the program itself some 20 MB, snag find stays under
	// 60 MB on a host with 10,000 sockets (docs/bench.md).
	smallHeap = 40 << 20
	// readHeap, bytes, is the same for snag read, which stays under 80 MB, and has less
	// to collect with more room (docs/bench-files.md).
	readHeap = 44 << 20
	// startPercent is GOGC for the first second: what is read to load the probes is soon
	// garbage, and the program's pages are not given back yet.
	startPercent = 50
	asGo         = 100 // GOGC as Go has it
	// room is how much more than what is in use the heap may grow to where that is
	// more: with less, the collector would take the CPU that the services need.
	room = 1.5
)

// stayLean has the collector run sooner than Go would by itself, which lets the heap
// double, until ctx ends, and gives back what only the program's start needed. What the user says in GOMEMLIMIT or
// GOGC goes first.
func stayLean(ctx context.Context) { stayWithin(ctx, smallHeap, startPercent) }

// stayWithin is stayLean for a heap that may be larger, with its own GOGC for the first
// second.
func stayWithin(ctx context.Context, heap int64, first int) {
	giveBackPages() // the start of the program ran through all its packages
	if os.Getenv("GOMEMLIMIT") != "" || os.Getenv("GOGC") != "" {
		return
	}
	debug.SetMemoryLimit(heap)
	debug.SetGCPercent(first)
	time.AfterFunc(time.Second, func() { debug.SetGCPercent(asGo) })
	eachCollection(ctx, func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		debug.SetMemoryLimit(max(heap, int64(room*float64(live[0].Value.Uint64()))))
	})
}

// each is garbage from the start: that it is collected reports that the collector ran.
type each struct{ _ *byte } // with a pointer, so that it shares no block with others

// eachCollection calls f after each run of the collector until ctx ends. A limit that is set
// once a second only lets the collector run without pause in a heap that has just grown: of
// 200 namespaces' series a third of snag's CPU time went there.
func eachCollection(ctx context.Context, f func()) {
	runtime.SetFinalizer(&each{}, func(*each) {
		if ctx.Err() == nil {
			f()
			eachCollection(ctx, f)
		}
	})
}
