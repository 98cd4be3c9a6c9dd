package syscalls

import (
	"testing"
	"time"

	"snag/probes/probe/probetest"
	"snag/recording"
)

func TestCountsAreExact(t *testing.T) {
	sink := probetest.NewSink()
	p := run(t, "fixed")
	r := begin(t, env(t, sink, p.cmd.Process.Pid))
	p.tell("go")
	time.Sleep(1200 * time.Millisecond) // over a swap of the tables
	p.tell("go")
	r.Stop()
	rec := sink.Recording()
	pid := p.cmd.Process.Pid
	if c := coverageOf(t, rec, measureCalls); c.State != recording.CoverageOK || c.Lost != 0 {
		t.Fatalf("coverage %+v", c)
	}
	if c := total(rec, pid, "getppid", -1); c.N != 2*getppids {
		t.Errorf("getppid: %d, want %d", c.N, 2*getppids)
	} else if n := sumOf(c.Hist); n != c.N {
		t.Errorf("the histogram has %d of %d", n, c.N)
	}
	if c := total(rec, pid, "write", -1); c.Errors["EBADF"] != 2*badFDs {
		t.Errorf("write to -1: %v, want EBADF %d", c.Errors, 2*badFDs)
	}
	c := total(rec, pid, "sendto", -1)
	if c.N != 2*writes || valueOf(c.Done) != 20*writes || valueOf(c.Asked) != 20*writes || len(c.Errors) != 0 {
		t.Errorf("sendto: %+v", c)
	}
	c = total(rec, pid, "recvfrom", -1)
	if c.N != 2*(writes+empties) || c.Errors["EAGAIN"] != 2*empties || valueOf(c.Done) != 20*writes || valueOf(c.Asked) != 200*(writes+empties) {
		t.Errorf("recvfrom: %+v", c)
	}
	found := false
	for _, row := range rec.Calls {
		if row.Call != "read" || valueOf(row.Done) < reads*readSize/2 {
			continue
		}
		for _, fd := range rec.FDs {
			found = found || fd.PID == pid && fd.FD == row.FD && fd.Kind == "device"
		}
		if row.Max <= 0 || row.MaxAt == 0 || row.Comm == "" {
			t.Errorf("%+v", row)
		}
	}
	if !found {
		t.Errorf("the reads of /dev/zero are not told of as of a device: %+v", rec.FDs)
	}
	if got := total(rec, pid, "read", -1); valueOf(got.Done) < 2*reads*readSize {
		t.Errorf("read: %d bytes, want %d at least", valueOf(got.Done), 2*reads*readSize)
	}
}

func sumOf(hist []uint64) (n uint64) {
	for _, h := range hist {
		n += h
	}
	return n
}
