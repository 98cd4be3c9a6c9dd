package knob

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"snag/remedies/plan"
)

// irq sets which CPUs serve an interrupt: /proc/irq/N/smp_affinity
// (Documentation/core-api/irq/irq-affinity.rst).
type irq struct{}

var irqDoc = Doc{
	Name: "irq", About: "the CPUs that serve an interrupt", Unit: "mask of CPUs: hexadecimal digits in groups of eight, parted by commas", Range: "at least one CPU that is online",
	Since: "2.4", Helps: "a queue's interrupt on a CPU of the card's own NUMA node, or away from a busy one; one queue a CPU",
	Hurts:  "irqbalance, where it runs, moves it back (snag refuses then); interrupts that a driver manages itself refuse (EIO, EPERM)",
	Source: "Documentation/core-api/irq/irq-affinity.rst; kernel/irq/proc.c (write_irq_affinity)",
}

func (irq) path(h Host, t plan.Target) string {
	return filepath.Join(h.Proc, "irq", strconv.Itoa(t.IRQ), "smp_affinity")
}

func (irq) Valid(t plan.Target, value string) error {
	if t.IRQ < 1 || t.IRQ > 1<<20 {
		return fmt.Errorf("%d is not an interrupt: /proc/interrupts has their numbers", t.IRQ)
	}
	mask, err := parseMask(value)
	if err == nil && mask.Sign() == 0 {
		err = errors.New("an interrupt needs a CPU: the mask is empty")
	}
	return err
}

func (k irq) Read(h Host, t plan.Target) (string, error) { return readFile(k.path(h, t)) }

// Write refuses where irqbalance runs: it would move the interrupt again within ten
// seconds, and what is not kept is not a change.
func (k irq) Write(h Host, t plan.Target, value string) error {
	running, err := IRQBalance(h)
	if err != nil {
		return err
	}
	if running {
		return fmt.Errorf("set %s: irqbalance runs and would move it back: take the interrupt from it first (IRQBALANCE_ARGS=--banirq=%d in /etc/default/irqbalance, then restart it), or stop it", t, t.IRQ)
	}
	err = writeFile(k.path(h, t), value)
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.EPERM) { // which of the two depends on the kernel; who is not root fails at the opening
		return fmt.Errorf("set %s to %s: the kernel manages this interrupt itself, or its controller can't move it: leave it out of the plan (%w)", t, value, errors.Unwrap(err))
	}
	return err
}

func (irq) Same(_ plan.Target, a, b string) bool { return queueMask{}.Same(plan.Target{}, a, b) }

// IRQBalance reports whether the daemon irqbalance runs, which moves interrupts every ten
// seconds.
func IRQBalance(h Host) (running bool, err error) {
	entries, err := os.ReadDir(h.Proc)
	if err != nil {
		return false, fmt.Errorf("look for irqbalance: %w", err)
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		comm, err := os.ReadFile(filepath.Join(h.Proc, e.Name(), "comm"))
		if err == nil && strings.TrimSpace(string(comm)) == "irqbalance" {
			return true, nil
		}
	}
	return false, nil // those that ended meanwhile are none
}
