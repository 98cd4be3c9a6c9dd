package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"snag/internal/cli"
	"snag/probes"
	"snag/probes/streams"
	"snag/probes/streams/watch"
	"snag/recording"
	"snag/report"
	"snag/verdict"
)

// How long the host is recorded around what happens to a stream.
const (
	hostWindow  = time.Minute      // of one recording; it is then thrown away, unless a stream stopped
	hostSettle  = 7 * time.Second  // from when a freeze is told to when the recording is judged: most have ended by then, and how they end tells much
	hostLeast   = 12 * time.Second // of a recording that is judged
	hostBetween = 30 * time.Second // between two judgements: what freezes again and again must not cost a CPU
	hostKept    = 3                // recordings that were judged: the last
)

// hostside records the host while streams are watched on it (--host), as snag find
// does, a minute at a time, and judges the minute in which a stream stopped.
type hostside struct {
	w       *watch.Watcher
	base    string
	kept    []string
	stopped chan struct{} // a stream did
	judged  time.Time     // the last time
	told    string        // the last error
	note    func(string)
	tell    func(watch.Judged)
}

func newHostside(note func(string), tell func(watch.Judged)) (*hostside, error) {
	base, err := os.MkdirTemp("", "snag-watch-host-")
	if err != nil {
		return nil, fmt.Errorf("--host: %w (TMPDIR can name another folder)", err)
	}
	return &hostside{base: base, stopped: make(chan struct{}, 1), note: note, tell: tell}, nil
}

// onStop is called by the watch when a stream stops.
func (h *hostside) onStop() {
	select {
	case h.stopped <- struct{}{}:
	default: // it is known that one did
	}
}

// run records and judges until ctx ends.
func (h *hostside) run(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		dir := filepath.Join(h.base, strconv.Itoa(n))
		stopped, err := h.record(ctx, dir)
		switch {
		case err != nil && ctx.Err() == nil:
			if h.told != err.Error() {
				h.told = err.Error()
				h.note("--host: " + h.told)
			}
			h.remove(dir)
			rest(ctx, hostBetween)
		case stopped && h.judge(dir):
			h.keep(dir)
		default:
			h.remove(dir)
		}
	}
}

// record fills one recording, and reports whether a stream stopped in it.
func (h *hostside) record(ctx context.Context, dir string) (stopped bool, err error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now()
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer cancel()
		select {
		case <-inner.Done():
			return
		case <-time.After(hostWindow):
			return
		case <-h.stopped:
		}
		stopped = true
		rest(inner, time.Until(laterOf(time.Now().Add(hostSettle), began.Add(hostLeast), h.judged.Add(hostBetween))))
	}()
	err = probes.Record(inner, probes.Plan{
		Dir: dir, For: time.Hour, Snag: cli.Version, Reading: streams.Reading(h.w), Notice: func(string) {}, Between: giveBack,
	})
	cancel()
	<-over
	return stopped, err
}

func laterOf(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// judge reports what a recording says of each stream that suffered in it; false: of none.
func (h *hostside) judge(dir string) bool {
	h.judged = time.Now()
	r, err := recording.OpenOwn(dir)
	if err != nil {
		h.note("--host: " + err.Error())
		return false
	}
	v := verdict.Judge(r)
	told := h.w.Judge(func(stream, layer string) (watch.Judged, bool) {
		b, ok := report.BriefOn(v, recording.Stream{Name: stream, Layer: layer})
		return watch.Judged{Culprit: b.Culprit, Subject: b.Subject, Confidence: b.Confidence, Proof: b.Proof, Text: b.Text, Recording: dir}, ok
	})
	for _, j := range told {
		h.tell(j)
	}
	return len(told) > 0
}

// keep keeps a recording, and the last few of those before it.
func (h *hostside) keep(dir string) {
	if h.kept = append(h.kept, dir); len(h.kept) > hostKept {
		h.remove(h.kept[0])
		h.kept = h.kept[1:]
	}
}

func (h *hostside) remove(dir string) {
	if err := os.RemoveAll(dir); err != nil {
		h.note("--host: " + err.Error())
	}
}

// close leaves nothing behind but recordings that were judged.
func (h *hostside) close() error {
	if len(h.kept) > 0 {
		return nil
	}
	return os.RemoveAll(h.base)
}

func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
