package nics

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"snag/internal/procfile"
	"snag/probes/probe"
	"snag/recording"
)

// Series that are written at most: a host with 256 CPUs and a card with as many
// queues has 512 that grow on its own; timers and calls between CPUs do on each.
const (
	maxInterruptSeries = 4096
	maxSoftirqSeries   = 3072 // 12 kinds on 256 CPUs
	mostPerCPUFile     = 16 << 20
)

// softirqs writes /proc/softirqs each second: 30 kB on 256 CPUs.
type softirqs struct {
	env    *probe.Env
	ledger *ledger
	table  *table
}

func (s *softirqs) measure(t recording.Time) error {
	data, err := readFile(filepath.Join(s.env.Proc, "softirqs"))
	if err != nil {
		return err
	}
	err = procfile.EachCPU(data, func(cpus []int, l procfile.PerCPU) {
		s.table.line(s.env.Sink, t, "node_softirqs_functions_total", l.Kind, l.Values, func(i int) recording.Labels {
			return recording.Labels{"cpu": strconv.Itoa(cpus[i]), "type": l.Kind}
		})
	})
	return s.table.told(s.ledger, "nics.softirqs", err)
}

// interrupts writes /proc/interrupts, and keeps the names of the interrupts.
type interrupts struct {
	env    *probe.Env
	ledger *ledger
	table  *table
	names  map[int]string // of an interrupt, its last action's
}

func (n *interrupts) measure(t recording.Time) error {
	data, err := readFile(filepath.Join(n.env.Proc, "interrupts"))
	if err != nil {
		return err
	}
	if len(data) == 0 { // the kernel's has a head always
		return &probe.Unavailable{
			Why:  "/proc/interrupts is empty: a container runtime hides it",
			Cure: "run snag on the host, or its container with all of /proc (docker run --security-opt systempaths=unconfined)",
		}
	}
	n.names = map[int]string{}
	err = procfile.EachCPU(data, func(cpus []int, l procfile.PerCPU) {
		info, devices, last := procfile.Actions(l.Kind, l.Rest)
		if irq, err := strconv.Atoi(l.Kind); err == nil {
			n.names[irq] = last
		}
		// A number that is given anew to another device is another counter.
		n.table.line(n.env.Sink, t, "node_interrupts_total", l.Kind+" "+devices, l.Values, func(i int) recording.Labels {
			return recording.Labels{"cpu": strconv.Itoa(cpus[i]), "type": l.Kind, "info": info, "devices": devices}
		})
	})
	return n.table.told(n.ledger, "nics.interrupts", err)
}

// told notes what the table had no room for, and hands on the error.
func (tb *table) told(l *ledger, measure string, err error) error {
	if tb.left > 0 {
		l.note(measure, fmt.Sprintf("more than %d counters grew: %d readings of the others are not recorded", tb.most, tb.left), "")
	}
	return err
}

// readFile reads a file of /proc to its end, and no more than a bound.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostPerCPUFile))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}
