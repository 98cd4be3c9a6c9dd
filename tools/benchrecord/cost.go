package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// cost is what one recorder took in one round.
type cost struct {
	Name   string        `json:"name"`
	Round  int           `json:"round"`
	Window time.Duration `json:"window_ns"`
	CPU    []part        `json:"programs"`
	Disk   float64       `json:"disk_bytes_per_hour"`
	Load   string        `json:"load_average"`
	Note   string        `json:"note,omitempty"`
	// Usual is the interval that it has by default, where it was too long to be measured.
	Usual    time.Duration `json:"usual_ns,omitempty"`
	Interval time.Duration `json:"interval_ns,omitempty"`
	Missing  string        `json:"missing,omitempty"`
}

// part is one program of a recorder.
type part struct {
	Name   string  `json:"name"`
	CPU    float64 `json:"cpu_cores"` // of one core, with all its children
	Memory int64   `json:"pss_bytes"`
}

// cpu and memory of all programs.
func (c cost) cpu() (sum float64) {
	for _, p := range c.CPU {
		sum += p.CPU
	}
	return sum
}

func (c cost) memory() (sum int64) {
	for _, p := range c.CPU {
		sum += p.Memory
	}
	return sum
}

// cost measures each recorder alone on the loaded host, one after the other, and the other
// way round in every second round.
func (r *report) cost(ctx context.Context, o *options) error {
	all := makers(o)
	for round := range o.rounds {
		order := slices.Clone(all)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, m := range order {
			if name := m("").name; !o.only.MatchString(name) {
				continue
			} else if why := lacking(m("")); why != "" {
				r.Cost = append(r.Cost, cost{Name: name, Round: round, Missing: why})
				continue
			}
			c, err := measure(ctx, o, m)
			if err != nil {
				return fmt.Errorf("%s: %w", m("").name, err)
			}
			c.Round = round
			r.Cost = append(r.Cost, c)
			fmt.Fprintf(os.Stderr, "benchrecord: round %d: %s: %.2f %% of a core, %.1f MB, %.1f MB an hour\n", round+1, c.Name, c.cpu()*100, float64(c.memory())/1e6, c.Disk/1e6)
		}
	}
	return nil
}

func measure(ctx context.Context, o *options, m maker) (c cost, err error) {
	parent, err := os.MkdirTemp("", "bench-record-")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(parent)
	r, err := start(m, parent)
	if err != nil {
		return c, err
	}
	ended := false
	defer func() {
		if !ended {
			_ = r.end()
		}
	}()
	if err := wait(ctx, o.warm); err != nil {
		return c, err
	}
	c = cost{Name: r.name, Note: r.note, Usual: r.usual, Interval: r.interval}
	before, began, size := make([]time.Duration, len(r.groups)), time.Now(), r.disk.size(r.dir)
	for i, g := range r.groups {
		if before[i], err = g.cpu(); err != nil {
			return c, err
		}
	}
	if err := wait(ctx, o.window); err != nil {
		return c, err
	}
	for i, g := range r.groups {
		now, err := g.cpu()
		if err != nil {
			return c, err
		}
		c.CPU = append(c.CPU, part{r.programs[i].name, (now - before[i]).Seconds() / time.Since(began).Seconds(), g.memory()})
	}
	c.Window = time.Since(began)
	grown := r.disk.size(r.dir)
	if err := r.alive(); err != nil {
		return c, err
	}
	average, _ := os.ReadFile("/proc/loadavg")
	c.Load = strings.Join(strings.Fields(string(average))[:1], "")
	ended = true
	if err := r.end(); err != nil {
		return c, err
	}
	c.Disk = r.disk.rate(r, size, grown, c.Window)
	return c, nil
}
