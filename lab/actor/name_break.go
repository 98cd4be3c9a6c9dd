package actor

import (
	"context"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// nameBreak is what goes wrong in a name server while it is switched on.
type nameBreak struct {
	then  string
	slow  time.Duration
	share float64
	sick  atomic.Bool
}

// watch switches at each SIGUSR2.
func (b *nameBreak) watch(ctx context.Context) {
	switches := make(chan os.Signal, 8)
	signal.Notify(switches, syscall.SIGUSR2)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-switches:
				b.sick.Store(!b.sick.Load())
			}
		}
	}()
}

// now is when and how a query is to be answered; false: not at all.
func (b *nameBreak) now(wait time.Duration) (time.Duration, dnsmessage.RCode, bool) {
	if !b.sick.Load() || rand.Float64() >= b.share { //nolint:gosec // who is hit needs no secret
		return wait, dnsmessage.RCodeSuccess, true
	}
	switch b.then {
	case "slow":
		return b.slow, dnsmessage.RCodeSuccess, true
	case "servfail":
		return wait, dnsmessage.RCodeServerFailure, true
	case "refused":
		return wait, dnsmessage.RCodeRefused, true
	default:
		return 0, dnsmessage.RCodeSuccess, false
	}
}
