package host

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var kernelHotPath = &suspect.Suspect{
	Name:  "kernel-hot-path",
	Title: "a path of the kernel burns CPU that it does not burn elsewhere",
	About: "One function of the kernel takes a large share of the CPU that it does not take on the good host: a debugging option under a driver's transmit (debug_dma_map_page), a lock in the IOMMU, a long list of firewall rules. Programs look slow and system or softirq time is high, which more traffic does as well: then all functions grow alike.",
	Needs: []suspect.Need{
		{Measure: "oncpu.kernel", Must: true, Why: "which kernel function ran, how often"},
		{Measure: recording.Compared, Must: true, Why: "the same where it is good: shares differ from kernel to kernel"},
		{Measure: "host.cpu", Must: false, Why: "system and softirq time of each CPU, here and there"},
	},
	For: []string{
		"decisive: of the kernel's samples a function has a multiple of its share in the baseline, and many samples, while the others kept theirs",
		"strong: system and softirq time are a multiple of the baseline's",
	},
	Against: []string{
		"decisive: the function has about the same share in the baseline",
		"trap: profiles of different -F weigh interrupts differently: shares are compared, not counts; more load raises all functions alike",
	},
	LeadsTo:  []suspect.Lead{{To: scene.CPUBurn, Lag: 5 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.DatagramsLost, Lag: 5 * time.Second}, {To: scene.ThroughputPlateau, Lag: 5 * time.Second}},
	Claims:   []ledger.Account{ledger.Work, ledger.Kernel, ledger.CPU},
	Remedy:   suspect.Remedy{Permanently: "What the function names: a kernel without the debugging option (it takes a reboot), the driver's other mode, fewer rules or a set."},
	Verified: "its share falls to the baseline's",
	Next:     "perf record -a -g -F 97 -- sleep 10; perf report --no-children --sort symbol   # here and on the good host",
	Weigh:    weighKernelHotPath,
}

const (
	// hotSamples: 50 give a share within a seventh of itself (1/√50).
	hotSamples = 50
	// An idle host has hardly any samples in the kernel. Of fewer than hotSamples a function's
	// share is at most what three more would make it, 95 times of 100 (Hanley and Lippman-Hand,
	// JAMA 1983: the rule of three); of fewer than these no share is worth a comparison.
	quietSamples, unluckily = 12, 3
	// burntShare of all the samples, idle ones included: a twentieth of the machine
	// is what its owner would want back.
	burntShare = 0.05
	// busyShare of the samples of an event that counts no idle time (cycles, folded
	// stacks): on a host that is mostly idle a twentieth of them is nothing.
	busyShare = 0.2
	// hotTimes: from kernel to kernel, and with load, shares move by a factor of 2.
	hotTimes = 4.0
)

// kernelFunction is one function's part of a profile.
type kernelFunction struct {
	samples float64
	callers map[string]float64
	who     map[recording.Subject]float64
	active  []recording.Interval
}

// kernelProfile is what the kernel's functions ran.
type kernelProfile struct {
	by     map[string]*kernelFunction
	kernel float64 // samples in the kernel
	all    float64 // samples in all, idle ones included
	hz     float64
}

func kernelProfileOf(r *recording.Recording) kernelProfile {
	p := kernelProfile{by: map[string]*kernelFunction{}}
	seen := map[recording.Time]bool{}
	for _, row := range r.Profile {
		f := p.by[row.Function]
		if f == nil {
			f = &kernelFunction{callers: map[string]float64{}, who: map[recording.Subject]float64{}}
			p.by[row.Function] = f
		}
		n := float64(row.Samples)
		f.samples += n
		f.callers[row.Caller] += n
		if row.PID != 0 {
			f.who[recording.Subject{Kind: recording.KindProcess, PID: row.PID, Comm: row.Comm}] += n
		}
		f.active = append(f.active, measure.OneSecond(row.T))
		p.kernel += n
		p.hz = row.Hz
		if !seen[row.T] {
			seen[row.T] = true
			p.all += float64(row.All)
		}
	}
	return p
}

// share of the kernel's samples; a function that was never seen has half a sample, so that
// a ratio can be told. Of few samples it is the most that it may have been.
func (p kernelProfile) share(function string) float64 {
	n := 0.0
	if f := p.by[function]; f != nil {
		n = f.samples
	}
	if p.kernel < hotSamples {
		n += unluckily
	}
	return max(n, 0.5) / p.kernel
}

// by is how many of its samples are of programs that ran in the baseline too, or of none: what a
// program burns that was not there is its own. A baseline may name no programs.
func (f *kernelFunction) by(known map[string]bool) float64 {
	n := f.samples
	for who, samples := range f.who {
		if len(known) > 0 && !known[who.Comm] && !strings.Contains(who.Comm, "/") { // a thread of the kernel: ksoftirqd/1
			n -= samples
		}
	}
	return n
}

// programsIn are the names of the programs and threads that a recording has seen.
func programsIn(r *recording.Recording) map[string]bool {
	out := map[string]bool{}
	for _, row := range r.Processes {
		out[row.Comm] = true
	}
	for _, row := range r.Threads {
		out[row.Comm] = true
	}
	for _, row := range r.Profile {
		out[row.Comm] = true
	}
	delete(out, "")
	return out
}

// whole is what all samples are of: an event that is no clock counts no idle time.
func (p kernelProfile) whole() string {
	if p.hz > 0 {
		return "CPU time"
	}
	return "samples"
}

// otherFunctions is the row of what a profile does not list.
const otherFunctions = "others"

func weighKernelHotPath(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	here, there := kernelProfileOf(r), kernelProfileOf(r.Baseline)
	known := programsIn(r.Baseline)
	if here.kernel <= 0 || there.kernel < quietSamples || here.all <= 0 {
		return nil
	}
	var names []string
	for name, f := range here.by {
		if name != otherFunctions && f.samples >= hotSamples && f.by(known) >= max(hotSamples, burntShare*here.all) {
			names = append(names, name)
		}
	}
	sort.Slice(names, func(i, j int) bool { return here.by[names[i]].samples > here.by[names[j]].samples })
	var out []suspect.Finding
	for _, name := range names {
		out = append(out, hotFunction(r, here, there, name))
	}
	return out
}

func hotFunction(r *recording.Recording, here, there kernelProfile, name string) suspect.Finding {
	f := here.by[name]
	was := 0.0
	if g := there.by[name]; g != nil {
		was = g.samples
	}
	times := here.share(name) / there.share(name)
	out := suspect.Finding{Subject: recording.Subject{Kind: recording.KindFunction, Name: "the kernel's " + name}, Active: intervals.Merge(f.active, measure.Joined)}
	caller, _ := measure.Greatest(f.callers)
	if caller != "" {
		out.Subject.Name += " under " + caller
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: 100 * f.samples / here.all, Unit: "percent", Source: source.Of("perf report --no-children --sort symbol"), Origin: "profile",
		Text: fmt.Sprintf("%s ran in %s of %s samples in the kernel (%.0f %%; %.1f %% of all %s); in the baseline in %s of %s (%.1f %%)",
			name, units.Count(f.samples), units.Count(here.kernel), 100*here.share(name), 100*f.samples/here.all, here.whole(), units.Count(was), units.Count(there.kernel), 100*was/there.kernel)}
	if here.hz != there.hz && here.hz > 0 && there.hz > 0 {
		e.Doubt = fmt.Sprintf("sampled at %.0f Hz here and %.0f Hz there", here.hz, there.hz)
	}
	if times < hotTimes {
		e.Side = suspect.Against
		e.Text += ": about its share"
		out.Evidence = []suspect.Evidence{e}
		return out
	}
	if here.hz <= 0 && f.samples/here.all < busyShare {
		e.Grade, e.Doubt = suspect.Weak, "idle time was not sampled: how much of the machine that is can't be known"
	}
	out.Evidence = append(out.Evidence, e)
	for who := range f.who {
		if len(out.Related) < measure.MostRelated {
			out.Related = append(out.Related, who)
		}
	}
	sort.Slice(out.Related, func(i, j int) bool { return out.Related[i].PID < out.Related[j].PID })
	if e, ok := kernelTime(r); ok {
		out.Evidence = append(out.Evidence, e)
	}
	share := f.samples / here.all
	out.Text = fmt.Sprintf("%s takes %.1f %% of all %s, %.0f times its share of the kernel's in the baseline", name, 100*f.samples/here.all, here.whole(), times)
	out.Harm = hotHarm(share, r.Manifest.CPUs, name)
	out.Remedy = suspect.Remedy{Permanently: hotRemedy(name)}
	out.Next = "perf record -a -g -F 97 -- sleep 10; perf report --no-children --symbol-filter=" + name
	return out
}

// hotHarm is what a share of the samples costs; in CPUs where their number is known.
func hotHarm(share float64, cpus int, name string) suspect.Harm {
	if cpus <= 0 {
		return suspect.Harm{Symptom: scene.CPUBurn, Amount: share, Of: 1, Unit: "ratio", Text: fmt.Sprintf("%.1f %% of the time is spent in %s", 100*share, name)}
	}
	cores := share * float64(cpus)
	return suspect.Harm{Symptom: scene.CPUBurn, Amount: cores, Of: float64(cpus), Unit: "cores", Text: fmt.Sprintf("%.2f of %d CPUs are spent in %s", cores, cpus, name)}
}

// kernelTime compares the share of system and softirq time.
func kernelTime(r *recording.Recording) (suspect.Evidence, bool) {
	here, ok := kernelShare(r)
	there, ok2 := kernelShare(r.Baseline)
	if !ok || !ok2 || there <= 0 {
		return suspect.Evidence{}, false
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: here / there, Unit: "times", Source: source.CPU("/proc/stat system, softirq", "", "system", "softirq"), Origin: "kernel time",
		Text: fmt.Sprintf("system and softirq time are %.0f %% of the CPUs, in the baseline %.0f %%", 100*here, 100*there)}
	if here >= 2*there {
		e.Grade = suspect.Strong
	}
	return e, true
}

func kernelShare(r *recording.Recording) (float64, bool) {
	kernel, all := 0.0, 0.0
	for _, s := range r.Select("node_cpu_seconds_total") {
		n, ok := s.Increase()
		if !ok {
			continue
		}
		all += n
		switch s.Labels["mode"] {
		case "system", "softirq", "irq":
			kernel += n
		}
	}
	return kernel / max(all, 1e-9), all > 0
}

// hotRemedy is what is known of some functions: the option or tool behind them
// (lib/Kconfig.debug, kernel/dma/Kconfig).
func hotRemedy(name string) string {
	// Whose samples are under debug_dma_map_page and its kin (kernel/dma/debug.c).
	for _, under := range []string{"debug_dma_", "check_unmap", "check_sync", "add_dma_entry", "dma_entry_", "active_cacheline_", "hash_bucket_", "__hash_bucket_find", "bucket_find_"} {
		if strings.HasPrefix(name, under) {
			return "A kernel without CONFIG_DMA_API_DEBUG, or dma_debug=off on its command line. It takes a reboot."
		}
	}
	for _, known := range []struct{ prefix, remedy string }{
		{"__lock_acquire", "A kernel without CONFIG_PROVE_LOCKING. It takes a reboot."},
		{"lock_acquire", "A kernel without CONFIG_PROVE_LOCKING. It takes a reboot."},
		{"kasan_", "A kernel without CONFIG_KASAN. It takes a reboot."},
		{"nft_do_chain", "Fewer rules for each packet: an nft set or map in place of a list, established connections first."},
		{"ipt_do_table", "Fewer rules for each packet: an ipset in place of a list, established connections first."},
	} {
		if strings.HasPrefix(name, known.prefix) {
			return known.remedy
		}
	}
	return fmt.Sprintf("Find out what calls %s (perf report -g caller), and which option or rule of the kernel turns it on. The kernel of the baseline does not have it.", name)
}
