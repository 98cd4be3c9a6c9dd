package drawn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/clientlog"
	"snag/lab/referee"
	"snag/lab/score"
	"snag/recording"
)

// Case is one run of a draw.
type Case struct {
	Seed     uint64
	Families []Family // one, or two at the same time
	Fault    string   // of the first; "" is drawn
	Faulty   bool
	Quiet    bool // of a noisy family
	// Untreated: the faulty run with a second window and no command, as a control.
	Untreated bool
}

// Key names the run's files: 000137-redis-slow-command-faulty.
func (c Case) Key() string {
	key := fmt.Sprintf("%06d", c.Seed)
	for _, f := range c.Families {
		key += "-" + f.Name
	}
	if c.Fault != "" {
		key += "-" + c.Fault
	}
	switch {
	case c.Faulty && c.Untreated:
		return key + "-untreated"
	case c.Faulty:
		return key + "-faulty"
	case c.Quiet:
		return key + "-quiet"
	}
	return key + "-healthy"
}

// Run makes one run: builds its families, runs snag find beside them into the folder
// o.Out, switches the faults on and off as drawn, and reads the clients' logs.
func (c Case) Run(ctx context.Context, o lab.RunOptions) (k Kept, err error) {
	begin := time.Now()
	k = Kept{Key: c.Key(), Seed: c.Seed, Faulty: c.Faulty, Quiet: c.Quiet, Made: begin, For: o.For.Seconds(), OnlyThese: o.IgnoreElsewhere}
	var benches []*Bench
	var stages []*lab.Stage
	defer func() {
		for i := len(stages) - 1; i >= 0; i-- {
			err = errors.Join(err, stages[i].Close())
		}
		k.Seconds = time.Since(begin).Seconds()
	}()
	log := func(format string, args ...any) {
		if o.Stdout != nil {
			fmt.Fprintf(o.Stdout, format+"\n", args...)
		}
	}
	for i, f := range c.Families {
		for _, t := range f.Needs {
			if !t.Installed() {
				return k, fmt.Errorf("%s needs the command %s: make setup-drawn installs it (Debian's %s)", f.Name, t.Command, t.Package)
			}
		}
		s, err := lab.NewStage(ctx, lab.Options{Log: log, Shared: o.Shared, Beside: stages, Snag: o.SnagPath, Out: o.Out})
		if err != nil {
			return k, err
		}
		stages = append(stages, s)
		fault := ""
		if i == 0 {
			fault = c.Fault
		}
		b, err := NewBench(s, f, NewDraw(c.Seed, f.Name), fault, c.Faulty)
		if err != nil {
			return k, err
		}
		b.Quiet = c.Quiet
		benches = append(benches, b)
		if i == 0 {
			noise(b)
		}
		log("%s, seed %d: building", f.Name, c.Seed)
		f.Build(b)
		if err := errors.Join(b.Err(), b.prepared(f)); err != nil {
			return k, err
		}
		b.settle()
		if err := b.Err(); err != nil {
			return k, err
		}
	}
	err = c.record(ctx, o, benches, stages, &k)
	return k, err
}

// record runs snag find while the faults come and go.
func (c Case) record(ctx context.Context, o lab.RunOptions, benches []*Bench, stages []*lab.Stage, k *Kept) error {
	faulty, cancel := context.WithCancel(ctx)
	defer cancel()
	var faults []*switching
	lead := 0.0
	for i, b := range benches {
		part := Part{Family: c.Families[i].Name, Kind: c.Families[i].Kind, Origin: c.Families[i].Origin, Values: b.Values}
		if b.Fault.Name != "" {
			f := b.Fault
			t := &Truth{Fault: f.Name, Suspects: f.Suspects, Subject: f.Subject, Also: f.Also, Account: f.Account, Place: f.Place}
			var spans []Span
			t.Lasting, spans = scheduleOf(b.Draw, f, o.For.Seconds())
			part.Truth = t
			if b.on != nil {
				faults = append(faults, &switching{bench: b, spans: spans, truth: t, done: make(chan struct{})})
				lead = max(lead, -spans[0].From)
			} else if b.Faulty {
				t.Spans = []Span{{0, o.For.Seconds()}}
			}
		}
		k.Parts = append(k.Parts, part)
	}
	start := time.Now().Add(seconds(lead))
	for _, s := range faults {
		go s.run(faulty, start, o.For.Seconds())
	}
	if err := wait(ctx, time.Until(start)); err != nil {
		return err
	}
	for _, b := range benches {
		for _, do := range b.windows {
			go do()
		}
	}
	answer, err := lab.FindOn(stages, o)
	if err != nil {
		return err
	}
	cancel()
	r, err := recording.Open(o.Out)
	if err != nil {
		return err
	}
	window := referee.Window{From: r.Window().Start.Wall(), To: r.Window().End.Wall()}
	if k.Heard, err = heard(o.Watches, window.To); err != nil {
		return err
	}
	time.Sleep(300 * time.Millisecond) // the logs are written every 100 ms
	for _, s := range faults {
		<-s.done
		s.note(window.From, window.To.Sub(window.From).Seconds())
	}
	logs, err := readAll(benches)
	if err != nil {
		return err
	}
	for i, b := range benches {
		k.Parts[i].Figures = referee.Measure(logs[i], window)
		if k.Parts[i].Truth != nil {
			k.Parts[i].Truth.Amount = b.amount
		}
	}
	here, err := lab.NamespacesOf(stages)
	k.Namespaces = score.Sorted(here)
	if err != nil || !o.Remedies || !k.Faulty {
		return err
	}
	if o.IgnoreElsewhere {
		answer.DropAllElsewhere(here)
	}
	k.Remedy, err = heal(ctx, heals{withheld: c.Untreated, answer: answer, benches: benches, stages: stages, parts: k.Parts, window: window, logs: logs})
	return err
}

// readAll reads the logs of the clients of each bench.
func readAll(benches []*Bench) ([][]clientlog.Log, error) {
	var out [][]clientlog.Log
	for _, b := range benches {
		if err := b.Err(); err != nil {
			return nil, err
		}
		logs, err := b.read()
		if err != nil {
			return nil, err
		}
		out = append(out, logs)
	}
	return out, nil
}

// switching turns one fault on and off.
type switching struct {
	bench *Bench
	spans []Span // planned, seconds from the start of snag find
	truth *Truth
	at    []time.Time // when it was switched: on, off, on, off…
	done  chan struct{}
}

func (s *switching) run(ctx context.Context, start time.Time, window float64) {
	defer close(s.done)
	for _, span := range s.spans {
		for i, at := range []float64{span.From, span.To} {
			if i == 1 && (at >= window || s.bench.off == nil) || wait(ctx, time.Until(start.Add(seconds(at)))) != nil {
				return
			}
			if i == 0 {
				s.bench.on()
			} else {
				s.bench.off()
			}
			s.at = append(s.at, time.Now())
		}
	}
}

// note writes into the truth when the fault was on, once no more is switched.
func (s *switching) note(from time.Time, window float64) {
	for i := 0; i < len(s.at); i += 2 {
		span := Span{max(0, s.at[i].Sub(from).Seconds()), window}
		if i+1 < len(s.at) {
			span.To = min(window, s.at[i+1].Sub(from).Seconds())
		}
		s.truth.Spans = append(s.truth.Spans, span)
	}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(max(0, d)):
		return nil
	}
}
