package nics

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"snag/internal/cpus"
	"snag/probes/probe"
	"snag/recording"
)

// Bounds: a queue costs three files of sysfs, 10 µs each.
const (
	mostQueueRows = 1024
	mostIRQs      = 1024
)

type queueKey struct {
	device, dir string
	index       int
}

type irqKey struct {
	device string
	number int
}

// queues writes the masks of each queue and where interrupts go, of the own
// namespace: sysfs shows the interfaces of the namespace it was mounted in.
type queues struct {
	env    *probe.Env
	ledger *ledger
	last   map[queueKey]recording.Queue
	irqs   map[irqKey]recording.IRQ
	nodes  map[string]bool // devices whose NUMA node was looked at
}

// again is settings.again for queues, interrupts and NUMA nodes.
func (q *queues) again() {
	clear(q.last)
	clear(q.irqs)
	q.nodes = nil
}

// unseen says what sysfs does not show.
func (q *queues) unseen(spaces []*space) {
	n := 0
	for _, sp := range spaces {
		for _, d := range sp.devices {
			if !sp.Own && d != "lo" {
				n++
			}
		}
	}
	if n > 0 {
		q.ledger.note("nics.queues", fmt.Sprintf("queues and masks of %d interfaces in other network namespaces were not read: /sys shows those of its own", n), "run it inside of it: ip netns exec NAME snag find")
	}
}

// measure reads the devices' queues and interrupts; names are the interrupts' as
// /proc/interrupts has them.
func (q *queues) measure(devices []string, names map[int]string) error {
	if _, err := os.Stat(filepath.Join(q.env.Sys, "class/net")); err != nil {
		return &probe.Unavailable{Why: err.Error(), Cure: "mount sysfs there"}
	}
	t, bad := q.env.Now(), error(nil)
	for _, d := range devices {
		q.node(t, d)
		if err := q.device(t, d); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ENODEV) {
			bad = err // one that has just gone is no error
		}
		q.interruptsOf(t, d, names)
	}
	return bad
}

func (q *queues) device(t recording.Time, dev string) error {
	dir := filepath.Join(q.env.Sys, "class/net", dev, "queues")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var bad error
	for _, e := range entries {
		kind, number, _ := strings.Cut(e.Name(), "-")
		index, err := strconv.Atoi(number)
		if err != nil || kind != "rx" && kind != "tx" {
			continue
		}
		row := recording.Queue{Netns: q.env.Netns, Device: dev, Dir: kind, Index: index}
		at := func(file string) string { return filepath.Join(dir, e.Name(), file) }
		if kind == "rx" {
			row.RPS, err = readMask(at("rps_cpus"))
			row.Flows = readNumber(at("rps_flow_cnt"))
		} else {
			row.XPS, err = readMask(at("xps_cpus")) // of the only queue of a device: ENOENT
		}
		if err != nil {
			bad = err
		}
		q.write(t, row)
	}
	return bad
}

func (q *queues) write(t recording.Time, row recording.Queue) {
	key := queueKey{row.Device, row.Dir, row.Index}
	old, seen := q.last[key]
	if seen && reflect.DeepEqual(old, row) {
		return
	}
	if !seen && len(q.last) >= mostQueueRows {
		q.ledger.note("nics.queues", fmt.Sprintf("more than %d queues: the others have no row", mostQueueRows), "")
		return
	}
	q.last[key] = row
	row.T = t
	q.env.Sink.Append(row)
}

// interruptsOf writes the device's interrupts: those of its PCI function, else
// those that carry its name.
func (q *queues) interruptsOf(t recording.Time, dev string, names map[int]string) {
	for _, n := range q.numbers(dev, names) {
		row := recording.IRQ{Netns: q.env.Netns, Device: dev, Number: n, Name: names[n]}
		if row.Name == "" {
			continue // a vector that no driver asked for
		}
		dir := filepath.Join(q.env.Proc, "irq", strconv.Itoa(n))
		row.Allowed = readList(filepath.Join(dir, "smp_affinity_list"))
		row.Effective = readList(filepath.Join(dir, "effective_affinity_list"))
		key := irqKey{dev, n}
		old, seen := q.irqs[key]
		if seen && old == row {
			continue
		}
		if !seen && len(q.irqs) >= mostIRQs {
			q.ledger.note("nics.queues", fmt.Sprintf("more than %d interrupts: the others have no row", mostIRQs), "")
			return
		}
		q.irqs[key] = row
		row.T = t
		q.env.Sink.Append(row)
	}
}

func (q *queues) numbers(dev string, names map[int]string) []int {
	var out []int
	base := filepath.Join(q.env.Sys, "class/net", dev, "device")
	// virtio's device is a child of the PCI function that has the interrupts.
	for _, dir := range []string{filepath.Join(base, "msi_irqs"), base + "/../msi_irqs"} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if n, err := strconv.Atoi(e.Name()); err == nil {
				out = append(out, n)
			}
		}
		if len(out) > 0 {
			break
		}
	}
	if len(out) == 0 {
		for n, name := range names {
			if name == dev || strings.HasPrefix(name, dev+"-") {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return out
}

// readMask returns a mask as a list, nil where there is no such file.
func readMask(path string) (*string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil // not on this kernel, not of this queue
	}
	set, err := cpus.ParseMask(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	list := cpus.List(set)
	return &list, nil
}

func readNumber(path string) *int {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return nil
	}
	return &n
}

func readList(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	set, err := cpus.ParseList(string(data))
	if err != nil {
		return ""
	}
	return cpus.List(set)
}
