package backend

import (
	"math"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// App is an application server: a pool of workers, each of which asks an upstream for each
// of its answers.
type App struct {
	drawn.Net
	Load     drawn.Load
	Answer   time.Duration // that the upstream takes
	Busy     float64       // workers that are busy on average
	Few      int           // workers that are too few
	Upstream Upstream
	Flag     Flag

	b       *drawn.Bench
	workers string
}

// AppSize bounds what is drawn of an App.
type AppSize struct {
	Workers     string        // what its users call them
	Least, Most float64       // of them busy on average
	Capacity    float64       // requests per second that the program itself can answer
	Own         time.Duration // of a request, besides the upstream's
	Longest     time.Duration // that the upstream takes
	Trips       int           // round trips of a request
}

// NewApp draws an App and its load, and starts the upstream. The faults slow-upstream and,
// with flags that say what else Toggle does, another one are the upstream's.
func NewApp(b *drawn.Bench, s AppSize, fault string, flags ...string) *App {
	a := &App{Net: b.Net(), b: b, workers: s.Workers}
	a.Busy = b.LogUniform("busy "+s.Workers, s.Least, s.Most)
	rate := b.LoadOf(s.Capacity).Rate
	a.Answer = min(s.Longest, max(2*time.Millisecond, time.Duration(a.Busy/rate*1e9)))
	a.Busy = rate * (a.Answer + s.Own).Seconds()
	b.Values["answers take"] = a.Answer.String()
	a.Load = Load(b, a.Net, s.Capacity, a.Answer, s.Trips)
	a.Few = max(1, int(a.Busy*b.Uniform(s.Workers+" for the busy ones", 0.3, 0.95)))
	slow := min(3*time.Second, time.Duration(float64(a.Answer)*b.LogUniform("upstream gets slower", 2.5, 40)))
	if b.Fault.Name == "slow-upstream" {
		b.Amount("the upstream takes %v, not %v", slow, a.Answer)
	}
	if fault == "" || b.Fault.Name != fault {
		flags = []string{"--slow", slow.String()}
	}
	a.Upstream = Start(b, a.Server, a.Answer, flags...)
	a.Flag = NewFlag(b)
	for _, f := range []string{"slow-upstream", fault} {
		b.Switch(f, a.Upstream.Toggle, a.Upstream.Toggle)
	}
	return a
}

// Enough is a number of workers with so many to spare for each busy one, and some more.
func (a *App) Enough(more int, spare float64) int { return more + int(math.Ceil(spare*a.Busy)) }

// BuiltWithFew reports whether the fault of that name, which has too few workers, is to be
// built in, and notes how much of it; and is what else there is to note.
func (a *App) BuiltWithFew(fault, and string, args ...any) bool {
	if !a.b.Built(fault) {
		return false
	}
	a.b.Amount("%d %s where %.1f are busy on average"+and, append([]any{a.Few, a.workers, a.Busy}, args...)...)
	return true
}

// Flagged makes these faults what the program does while the flag's file is there.
func (a *App) Flagged(faults ...string) {
	for _, f := range faults {
		a.b.Switch(f, a.Flag.On, a.Flag.Off)
	}
}

// AmountOfLock notes how long a lock is held, where that is the fault.
func (a *App) AmountOfLock(fault string) {
	if a.b.Fault.Name == fault {
		a.b.Amount("a lock is held for %v in each of %.0f requests per second", a.Answer, a.Load.Rate)
	}
}

// Env tells the program of its upstream, its flag and its fault, and of numbers of its own,
// NAME=VALUE.
func (a *App) Env(more ...string) (opts []lab.Option) {
	for _, e := range append([]string{"UPSTREAM=" + a.Upstream.Addr, "FLAG=" + a.Flag.Path, "FAULT=" + a.b.Fault.Name}, more...) {
		opts = append(opts, lab.Env(e))
	}
	return opts
}
