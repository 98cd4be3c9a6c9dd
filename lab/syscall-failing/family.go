package syscallfailing

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"snag/lab"
	"snag/lab/anyserver"
	"snag/lab/drawn"
	"snag/lab/pyclient"
)

// Family draws the incident: a web service can't keep its orders any more, or a service in
// any language can't write its journal.
var Family = drawn.Family{
	Name: "syscall-failing", Kind: drawn.Inside, Origin: drawn.Lab,
	Needs: append([]lab.Tool{{Command: "setpriv", Package: "util-linux"}, {Command: pyclient.Python, Package: "python3"}}, anyserver.Needs...),
	Faults: []drawn.Fault{
		fault("no-room"), fault("no-inodes"), fault("read-only"), fault("forbidden"), fault("journal-no-room"),
	},
	Build: buildFamily,
}

func fault(name string) drawn.Fault {
	return drawn.Fault{Name: name, Suspects: []string{"syscall-failing"}, Subject: anyserver.Subject("web-shop", ":8084|/orders"), Also: []string{"error-answers"}, Account: "errors"}
}

// inodes are more than a run needs, and few enough to use them up at once.
const inodes = 12_000

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	dir := filepath.Join(b.Dir(), "orders")
	b.Memory(dir, 256)
	b.Command("", "mount", "-o", fmt.Sprint("remount,nr_inodes=", inodes), dir)
	if b.Fault.Name == "journal-no-room" {
		journal(b, net, dir)
	} else {
		shop(b, net, dir)
	}
	old := filepath.Join(dir, "old")
	do := func(what func() error) func() {
		return func() {
			if err := what(); err != nil {
				b.Fail(b.Fault.Name, err)
			}
		}
	}
	room := do(func() error { return os.RemoveAll(old) })
	b.Switch("no-room", do(func() error { return fill(old) }), room)
	b.Switch("journal-no-room", do(func() error { return fill(old) }), room)
	b.Switch("no-inodes", do(func() error { return useInodes(old) }), room)
	remount := func(how uintptr) func() {
		return do(func() error { return again(func() error { return unix.Mount("", dir, "", unix.MS_REMOUNT|how, "") }) })
	}
	b.Switch("read-only", remount(unix.MS_RDONLY), remount(0))
	mode := func(m os.FileMode) func() { return do(func() error { return os.Chmod(dir, m) }) }
	b.Switch("forbidden", mode(0o555), mode(0o755))
}

// shop answers HTTP, and keeps some of the requests, each in a file.
func shop(b *drawn.Bench, net drawn.Net, dir string) {
	takes := b.Duration("answers take", 200*time.Microsecond, 40*time.Millisecond)
	orders := b.LogUniform("share of the requests that are orders", 0.1, 1)
	l := b.LoadOf(400)
	l = l.Within(2*net.RTT + takes)
	self, err := os.Executable()
	if err != nil {
		b.Fail("web-shop", err)
		return
	}
	// Without the right to do what permissions forbid, as services of users other than root.
	server := b.Run(net.Server, "web-shop", []string{"setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--",
		self, lab.ActorCommand, "http-backend", "--comm", "web-shop", "--listen", net.At(8084), "--wait", takes.String(), "--size", fmt.Sprint(l.Size),
		"--store", dir, "--keep", fmt.Sprint(2 * inodes), "--orders", fmt.Sprint(orders)})
	b.AwaitPrinted(server, "ready")
	pyclient.Start(b, net.Client, "web-users", "http", net.At(8084), l)
	b.Amount("%.1f %% of %.0f requests per second leave a file", 100*orders, l.Rate)
}

// journal is a service that writes each request to its journal.
func journal(b *drawn.Bench, net drawn.Net, dir string) {
	o := anyserver.Ordinary(b, "server")
	o.Journal = filepath.Join(dir, "journal")
	l := o.LoadOf(b, net.RTT, 0)
	anyserver.Start(b, net.Server, "web-shop", net.At(8084), o)
	b.Ask(net.Client, "web-users", net.At(8084), l)
	b.Amount("%.0f requests per second write to a journal", l.Rate)
}

// fill takes all room that a file system has.
func fill(dir string) error {
	return takeAll(dir, func(n int) error {
		return os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), make([]byte, 1<<20), 0o600)
	})
}

// useInodes makes as many files as there can be.
func useInodes(dir string) error {
	return takeAll(dir, func(n int) error { return os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), nil, 0o600) })
}

// takeAll goes on until there is no room.
func takeAll(dir string, take func(n int) error) error {
	if err := os.MkdirAll(dir, 0o755); err != nil && !errors.Is(err, unix.ENOSPC) {
		return err
	}
	for n := 0; ; n++ {
		if err := take(n); errors.Is(err, unix.ENOSPC) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// again tries what fails while a file is open for writing.
func again(do func() error) error {
	var err error
	for range 500 {
		if err = do(); !errors.Is(err, unix.EBUSY) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return err
}
