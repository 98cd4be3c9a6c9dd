package logsilence

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/anyserver"
	"snag/lab/clientlog"
	"snag/lab/drawn"
)

// Family draws the incident, and log-silence-pipe: a worker whose log falls silent, because
// its backend hangs, or because nobody reads its standard output. Who reads the log is the
// client.
var Family = drawn.Family{
	Name: "log-silence", Kind: drawn.Inside, Origin: drawn.Lab, Needs: append([]lab.Tool{{Command: "bash", Package: "bash"}}, anyserver.Needs...),
	Faults: []drawn.Fault{
		{Name: "backend-hangs", Suspects: []string{"log-silence", "slow-dependency"}, Subject: `log-worker|backend|:7400`, Account: "call"},
		{Name: "logger-stops-reading", Suspects: []string{"log-silence", "slow-consumer", "receiver-too-slow"}, Subject: `log-worker|logger`, Account: "pipe"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	o := anyserver.Options{Language: anyserver.LanguageOf(b, "backend"), Workers: b.Int("backend's workers", 3, 16), Size: 128}
	o.Wait = b.Duration("backend takes", time.Millisecond, 40*time.Millisecond)
	backend := anyserver.Start(b, net.Server, "backend", net.At(7400), o)
	every := b.Duration("a piece of work every", 5*time.Millisecond, 150*time.Millisecond)
	// A pipe holds 64 KiB: who writes to it waits once it is full.
	full := b.Duration("standard output fills a pipe in", 200*time.Millisecond, 4*time.Second)
	echo := max(100, min(60000, int(65536*every.Seconds()/full.Seconds())))
	log := filepath.Join(b.Dir(), "worker.log")
	self, err := os.Executable()
	if err != nil {
		b.Fail("worker", fmt.Errorf("find the running binary: %w", err))
		return
	}
	pipe := `exec "$0" actor line-reader --comm logger --switched < <(exec "$0" actor log-worker --comm log-worker --to "$1" --log "$2" --every "$3" --echo "$4")`
	logger := b.Run(net.Client, "logger", []string{"bash", "-c", pipe, self, net.At(7400), log, every.String(), fmt.Sprint(echo)})
	b.AwaitPrinted(logger, "first line")
	on, off := backend.Tells("hang 1", "hang 0")
	b.Switch("backend-hangs", on, off)
	turn := func() { b.Signal(logger, syscall.SIGUSR1) }
	b.Switch("logger-stops-reading", turn, turn)
	b.Amount("a worker that writes a line to its log every %v, and %d bytes to its standard output", every, echo)
	go follow(b, log, b.ClientLog("log-reader"))
}

// follow notes how many bytes of the log came when.
func follow(b *drawn.Bench, path, to string) {
	w, err := clientlog.Create(to)
	if err != nil {
		b.Fail("log-reader", err)
		return
	}
	defer w.Close()
	f, err := os.Open(path)
	if err != nil {
		b.Fail("log-reader", fmt.Errorf("follow the log: %w", err))
		return
	}
	defer f.Close()
	for b.Context().Err() == nil && b.Err() == nil {
		n, err := io.Copy(io.Discard, f)
		if err != nil {
			return
		}
		w.Delivered(int(n))
		if _, err := os.Stat(path); err != nil { // the stage is gone
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
