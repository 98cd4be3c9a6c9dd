package watch

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Action is what is done for an alarm: a Command or a Webhook.
type Action interface {
	Do(ctx context.Context, a Alarm) error
}

// Alarms does one action for frozen streams, within its limits. Frozen is called
// again and again while a freeze stands, so that what did not help can be tried
// again, later and later.
type Alarms struct {
	name   string // --on-freeze, --webhook: for what is said
	action Action
	tell   func(text string)
	well   bool // the end of a freeze, and its verdict, are told too; else a verdict that comes is waited for

	mu      sync.Mutex
	guard   *Guard
	next    map[string]time.Time // when to ask the guard again: it is not asked ten times a second
	acted   map[string]bool      // streams that an alarm went out for and that are not well yet
	running int
	done    sync.WaitGroup
}

// NewAlarms returns alarms that call action. tell gets what a person must know:
// what was done, what failed, why it stopped.
func NewAlarms(name string, action Action, l Limits, well bool, tell func(string)) *Alarms {
	return &Alarms{name: name, action: action, tell: tell, well: well, guard: NewGuard(l), next: map[string]time.Time{}, acted: map[string]bool{}}
}

// Frozen says that a stream is frozen at now.
func (a *Alarms) Frozen(ctx context.Context, alarm Alarm, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Before(a.next[alarm.Stream]) || alarm.Awaited && !a.well {
		return
	}
	if a.running >= maxRunning {
		return // asked again at the next tick
	}
	d := a.guard.Ask(alarm.Stream, now)
	if !d.Act {
		a.next[alarm.Stream] = d.Next
		if d.Broken {
			a.say("%s: %s: %s", a.name, alarm.Stream, d.Why)
		}
		return
	}
	delete(a.next, alarm.Stream)
	a.acted[alarm.Stream] = true
	a.run(ctx, alarm)
}

// Well says that a stream's freeze has ended.
func (a *Alarms) Well(ctx context.Context, alarm Alarm, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.guard.Well(alarm.Stream, now)
	delete(a.next, alarm.Stream)
	if a.acted[alarm.Stream] && a.well && a.running < maxRunning {
		a.run(ctx, alarm)
	}
	delete(a.acted, alarm.Stream)
}

// Judged says what the host's recording told of a stream that an alarm went out for.
func (a *Alarms) Judged(ctx context.Context, alarm Alarm) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.acted[alarm.Stream] && a.well && a.running < maxRunning {
		a.run(context.WithoutCancel(ctx), alarm)
	}
}

// Sweep forgets what is long ago.
func (a *Alarms) Sweep(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.guard.Sweep(now)
	for name, next := range a.next {
		if now.After(next) {
			delete(a.next, name)
		}
	}
}

// Wait waits for what is running.
func (a *Alarms) Wait() { a.done.Wait() }

func (a *Alarms) run(ctx context.Context, alarm Alarm) {
	a.running++
	a.done.Add(1)
	a.say("%s: %s: %s", a.name, alarm.Stream, did(alarm))
	go func() {
		defer a.done.Done()
		err := a.action.Do(ctx, alarm)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.running--
		if err != nil {
			a.say("%s: %s: %v", a.name, alarm.Stream, err)
		}
	}()
}

func did(alarm Alarm) string {
	switch alarm.Event {
	case AlarmWell:
		return "told that it is well again"
	case AlarmVerdict:
		return "told the verdict"
	}
	return fmt.Sprintf("called, %s for %s", map[string]string{AlarmFreeze: "frozen", AlarmDown: "down"}[alarm.Event], short(alarm.For))
}

func (a *Alarms) say(format string, args ...any) { a.tell(fmt.Sprintf(format, args...)) }
