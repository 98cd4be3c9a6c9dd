package diskstall

import (
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: a service, in any language, syncs each request to a journal;
// a backup begins to fill the queue of its disk, or the disk itself becomes slow.
var Family = drawn.Family{
	Name: "disk-stall", Kind: drawn.Host, Origin: drawn.Lab, Needs: append([]lab.Tool{lab.Losetup, lab.Mkfs}, anyserver.Needs...), Alone: true,
	Faults: []drawn.Fault{
		{Name: "backup", Suspects: []string{"disk-stall"}, Subject: subject, Account: "disk"},
		{Name: "slow-disk", Suspects: []string{"disk-stall"}, Subject: subject, Account: "disk"},
	},
	Build: buildFamily,
}

var subject = `loop[0-9]+|nightly-backup|` + anyserver.Subject("ledger-server", ":8081")

// written is what a request's entry writes to the disk, with the file system's own journal.
const written = 24 << 10

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	disk := b.Volume("data", 96)
	// What is below is a disk that writes so much a second and no more.
	rate := b.LogUniform("disk's bytes per second", 3<<20, 24<<20)
	slow := b.SlowDisk("slow", int(rate))
	o := anyserver.Options{Language: anyserver.LanguageOf(b, "server"), Workers: b.Int("workers", 4, 32), Journal: filepath.Join(disk.Mount, "journal"), Run: []lab.Option{lab.In(slow)}}
	o.Work = b.Duration("CPU time of a request", 20*time.Microsecond, time.Millisecond)
	o.Most = 60 // the real disk below syncs in some milliseconds
	l := o.LoadAt(b, rate/written*b.LogUniform("use of the disk", 0.03, 0.3), net.RTT, 20*time.Millisecond)
	anyserver.Start(b, net.Server, "ledger-server", net.At(8081), o)
	chunk := b.Int("backup's chunk, KiB", 128, 4096)
	backup := b.Actor("", "nightly-backup", "disk-writer", []string{"--file", filepath.Join(disk.Mount, "backup"), "--chunk", fmt.Sprint(chunk), "--switched"}, lab.In(slow))
	b.AwaitPrinted(backup, "ready")
	turn := func() { b.Signal(backup, syscall.SIGUSR1) }
	b.Switch("backup", turn, turn)
	slower := max(32<<10, l.Rate*written*b.LogUniform("slow disk, of what is needed", 0.1, 1.5))
	limit := func(bytes float64) func() {
		return func() {
			if err := slow.LimitWrites(int(bytes)); err != nil {
				b.Fail("slow-disk", err)
			}
		}
	}
	b.Switch("slow-disk", limit(slower), limit(rate))
	if b.Fault.Name == "backup" {
		b.Amount("a backup writes %d KiB at a time to a disk of %.0f kB/s", chunk, rate/1e3)
	} else {
		b.Amount("the disk writes %.0f kB/s, and %.0f are needed", slower/1e3, l.Rate*written/1e3)
	}
	b.Ask(net.Client, "ledger-client", net.At(8081), l)
}
