package main

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// row is what was measured of a reader, all of its processes together.
type row struct {
	name    string
	streams int
	start   time.Duration // CPU until it had started
	steady  float64       // then: s of CPU per second
	used    use           // in all, and of memory at the end
	first   time.Duration // until the first figures; 0: there are none
	said    string        // snag's last summary: whether the streams came
	gone    error         // it ended before its time: nothing was measured
}

// running is a reader that runs.
type running struct {
	reader
	commands []*exec.Cmd
	outs     []*output
}

func (o *origin) begin(r reader) (*running, error) {
	b := &running{reader: r}
	for _, args := range r.commands {
		cmd, out := o.command(args...), &output{began: time.Now()}
		cmd.Stdout = out
		if err := cmd.Start(); err != nil {
			return nil, errors.Join(fmt.Errorf("start %s: %w", args[0], err), b.end())
		}
		b.commands, b.outs = append(b.commands, cmd), append(b.outs, out)
	}
	return b, nil
}

// use is what it used until now.
func (b *running) use() (sum use, err error) {
	for _, cmd := range b.commands {
		u, err := useOf(cmd.Process.Pid)
		if err != nil {
			return sum, fmt.Errorf("%s ended before its time: %w", b.name, err)
		}
		sum = sum.plus(u)
	}
	return sum, nil
}

func (b *running) end() error {
	for _, cmd := range b.commands {
		_ = cmd.Process.Signal(syscall.SIGINT) // Wait reports how it went
	}
	for _, cmd := range b.commands {
		late := time.AfterFunc(3*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // ended by a signal, as asked
		late.Stop()
	}
	return nil
}

// measure runs all readers side by side: first for as long as they may take to start,
// then for the time that counts.
func (o *origin) measure(all []reader, start, steady time.Duration) (rows []row, err error) {
	var side []*running
	defer func() {
		for _, b := range side {
			err = errors.Join(err, b.end())
		}
	}()
	for _, r := range all {
		b, err := o.begin(r)
		if err != nil {
			return nil, err
		}
		side = append(side, b)
	}
	time.Sleep(start)
	before, from := make([]use, len(side)), make([]time.Time, len(side))
	gone := make([]error, len(side))
	for i, b := range side {
		before[i], gone[i] = b.use()
		from[i] = time.Now()
	}
	time.Sleep(steady)
	for i, b := range side {
		after, err := b.use()
		r := row{name: b.name, streams: b.streams, start: before[i].cpu, used: after, gone: errors.Join(gone[i], err)}
		r.steady = (after.cpu - before[i].cpu).Seconds() / time.Since(from[i]).Seconds()
		for _, out := range b.outs {
			r.first, r.said = max(r.first, out.first()), out.summary()
		}
		rows = append(rows, r)
	}
	return rows, rows[0].gone // it is what the others are set against
}

// besideReaders measures the passive watch while n readers are served, so that it sees
// each stream come and go out. Not beside the others: what it captures is copied on the
// CPU time of whoever sends and reads.
func (o *origin) besideReaders(p *plan, n int) (row, error) {
	urls := o.urls(n)
	players, err := o.begin(reader{"the readers", n, one(p.watch(p.snag, urls))})
	if err != nil {
		return row{}, err
	}
	defer func() { _ = players.end() }() // it was ended by a signal
	time.Sleep(2*time.Second + time.Duration(n)*time.Second/50)
	rows, err := o.measure([]reader{{
		fmt.Sprintf("snag watch --passive, beside %d readers", n), o.published + n,
		one([]string{p.snag, "watch", "--plain", "--for", (p.start + p.steady + time.Minute).String(), "--passive", "--port", "1935"}),
	}}, p.start, p.steady)
	if err != nil {
		return row{}, err
	}
	return rows[0], nil
}
