package logsilencepipe

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident at a service, in any language, that writes a line of its access
// log for each request to its standard output: a pipe to a logger, which stops to read, or
// begins to read too slowly. Once the pipe is full, requests wait for room in it.
var Family = drawn.Family{
	Name: "log-silence-pipe", Kind: drawn.Inside, Origin: drawn.Lab, Needs: append([]lab.Tool{{Command: "bash", Package: "bash"}}, anyserver.Needs...),
	Faults: []drawn.Fault{
		{Name: "stops-reading", Suspects: suspects, Subject: subject, Account: "pipe"},
		{Name: "reads-too-slowly", Suspects: suspects, Subject: subject, Account: "pipe"},
	},
	Build: buildFamily,
}

var (
	suspects = []string{"log-silence", "slow-consumer", "receiver-too-slow"}
	subject  = `logger|` + anyserver.Subject("shop-server", ":8080")
)

// capacity of a pipe, bytes.
const capacity = 64 << 10

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	o := anyserver.Ordinary(b, "server")
	l := o.LoadOf(b, net.RTT, 0)
	full := b.Duration("its lines fill a pipe in", 100*time.Millisecond, 3*time.Second)
	o.Echo = max(60, min(16000, int(capacity/(l.Rate*full.Seconds()))))
	slow := time.Duration(0)
	if b.Fault.Name == "reads-too-slowly" {
		slow = time.Duration(b.LogUniform("demand, of what it can read", 1.5, 10) / l.Rate * float64(time.Second)).Round(time.Microsecond)
	}
	self, err := os.Executable()
	if err != nil {
		b.Fail("logger", fmt.Errorf("find the running binary: %w", err))
		return
	}
	// The logger is the process that is known, the server the one that writes to it.
	pipe := `exec "$0" actor line-reader --comm logger --switched --to "$1" --slow "$2" < <(shift 2; exec "$@")`
	o.Through = []string{"bash", "-c", pipe, self, filepath.Join(b.Dir(), "access.log"), slow.String()}
	logger := anyserver.Start(b, net.Server, "shop-server", net.At(8080), o)
	turn := func() { b.Signal(logger.Process, syscall.SIGUSR1) }
	b.Switch("stops-reading", turn, turn)
	b.Switch("reads-too-slowly", turn, turn)
	if slow > 0 {
		b.Amount("a logger that takes %v for each of %.0f lines per second, of %d bytes", slow, l.Rate, o.Echo)
	} else {
		b.Amount("a logger that stops to read %.0f lines per second, of %d bytes", l.Rate, o.Echo)
	}
	b.Ask(net.Client, "shop-client", net.At(8080), l)
}
