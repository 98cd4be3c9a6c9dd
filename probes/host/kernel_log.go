package host

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/probes/probe"
	"snag/recording"
	"snag/recording/kernellog"
)

// Bounds of what is read and kept of the kernel log.
const (
	// logBefore the window lines are taken in: what named the cause once and is
	// rate-limited since ("table full" is told every 5 s at most, and an interface
	// went down once).
	logBefore = 10 * time.Minute
	// mostRecords are read in a tick: the whole of a usual ring of 256 KiB.
	mostRecords = 5000
	// mostLines are kept in a tick; the rest is counted in the coverage.
	mostLines = 20
	// mostEarlier lines from before the window are kept: the last ones.
	mostEarlier = 50
)

// records reads one record after another of the kernel log; unix.EAGAIN when
// there is no more, unix.EPIPE when some were overwritten before they were read.
type records interface {
	next(buf []byte) (int, error)
	close()
}

type kmsg int

func (k kmsg) next(buf []byte) (int, error) { return unix.Read(int(k), buf) }
func (k kmsg) close()                       { unix.Close(int(k)) }

func openKmsg() (records, error) {
	fd, err := unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		caps, _ := kernel.Capabilities("/proc") // none: the first thing that may be lacking
		return nil, noKmsg(err, caps.Has(unix.CAP_SYSLOG))
	}
	return kmsg(fd), nil
}

// noKmsg says why the device could not be opened, by who may read the kernel's log, or may not. Runtimes give a
// container neither the device nor, in its control group, the right to open it.
func noKmsg(err error, permitted bool) *probe.Unavailable {
	no := &probe.Unavailable{
		Why:  fmt.Sprintf("open /dev/kmsg: %v", err),
		Cure: "run as root, or give the binary CAP_SYSLOG (sysctl kernel.dmesg_restrict)",
	}
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EPERM) && permitted:
		no.Cure = "run snag on the host, or give its container the device (docker run --device /dev/kmsg:/dev/kmsg:r)"
	case errors.Is(err, unix.EPERM): // check_syslog_permissions, kernel/printk/printk.c
		no.Why += ": kernel.dmesg_restrict is set, and CAP_SYSLOG is lacking"
	}
	return no
}

// kernelLog looks for lines that name a cause.
type kernelLog struct {
	env   *probe.Env
	meter *meter
	open  func() (records, error)
	from  records
	err   error
	last  recording.Time // of the look before
	buf   []byte
	left  int // lines that were not kept
}

func newKernelLog(env *probe.Env, m *meter) *kernelLog {
	return &kernelLog{env: env, meter: m, open: openKmsg, buf: make([]byte, 8192)}
}

func (k *kernelLog) measure() {
	k.meter.run("host.kernel-log", func(now recording.Time) error {
		if k.from == nil && k.err == nil {
			k.from, k.err = k.open()
		}
		if k.err != nil {
			return k.err
		}
		return k.look(now)
	})
}

func (k *kernelLog) look(now recording.Time) error {
	var kept []recording.Event
	defer func() {
		k.last = now
		for _, e := range kept {
			k.env.Sink.Append(e)
		}
	}()
	most := mostLines
	if k.last == 0 {
		most = mostEarlier
	}
	for range mostRecords {
		n, err := k.from.next(k.buf)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return nil
		case errors.Is(err, unix.EPIPE):
			k.meter.note("host.kernel-log", "the kernel wrote more lines than were read: some were lost", "a longer kernel log: log_buf_len=4M at boot")
			continue
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EINVAL): // longer than the buffer: the next read has the next one
			continue
		case err != nil:
			return fmt.Errorf("read /dev/kmsg: %w", err)
		}
		r, err := parseLogRecord(k.buf[:n])
		if err != nil {
			continue // what a person may write there has no form
		}
		cause, subject, ok := kernellog.CauseOf(r.Line)
		if !ok {
			continue
		}
		t := k.when(r, now)
		if k.last == 0 && now.Sub(t) > logBefore {
			continue
		}
		if len(kept) == most {
			k.left++
			k.meter.note("host.kernel-log", fmt.Sprintf("%d lines beyond %d per second were left out", k.left, mostLines), "")
			if k.last != 0 {
				continue
			}
			kept = kept[1:] // of those before the window the last ones tell
		}
		kept = append(kept, recording.Event{
			T: t, End: t, Kind: recording.EventKernelLog, Subject: subject,
			Attrs: map[string]string{"cause": cause, "line": r.Line},
		})
	}
	return nil
}

// when puts a record's time on the recording's clock. The log is stamped with the
// scheduler's clock (kernel/printk/printk.c, local_clock), which runs beside the
// monotonic one: near it on most machines, seconds or hours off on one that was
// suspended or moved. A line that came since the last look is at least from then.
func (k *kernelLog) when(r logRecord, now recording.Time) recording.Time {
	t := min(k.env.Anchor.FromMonotonic(r.Micros*1000), now)
	if k.last != 0 {
		t = max(t, k.last)
	}
	return t
}

func (k *kernelLog) close() {
	if k.from != nil {
		k.from.close()
	}
}
