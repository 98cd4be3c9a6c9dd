package host

import (
	"fmt"
	"strings"
	"testing"

	"snag/recording"
)

// Hundreds of processes sleep, and the youngest writes: its traffic is read all the same.
func TestAWriterAmongHundredsThatSleep(t *testing.T) {
	files := map[string]string{}
	one := func(pid int, comm, ticks string, written int) {
		dir := fmt.Sprintf("proc/%d/", pid)
		files[dir+"stat"] = fmt.Sprintf("%d (%s) S 1 95 95 0 -1 4194560 1 0 0 0 %s 0 0 0 20 0 4 0 100 1 1", pid, comm, ticks)
		files[dir+"io"] = fmt.Sprintf("read_bytes: 0\nwrite_bytes: %d\ncancelled_write_bytes: 4096\n", written)
		files[dir+"status"] = "Name:\t" + comm + "\n"
	}
	for i := range mostIO + 60 {
		one(100+i, "sleeper", "5", 0)
	}
	one(900, "backup", "100", 0)
	p, env, sink := copied(t, files)
	p.tick(0, true) // all is due, so that a scan is made at each tick
	for i := range 3 {
		one(900, "backup", fmt.Sprint(110+10*i), (i+1)<<30)
		for _, name := range []string{"stat", "io"} {
			put(t, fmt.Sprintf("%s/900/%s", env.Proc, name), files["proc/900/"+name])
		}
		p.tick(0, true)
	}
	var rows []recording.Process
	for _, row := range sink.Recording().Processes {
		if row.PID == 900 && row.WrittenBytes != nil {
			rows = append(rows, row)
		}
	}
	if len(rows) < 2 || *rows[len(rows)-1].WrittenBytes-*rows[0].WrittenBytes < 1<<30 || rows[0].CancelledBytes == nil || *rows[0].CancelledBytes != 4096 {
		t.Errorf("rows with its traffic: %+v", rows)
	}
	looked, all := 0, 0
	for _, one := range p.processes.known {
		if one.comm == "sleeper" {
			all++
			if one.use.disk.t == one.use.t {
				looked++
			}
		}
	}
	if all < mostIO || looked > all/idleTurn+1 {
		t.Errorf("the traffic of %d of %d that sleep was read in one scan", looked, all)
	}
	for _, row := range sink.Recording().Processes {
		if strings.HasPrefix(row.Comm, "sleeper") {
			t.Fatalf("a process that sleeps has a row: %+v", row)
		}
	}
}

// Only some schedulers look at priorities: which one a disk has is a fact.
func TestADiskHasItsScheduler(t *testing.T) {
	files := nginx("S")
	files["proc/diskstats"] = "8 16 sdb 5 0 40 5 6 0 48 6 0 7 8 0 0 0 0 1 1\n7 0 loop0 5 0 40 5 6 0 48 6 0 7 8 0 0 0 0 1 1\n"
	files["sys/block/sdb/queue/scheduler"] = "none [mq-deadline] kyber bfq\n"
	p, _, sink := copied(t, files)
	p.tick(0, true)
	r := sink.Recording()
	if got, ok := r.FactOf("disk.sdb.scheduler", 0); !ok || got != "mq-deadline" {
		t.Errorf("sdb: %q, %v", got, ok)
	}
	if got, ok := r.FactOf("disk.loop0.scheduler", 0); ok {
		t.Errorf("loop0, whose file is not there: %q", got)
	}
	for text, want := range map[string]string{"none\n": "none", "[none] mq-deadline\n": "none", "": "", "a b\n": "", "[": ""} {
		if got := chosenScheduler(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
