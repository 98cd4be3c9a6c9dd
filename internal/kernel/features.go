package kernel

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// Answer is whether the kernel has a feature.
type Answer string

// The answers. Unknown is not no: this process could not ask.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "unknown"
)

// Feature is something of the kernel that snag measures with.
type Feature struct {
	Name   string `json:"name"`
	Answer Answer `json:"answer"`
	For    string `json:"for"`            // what snag does with it
	Why    string `json:"why,omitempty"`  // it is missing, or could not be asked for
	Cure   string `json:"cure,omitempty"` // what would make it work
}

// Features asks the running kernel for what snag measures with. proc and sys are the roots of procfs and sysfs. It
// needs no privileges for most answers; with them, it loads a program of two instructions and removes it again.
func Features(proc, sys string) []Feature {
	types, err := Types()
	all := []Feature{fromError(Feature{Name: "kernel types (BTF)", For: "every BPF program"}, err)}
	load, try := loading(proc, sys), func(string) error { return nil }
	if load.Answer == Yes {
		try = Iterates
	}
	all = append(all, inTypes(types, try)...)
	return append(all,
		load,
		fromFile(Feature{Name: "uprobes", For: "locks and pauses of Go programs and JVMs", Cure: "use a kernel built with CONFIG_UPROBE_EVENTS=y"}, sys+"/bus/event_source/devices/uprobe/type"),
		fromFile(Feature{Name: "perf events", For: "stacks of what runs on the CPUs", Cure: "use a kernel built with CONFIG_PERF_EVENTS=y"}, proc+"/sys/kernel/perf_event_paranoid"),
		fromFile(Feature{Name: "pressure (PSI)", For: "how long tasks wait for CPUs, memory and disks", Cure: "boot with psi=1"}, proc+"/pressure/cpu"),
		symbols(proc))
}

// typed is what a kernel's BTF shows to be there.
type typed struct {
	feature  Feature
	there    func(*btf.Spec) bool
	iterates string // of an iterator: its target
}

func iterator(target string, f Feature) typed { return typed{f, hasIterator(target), target} }

// The kernel versions are those that first had the feature (docs.ebpf.io, kernel/bpf/*.c).
var inBTF = []typed{
	{feature: Feature{Name: "BPF ring buffer", For: "stacks, long waits, pauses of runtimes", Cure: "use a kernel from 5.8 on"},
		there: hasValue("bpf_map_type", "BPF_MAP_TYPE_RINGBUF")},
	{feature: Feature{Name: "typed tracepoints (tp_btf)", For: "system calls, time off the CPU, connections", Cure: "use a kernel from 5.5 on"},
		there: hasValue("bpf_attach_type", "BPF_TRACE_RAW_TP")},
	iterator("task", Feature{Name: "BPF iterator over tasks", For: "what the threads of requests wait in", Cure: "use a kernel from 5.8 on"}),
	iterator("task_file", Feature{Name: "BPF iterator over open files", For: "requests that are open, where socket storage can't be had", Cure: "use a kernel from 5.8 on"}),
	iterator("bpf_sk_storage_map", Feature{Name: "BPF iterator over socket storage", For: "requests that are open, at the least cost", Cure: "use a kernel from 5.9 on, or do without: snag then looks at the open files of all processes"}),
	{feature: Feature{Name: "reasons of dropped packets", For: "why a packet was dropped, by the kernel's own name", Cure: "use a kernel from 5.17 on"},
		there: hasDropReasons},
}

// inTypes tries the iterators that the types name, as hardened kernels refuse some.
func inTypes(types *btf.Spec, try func(target string) error) []Feature {
	var all []Feature
	for _, t := range inBTF {
		f := t.feature
		switch {
		case types == nil:
			f.Answer, f.Why, f.Cure = Unknown, "the kernel's types could not be read", ""
		case !t.there(types):
			f.Answer, f.Why = No, "this kernel's types do not name it"
		default:
			f.Answer = Yes
			if t.iterates != "" {
				if err := try(t.iterates); err != nil {
					f.Answer, f.Why = No, "the kernel refused it: "+err.Error()
				}
			}
			if f.Answer == Yes {
				f.Cure = ""
			}
		}
		all = append(all, f)
	}
	return all
}

func hasValue(enum, value string) func(*btf.Spec) bool {
	return func(types *btf.Spec) bool {
		names, err := Enum(types, enum)
		if err != nil {
			return false
		}
		for _, name := range names {
			if name == value {
				return true
			}
		}
		return false
	}
}

// hasIterator: each target of iterators has a function of that name for the verifier (DEFINE_BPF_ITER_FUNC).
func hasIterator(target string) func(*btf.Spec) bool {
	return func(types *btf.Spec) bool {
		var f *btf.Func
		return types.TypeByName("bpf_iter_"+target, &f) == nil
	}
}

func hasDropReasons(types *btf.Spec) bool {
	args, err := TracepointArgs(types, "kfree_skb")
	return err == nil && slices.Contains(args, "enum skb_drop_reason")
}

// loading tries it, as a container's filter of system calls is shown by nothing else.
func loading(proc, sys string) Feature {
	f := Feature{Name: "loading BPF programs", For: "all that is not a counter of /proc"}
	if l := CanLoad(proc, sys); l != nil {
		return fromError(f, l)
	}
	if err := RaiseMemlock(); err != nil {
		return fromError(f, err)
	}
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "snag_version", Type: ebpf.RawTracepoint, License: "Dual BSD/GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
	})
	if err != nil {
		return fromError(f, Explain("loading a BPF program", err))
	}
	_ = p.Close()
	f.Answer = Yes
	return f
}

func symbols(proc string) Feature {
	f := Feature{Name: "kernel function names", For: "stacks in the kernel, where packets were dropped"}
	_, err := LoadSymbols(proc)
	return fromError(f, err)
}

// fromError is the answer by what asking came to. What a user with more rights could ask is unknown, not missing.
func fromError(f Feature, err error) Feature {
	var l *Lack
	switch {
	case err == nil:
		f.Answer = Yes
	case errors.As(err, &l):
		f.Answer, f.Why, f.Cure = No, l.Why, l.Cure
		if l.Cure == cureRoot || errors.Is(err, ErrHidden) {
			f.Answer = Unknown
		}
	default:
		f.Answer, f.Why = Unknown, err.Error()
	}
	return f
}

// fromFile is the answer by a file that only a kernel with the feature has.
func fromFile(f Feature, path string) Feature {
	_, err := os.Stat(path)
	switch {
	case err == nil:
		f.Answer, f.Cure = Yes, ""
	case errors.Is(err, os.ErrNotExist):
		f.Answer, f.Why = No, path+" does not exist"
	default:
		f.Answer, f.Why, f.Cure = Unknown, fmt.Sprintf("looking at %s: %v", path, errors.Unwrap(err)), ""
	}
	return f
}
