// Package conflict knows what works against a change: the kernel's other settings, the
// programs' own, and the files of the host that set the same again.
package conflict

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"snag/remedies/plan"
)

// Facts are what is known of the host. What is zero was not measured, and nothing is
// said of it.
type Facts struct {
	Kernel     [2]int // major and minor
	CPUs       int
	Congestion string // net.ipv4.tcp_congestion_control
	// Devices by name, those of the host's own namespace.
	Devices map[string]Device
	// Fixed are TCP sockets whose receive buffer their program set.
	Fixed []Fixed
	Files Files
}

// Device is how an interface is set.
type Device struct {
	Driver   string
	RxQueues int
	// Children are the classes of its mq qdisc, as parents of what is below them; nil:
	// it has none.
	Children []string
}

// Fixed is a socket whose buffer does not grow.
type Fixed struct {
	Who   string
	Bytes int
}

// mostTold bounds what is told: what people still read.
const mostTold = 40

// Of says all that works against a plan, a sentence each.
func Of(p *plan.Plan, f Facts) (out []string) {
	for _, rule := range []func(*plan.Plan, Facts) []string{
		budgets, belowMQ, pacing, atr, buffers, steering, interrupts, sysctlFiles, tunedProfile, networkFiles,
	} {
		for _, text := range rule(p, f) {
			switch {
			case slices.Contains(out, text):
			case len(out) == mostTold:
				return append(out, fmt.Sprintf("and more: only %d are listed", mostTold))
			default:
				out = append(out, text)
			}
		}
	}
	return out
}

// sets finds the change of a sysctl.
func sets(p *plan.Plan, name string) (plan.Change, bool) {
	for _, c := range p.Changes {
		if c.Target.Kind == "sysctl" && c.Target.Name == name {
			return c, true
		}
	}
	return plan.Change{}, false
}

// budgets: a round of receive work ends at the first of its two limits
// (net/core/dev.c, net_rx_action).
func budgets(p *plan.Plan, _ Facts) []string {
	packets, usecs := "net.core.netdev_budget", "net.core.netdev_budget_usecs"
	a, ok1 := sets(p, packets)
	b, ok2 := sets(p, usecs)
	switch {
	case ok1 && !ok2:
		return []string{fmt.Sprintf("change %s: %s alone does little: the round ends at %s as well, and that stays as it is", a.ID, packets, usecs)}
	case ok2 && !ok1:
		return []string{fmt.Sprintf("change %s: %s alone does little: the round ends at %s as well, and that stays as it is", b.ID, usecs, packets)}
	}
	return nil
}

// belowMQ: each queue of an interface has a qdisc of its own below mq, and a flow goes
// to one of them.
func belowMQ(p *plan.Plan, f Facts) (out []string) {
	byDevice := map[string][]plan.Change{}
	for _, c := range p.Changes {
		if c.Target.Kind == "qdisc" && c.Target.Netns == "" {
			byDevice[c.Target.Device] = append(byDevice[c.Target.Device], c)
		}
	}
	for device, changes := range byDevice {
		children := f.Devices[device].Children
		if len(children) == 0 {
			continue
		}
		parents := map[string][]string{}
		for _, c := range changes {
			if c.Target.Parent == "root" {
				out = append(out, fmt.Sprintf("change %s: %s has mq with %d queues: one root qdisc in its place is one lock for all CPUs; change the children", c.ID, device, len(children)))
				continue
			}
			parents[c.Target.Name] = append(parents[c.Target.Name], c.Target.Parent)
		}
		for name, at := range parents {
			if len(at) < len(children) {
				out = append(out, fmt.Sprintf("%s of %s is changed on %d of the %d children of mq: a flow on another meets the old one", name, device, len(at), len(children)))
			}
		}
	}
	slices.Sort(out)
	return out
}

// pacing: bbr paces by itself since 4.13 (net/ipv4/tcp_bbr.c), before it fq did.
func pacing(p *plan.Plan, f Facts) (out []string) {
	if f.Congestion != "bbr" || f.Kernel == [2]int{} || f.Kernel[0] > 4 || f.Kernel[0] == 4 && f.Kernel[1] >= 13 {
		return nil
	}
	for _, c := range p.Changes {
		t := c.Target
		off := t.Kind == "qdisc" && (t.Name == "" && !strings.HasPrefix(c.Then, "fq ") && c.Then != "fq" || t.Name == "pacing" && c.Then == "0") ||
			t.Kind == "sysctl" && t.Name == "net.core.default_qdisc" && c.Then != "fq"
		if off {
			out = append(out, fmt.Sprintf("change %s: TCP uses bbr, which before Linux 4.13 is paced by fq alone", c.ID))
		}
	}
	return out
}

// atr: ntuple filters and the card's own table of flows exclude each other
// (drivers/net/ethernet/intel/ixgbe, i40e: ATR is off while ntuple is on).
func atr(p *plan.Plan, f Facts) (out []string) {
	for _, c := range p.Changes {
		t := c.Target
		driver := f.Devices[t.Device].Driver
		if t.Kind == "feature" && (t.Name == "rx-ntuple-filter" || t.Name == "ntuple") && c.Then == "on" && (driver == "" || driver == "ixgbe" || driver == "i40e") {
			out = append(out, fmt.Sprintf("change %s: ntuple on turns the card's own flow table (ATR) off on ixgbe and i40e: flows without a rule are spread by the hash only", c.ID))
		}
	}
	return out
}

// buffers: whom a limit of socket buffers does not reach.
func buffers(p *plan.Plan, f Facts) (out []string) {
	udp := strings.HasPrefix(p.For.Suspect, "udp-") || p.For.Role == "udp-media"
	for _, c := range p.Changes {
		if c.Target.Kind != "sysctl" {
			continue
		}
		switch name := c.Target.Name; name {
		case "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem":
			if udp {
				out = append(out, fmt.Sprintf("change %s: UDP does not look at %s: net.core.rmem_max and SO_RCVBUF are its buffers", c.ID, name))
			}
			for i, s := range f.Fixed {
				if i == 3 {
					break
				}
				if name == "net.ipv4.tcp_rmem" {
					out = append(out, fmt.Sprintf("change %s: %s set SO_RCVBUF (its buffer stands at %d bytes): %s does not reach it", c.ID, s.Who, s.Bytes, name))
				}
			}
			fallthrough
		case "net.core.rmem_default", "net.core.wmem_default", "net.core.rmem_max", "net.core.wmem_max":
			if c.Needs == "" {
				out = append(out, fmt.Sprintf("change %s: sockets that are open keep their size: %s is for those made, or sized, afterwards", c.ID, name))
			}
		}
	}
	return out
}

// steering: with a queue for each CPU the card spreads already
// (Documentation/networking/scaling.rst, RPS: Suggested Configuration).
func steering(p *plan.Plan, f Facts) (out []string) {
	for _, c := range p.Changes {
		t := c.Target
		if n := f.Devices[t.Device].RxQueues; t.Kind == "rps" && t.Netns == "" && f.CPUs > 0 && n >= f.CPUs && strings.Trim(c.Then, "0,") != "" {
			out = append(out, fmt.Sprintf("%s has %d receive queues for %d CPUs: RPS only hands packets from one CPU to another", t.Device, n, f.CPUs))
		}
	}
	return out
}

func interrupts(p *plan.Plan, f Facts) (out []string) {
	for _, c := range p.Changes {
		if c.Target.Kind == "irq" && f.Files.IRQBalance {
			out = append(out, "irqbalance runs: it moves the interrupts back within seconds; stop it, or name them in IRQBALANCE_ARGS (--banirq=) or IRQBALANCE_BANNED_CPULIST")
		}
	}
	return out
}

// ours is the name of the drop-in that holds a plan's sysctls.
const ours = "90-snag"

// sysctlFiles: a file that is set after ours, which sysctl.d(5) orders by name.
func sysctlFiles(p *plan.Plan, f Facts) (out []string) {
	for _, c := range p.Changes {
		t := c.Target
		if t.Kind != "sysctl" || t.Netns != "" {
			continue
		}
		for _, l := range f.Files.Sysctl {
			if base := path.Base(l.File); base < ours || strings.HasPrefix(base, ours) || l.Pattern() || !sameName(l.Path, t.Name) || same(l.Value, c.Then) {
				continue
			}
			out = append(out, fmt.Sprintf("change %s: %s:%d sets %s to %q, after %s: at the next boot it wins", c.ID, l.File, l.N, t.Name, l.Value, ours+".conf"))
		}
	}
	return out
}

// tunedProfile: what tuned sets when it starts.
func tunedProfile(p *plan.Plan, f Facts) (out []string) {
	for _, c := range p.Changes {
		t := c.Target
		for _, l := range f.Files.Tuned {
			switch {
			case t.Kind == "sysctl" && t.Netns == "" && l.Section == "sysctl" && sameName(l.Key, t.Name) && !same(l.Value, c.Then) && f.Files.TunedLast:
				out = append(out, fmt.Sprintf("change %s: tuned (profile %s, %s:%d) sets %s to %q when it starts, over sysctl.d: reapply_sysctl = 0 in /etc/tuned/tuned-main.conf", c.ID, f.Files.Profile, l.File, l.N, l.Key, l.Value))
			case t.Kind == "thp" && t.Name == "enabled" && l.Section == "vm" && strings.HasPrefix(l.Key, "transparent_hugepage"),
				l.Section == "net" && t.Device != "" && l.Key == map[string]string{"ring": "ring", "channels": "channels", "coalesce": "coalesce", "feature": "features", "txqueuelen": "txqueuelen"}[t.Kind] && l.Key != "":
				out = append(out, fmt.Sprintf("change %s: tuned (profile %s, %s:%d) sets %s = %q when it starts", c.ID, f.Files.Profile, l.File, l.N, l.Key, l.Value))
			}
		}
	}
	return out
}

// sameName compares a key of a file with a plan's target: the one has slashes where the
// other has dots, or where an interface's name has them.
func sameName(key, name string) bool {
	return strings.ReplaceAll(key, "/", ".") == strings.ReplaceAll(name, "/", ".")
}

func same(a, b string) bool {
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}
