package watch

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"
)

// Action is what is done for alarms: a Command or a Webhook.
type Action interface {
	Do(ctx context.Context, c Call) error
}

// maxRunning is how many calls of one action run at a time.
const maxRunning = 4

// Alarms does one action for frozen streams, within its limits. While a freeze
// stands the action is done again and again, later and later: what did not help can
// be tried again.
type Alarms struct {
	name   string // --on-freeze, --webhook: for what is said
	action Action
	tell   func(text string)
	ending chan struct{}

	mu      sync.Mutex
	queue   *queue
	running int
	over    bool
	done    sync.WaitGroup
}

// NewAlarms returns alarms that call action. ends: the end of a freeze, and its
// verdict, are told too; else a verdict that comes is waited for. tell gets what a
// person must know: what was done, what failed, why it stopped.
func NewAlarms(name string, action Action, l Limits, ends bool, tell func(string)) *Alarms {
	return &Alarms{name: name, action: action, tell: tell, ending: make(chan struct{}), queue: newQueue(name, ends, l)}
}

// Tick takes all that is wrong at now, and what no longer is, and reports what is due.
// others is how many streams are well.
func (a *Alarms) Tick(ctx context.Context, all []raised, others int, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	a.queue.take(all, now)
	a.act(ctx, now, others)
}

// Judged takes what the host's recording told of some streams. It is told at the next tick.
func (a *Alarms) Judged(verdicts []Alarm) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue.judged(verdicts)
}

// End tells at once what waited for others or for a verdict, waits for what runs, and
// says what could not be told. The watch is over then.
func (a *Alarms) End(ctx context.Context, now time.Time) {
	a.mu.Lock()
	first := !a.over
	a.over = true
	a.mu.Unlock()
	if !first {
		return
	}
	close(a.ending)
	a.done.Wait()
	for more := true; more; a.done.Wait() { // a stream's freeze first, its end after it
		a.mu.Lock()
		a.queue.ending = true
		more = a.act(ctx, now, 0)
		a.mu.Unlock()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if text := a.queue.untold(); text != "" {
		a.tell(text)
	}
}

// act does what is due, and reports whether there was anything.
func (a *Alarms) act(ctx context.Context, now time.Time, others int) bool {
	calls, notes := a.queue.next(now, maxRunning-a.running, others)
	for _, text := range notes {
		a.tell(text)
	}
	for _, c := range calls {
		c.ID, c.Ending = rand.Text(), a.ending
		a.run(ctx, c)
	}
	return len(calls) > 0
}

func (a *Alarms) run(ctx context.Context, c Call) {
	a.running++
	a.tell(fmt.Sprintf("%s: %s", a.name, c.did()))
	a.done.Go(func() {
		err := a.action.Do(ctx, c)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.running--
		a.queue.ran(c)
		if err != nil {
			if a.queue.ends { // a command was run, whatever came of it
				a.queue.gaveUp(c)
			}
			a.tell(fmt.Sprintf("%s: %s: %v", a.name, c.who(), err))
		}
	})
}
