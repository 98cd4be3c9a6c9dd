package figure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"snag/internal/netns"
	"snag/internal/procfile"
)

// Bench measures a figure.
type Bench struct {
	Figure Figure
	Load   *Load         // nil: the live traffic
	For    time.Duration // how long a counter or a symptom is measured
	Netns  string        // whose counters
	// Symptom measures one of snag's own symptoms for that long.
	Symptom func(ctx context.Context, name string, length time.Duration) (float64, error)
}

// Check says what keeps a figure from being measured.
func (b Bench) Check() error {
	switch b.Figure.Kind {
	case Time, Exit, Output:
		if b.Load == nil {
			return fmt.Errorf("%s is a figure of the load: give its command with --load", b.Figure.Name)
		}
	case Counter:
		_, err := b.count()
		return err
	}
	return nil
}

// Measure makes one run.
func (b Bench) Measure(ctx context.Context) (float64, error) {
	if b.Figure.Kind == Counter || b.Figure.Kind == Symptom {
		return b.during(ctx)
	}
	r, err := b.Load.once(ctx)
	if err != nil {
		return 0, err
	}
	switch {
	case b.Figure.Kind == Exit && r.failed != nil:
		return 1, nil
	case b.Figure.Kind == Exit:
		return 0, nil
	case r.failed != nil:
		return 0, r.failed
	case b.Figure.Kind == Time:
		return r.took.Seconds(), nil
	}
	v, err := b.Figure.number(r.out)
	if err != nil {
		return 0, fmt.Errorf("%s: %w%s", b.Load, err, lastLine(r.out))
	}
	return v, nil
}

// during measures while the load runs again and again, or the live traffic does.
func (b Bench) during(ctx context.Context) (float64, error) {
	loaded, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	if b.Load != nil {
		go func() { ended <- b.Load.again(loaded) }()
	} else {
		ended <- nil
	}
	measuring, cancel := context.WithCancel(ctx)
	defer cancel()
	var failure error
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		failure = <-ended
		if failure != nil {
			cancel() // it measures no load any more
		}
	}()
	v, err := b.value(measuring)
	stop()
	<-watched
	if failure != nil {
		return 0, failure
	}
	return v, err
}

func (b Bench) value(ctx context.Context) (float64, error) {
	if b.Figure.Kind == Symptom {
		return b.Symptom(ctx, b.Figure.Name, b.For)
	}
	first, err := b.count()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	select {
	case <-time.After(b.For):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	last, err := b.count()
	if err != nil {
		return 0, err
	}
	if last < first {
		return 0, fmt.Errorf("the counter %s%s went back, from %.0f to %.0f", b.Figure.proto, b.Figure.field, first, last)
	}
	return (last - first) / time.Since(began).Seconds(), nil
}

// count reads the counter in its namespace.
func (b Bench) count() (v float64, err error) {
	read := func() (err error) { v, err = b.Figure.counter("/proc/thread-self/net/"); return err }
	if b.Netns != "" {
		err = netns.DoNamed(b.Netns, read)
	} else {
		err = read()
	}
	return v, err
}

func (f Figure) counter(dir string) (float64, error) {
	var v float64
	found := false
	each := func(proto, field []byte, n float64) {
		if string(proto) == f.proto && string(field) == f.field {
			v, found = n, true
		}
	}
	for _, file := range []string{"snmp", "netstat", "snmp6"} {
		b, err := os.ReadFile(dir + file)
		if errors.Is(err, os.ErrNotExist) {
			continue // snmp6 where there is no IPv6
		}
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", dir+file, errors.Unwrap(err))
		}
		if file == "snmp6" {
			procfile.Lines6(b, each)
		} else {
			procfile.Pairs(b, each)
		}
	}
	if !found {
		return 0, fmt.Errorf("this kernel has no counter %s%s (nstat -az lists them)", f.proto, f.field)
	}
	return v, nil
}
