package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"snag/tools/benchhost"
)

// costFile is in the folder of the run.
const costFile = "cost.json"

type costReport struct {
	Machine  string            `json:"machine"`
	Began    time.Time         `json:"began"`
	Versions map[string]string `json:"versions"`
	Cost     []cost            `json:"cost"`
}

// cost is what one recorder took in one round.
type cost struct {
	Name  string  `json:"name"`
	Parts []part  `json:"programs"`
	Disk  float64 `json:"disk_bytes_per_hour"`
	Load  string  `json:"load_average"`
	Note  string  `json:"note,omitempty"`
	// Usual is the interval that it has by default, where it was too long to be measured.
	Usual    time.Duration `json:"usual_ns,omitempty"`
	Interval time.Duration `json:"interval_ns,omitempty"`
	Missing  string        `json:"missing,omitempty"`
}

// part is one program of a recorder, with all its children.
type part struct {
	Name   string  `json:"name"`
	CPU    float64 `json:"cpu_cores"`
	Memory int64   `json:"pss_bytes"`
}

func (c cost) cpu() (sum float64) {
	for _, p := range c.Parts {
		sum += p.CPU
	}
	return sum
}

func (c cost) memory() (sum float64) {
	for _, p := range c.Parts {
		sum += float64(p.Memory)
	}
	return sum
}

// measureAll measures each recorder alone on the loaded host, one after the other, and the
// other way round in every second round. What was measured is kept, whatever fails later.
func measureAll(ctx context.Context, o *options) error {
	r := costReport{Machine: benchhost.Machine(), Began: time.Now(), Versions: versions(o)}
	all := makers(o)
	for round := range o.rounds {
		order := slices.Clone(all)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, m := range order {
			c := cost{Name: m("").name, Missing: lacking(m(""))}
			if !o.recorders.MatchString(c.Name) {
				continue
			}
			if c.Missing == "" {
				var err error
				if c, err = measure(ctx, o, m); err != nil {
					return fmt.Errorf("measure %s: %w", m("").name, err)
				}
				fmt.Fprintf(os.Stderr, "benchrecord: round %d: %s: %.2f %% of a core, %.1f MB, %.1f MB an hour\n", round+1, c.Name, c.cpu()*100, c.memory()/1e6, c.Disk/1e6)
			}
			r.Cost = append(r.Cost, c)
			if err := benchhost.WriteJSON(filepath.Join(o.out, costFile), &r); err != nil {
				return err
			}
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
	c = cost{Name: r.name, Note: r.note, Usual: r.usual, Interval: r.interval}
	before, after, err := r.window(ctx, o, &c)
	if e := r.end(); err == nil {
		err = e
	}
	if err != nil {
		return c, err
	}
	// Some write only when they end.
	c.Disk = r.disk.rate(r, before, after, o.window)
	return c, nil
}

// window reads what a recorder that has warmed up uses, and how large its files are before
// and after.
func (r *running) window(ctx context.Context, o *options, c *cost) (before, after int64, err error) {
	if err := wait(ctx, o.warm); err != nil {
		return 0, 0, err
	}
	used, began := make([]time.Duration, len(r.groups)), time.Now()
	before = r.disk.size(r.dir)
	for i, g := range r.groups {
		if used[i], err = g.CPU(); err != nil {
			return 0, 0, err
		}
	}
	if err := wait(ctx, o.window); err != nil {
		return 0, 0, err
	}
	for i, g := range r.groups {
		now, err := g.CPU()
		if err != nil {
			return 0, 0, err
		}
		c.Parts = append(c.Parts, part{r.programs[i].name, (now - used[i]).Seconds() / time.Since(began).Seconds(), g.Memory()})
	}
	after = r.disk.size(r.dir)
	average, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, 0, err
	}
	c.Load, _, _ = strings.Cut(string(average), " ")
	return before, after, r.alive()
}
