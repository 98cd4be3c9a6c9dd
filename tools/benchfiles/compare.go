package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// ours is the name of snag read among the peers.
const ours = "snag read"

// goal is what snag read is held to: its cost as a multiple of a peer's, or, without
// a peer, its memory in MB.
type goal struct {
	what string // "CPU", "wall", "RSS"
	peer string
	most float64
}

// compare measures all commands on a file, in turns, and prints them.
func compare(ctx context.Context, in input, snag, dir string, rounds int) error {
	size, err := warm(in.path)
	if err != nil {
		return err
	}
	all := append([]peer{{name: ours, command: []string{snag, "read", "-q", "--out", "OUT", "FILE"}, codes: []int{10, 11}}}, in.peers...)
	best := map[string]cost{}
	failed := map[string]string{}
	for round := range rounds {
		for _, p := range all {
			if _, err := exec.LookPath(p.command[0]); err != nil {
				failed[p.name] = "not here (tools/setup.sh bench-files)"
				continue
			}
			if round > 0 && p.once || failed[p.name] != "" {
				continue
			}
			c, err := measure(ctx, p, in.path, dir)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				failed[p.name] = strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", " ")
				continue
			}
			if was, ok := best[p.name]; !ok || c.cpu < was.cpu {
				best[p.name] = c
			}
		}
	}
	print(in, size, all, best, failed)
	return nil
}

func print(in input, size int64, all []peer, best map[string]cost, failed map[string]string) {
	fmt.Printf("\n### %s, %.0f MB\n\n", in.title, float64(size)/1e6)
	base, with := best[all[1].name]
	fmt.Printf("| | CPU, s | × %s | wall, s | × | RSS, MB |\n|---|---|---|---|---|---|\n", all[1].name)
	for _, p := range all {
		c, ok := best[p.name]
		if !ok {
			fmt.Printf("| %s | – | | | | |\n", p.name)
			fmt.Fprintf(os.Stderr, "benchfiles: %s: %s: %s\n", in.title, p.name, failed[p.name])
			continue
		}
		cpu, wall := "", ""
		if with {
			cpu, wall = times(ratio(c.cpu.Seconds(), base.cpu.Seconds())), times(ratio(c.wall.Seconds(), base.wall.Seconds()))
		}
		fmt.Printf("| %s | %.2f | %s | %.2f | %s | %.0f |\n", p.name, c.cpu.Seconds(), cpu, c.wall.Seconds(), wall, float64(c.rss)/1e6)
	}
	fmt.Println()
	for _, g := range in.goals {
		fmt.Println("- " + g.text(best))
	}
}

func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}

func times(r float64) string {
	if r < 0.1 {
		return fmt.Sprintf("%.3f", r)
	}
	return fmt.Sprintf("%.2f", r)
}

// text says what a goal wants and whether it holds.
func (g goal) text(best map[string]cost) string {
	mine, ok := best[ours]
	if !ok {
		return fmt.Sprintf("%s: not measured", g.what)
	}
	holds := func(v float64) string {
		if v <= g.most {
			return "holds"
		}
		return "**does not hold**"
	}
	if g.peer == "" {
		v := float64(mine.rss) / 1e6
		return fmt.Sprintf("%s ≤ %.0f MB: %.0f MB, %s", g.what, g.most, v, holds(v))
	}
	theirs, ok := best[g.peer]
	if !ok {
		return fmt.Sprintf("%s ≤ %s × %s: %s could not be measured here", g.what, times(g.most), g.peer, g.peer)
	}
	v := ratio(mine.cpu.Seconds(), theirs.cpu.Seconds())
	if g.what == "wall" {
		v = ratio(mine.wall.Seconds(), theirs.wall.Seconds())
	}
	return fmt.Sprintf("%s ≤ %s × %s: %s, %s", g.what, times(g.most), g.peer, times(v), holds(v))
}
