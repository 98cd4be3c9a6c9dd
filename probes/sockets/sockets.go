// Package sockets is the probe of sockets: what INET_DIAG shows of them in every
// network namespace, who owns them, how the interesting ones are set, and what
// happens to them between two looks, counted in the kernel by BPF programs on
// tracepoints: connections, resets, retransmits, signals, held small writes, turns, errors.
//
// A kernel or user that lacks one of these loses that measure, and its coverage
// row says so; the others go on.
package sockets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"snag/internal/kernel"
	"snag/probes/probe"
	"snag/probes/sockets/owner"
	"snag/recording"
)

// Probe measures sockets.
var Probe = probe.Probe{Name: probeName, Start: start}

const probeName = "sockets"

const period = time.Second

// running is the started probe. Only its loop touches the fields.
type running struct {
	env    *probe.Env
	survey *survey
	book   *book
	kernel *inKernel
	slices *inSlices    // nil where no program of the kernel side runs often
	lack   *kernel.Lack // why there is no kernel side
	ledger *ledger
	first  firsts

	socks    map[uint64]*history // by cookie
	order    []candidate         // reused from tick to tick
	allow    allowance
	calm     int                // sockets that were calm in the last look between full dumps
	watched  uint64             // Watch.Added at the last look between full dumps
	held     map[uint64]bool    // inodes with held writes
	way      onWay              // what streams that snag reads come by
	since    recording.Time     // when the kernel's current tables were begun
	before   probe.SliceAccount // up to then
	part     float64            // of the tables' time that was measured, s; 0: all of it
	ticks    int
	round    uint64
	nextFull int           // the tick of the next dump of which every socket may get a row
	dumped   time.Duration // what the last full dump took
	asked    int           // sockets whose options were asked for
	refused  error         // why options can't be read
	followed int           // sockets that are
	skipped  uint64        // rows of wanted sockets that the allowance did not allow
	closed   uint64        // socket-closed events left out
	exits    exits
	served   map[listenKey]bool // UNIX listeners whose servers were asked in the last second
	troubled bool               // a service answered with errors in the last second, or ended connections without an answer
	denied   []int              // processes whose connects failed in it
	missed   missedHTTP2
	// resolvers are the processes whose resolv.conf was read.
	resolvers map[int]bool

	cancel context.CancelFunc
	done   chan struct{}
}

// missedHTTP2 is for how many seconds some requests of HTTP/2 were not seen, and where last.
type missedHTTP2 struct {
	seconds int
	last    string
}

func start(ctx context.Context, env *probe.Env) (probe.Running, error) {
	return startWith(ctx, env, oftenShare)
}

// startWith lets the programs that run often take that share of a CPU; 1: they are never
// detached.
func startWith(ctx context.Context, env *probe.Env, share float64) (probe.Running, error) {
	r := &running{
		env:       env,
		survey:    newSurvey(env),
		book:      newBook(owner.New(env.Proc)),
		ledger:    newLedger(env),
		first:     firsts{notice: env.Notice, told: map[string]bool{}},
		socks:     map[uint64]*history{},
		held:      map[uint64]bool{},
		way:       newOnWay(),
		resolvers: map[int]bool{},
		allow:     newAllowance(),
		done:      make(chan struct{}),
	}
	if env.Continuous {
		r.book.owners.Rarely()
	}
	k, err := loadInKernel(env)
	if err != nil {
		if !errors.As(err, &r.lack) {
			r.lack = &kernel.Lack{Why: err.Error()}
		}
	}
	r.kernel = k
	if k != nil {
		r.book.findPath = k.unixPath
		if err := k.watchFiles(); err != nil {
			r.ledger.fail("sockets.errors", err)
		}
	}
	if err := r.tryDiag(); err != nil {
		if k == nil {
			return nil, err
		}
		r.ledger.fail("sockets.diag", err)
	}
	ctx, r.cancel = context.WithCancel(ctx)
	if k != nil && len(k.often) > 0 {
		r.slices = newSlices(k, share)
		if err := r.slices.Start(ctx); err != nil {
			r.ledger.fail("sockets.turns", err)
		}
		r.noteFound() // of the own namespace
	}
	r.since = env.Now()
	r.announce()
	go r.loop(ctx)
	return r, nil
}

// tryDiag finds out at once whether sockets can be dumped here at all.
func (r *running) tryDiag() error {
	if _, err := os.Stat(r.env.Proc); err != nil {
		return fmt.Errorf("look at processes: %w", err)
	}
	// Listeners and UDP sockets of the own namespace: few, and enough to know.
	return r.survey.ask(r.env.Netns, false, nil)
}

func (r *running) loop(ctx context.Context) {
	defer close(r.done)
	probe.Every(ctx, period, func(late time.Duration) { r.tick(late, false) })
	if r.slices != nil {
		r.slices.Wait()
	}
	r.tick(0, true)
	r.exits.detach()
	if r.kernel != nil {
		r.kernel.close()
	}
	r.announce()
}

// Stop takes a last dump and ends the probe.
func (r *running) Stop() {
	r.cancel()
	<-r.done
}
