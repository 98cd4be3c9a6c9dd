package kernel

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
)

var types struct {
	sync.Mutex
	spec *btf.Spec
}

// Types opens the running kernel's BTF, once for all who ask until ForgetTypes.
func Types() (*btf.Spec, error) {
	types.Lock()
	defer types.Unlock()
	if types.spec != nil {
		return types.spec, nil
	}
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, &Lack{fmt.Sprintf("reading the kernel's types: %v", err), cureBTF}
	}
	types.spec = spec
	return spec, nil
}

// ForgetTypes drops what Types keeps: once the programs are loaded nobody needs it.
func ForgetTypes() {
	types.Lock()
	defer types.Unlock()
	types.spec = nil
}

// RaiseMemlock lifts the limit of locked memory where BPF maps count against it,
// which is on kernels before 5.11 only.
func RaiseMemlock() error {
	if err := rlimit.RemoveMemlock(); err != nil {
		// Only where the probing for it was refused (EPERM of bpf(2)), or on old kernels.
		cure := cureRefused("/proc")
		if cure == cureRoot {
			cure += ", or raise it (ulimit -l unlimited)"
		}
		return &Lack{fmt.Sprintf("loading BPF programs: raising the locked-memory limit for their maps: %v", err), cure}
	}
	return nil
}

// TracepointArgs are the arguments that a raw tracepoint of the running kernel
// gives its programs, as C types: "struct sk_buff *", "enum skb_drop_reason".
// They grow from kernel to kernel, and a program that reads one too many is
// refused when it is attached. A tracepoint that does not exist is a *Lack.
func TracepointArgs(types *btf.Spec, name string) ([]string, error) {
	var t *btf.Typedef
	if err := types.TypeByName("btf_trace_"+name, &t); err != nil {
		if errors.Is(err, btf.ErrNotFound) {
			return nil, &Lack{fmt.Sprintf("this kernel has no tracepoint %s", name), "use a newer kernel"}
		}
		return nil, fmt.Errorf("looking up tracepoint %s in the kernel's types: %w", name, err)
	}
	ptr, ok := t.Type.(*btf.Pointer)
	if !ok {
		return nil, fmt.Errorf("tracepoint %s: its type is a %T, not a pointer", name, t.Type)
	}
	proto, ok := ptr.Target.(*btf.FuncProto)
	if !ok || len(proto.Params) == 0 {
		return nil, fmt.Errorf("tracepoint %s: its type is not a function", name)
	}
	var args []string
	for _, p := range proto.Params[1:] { // the first is the tracepoint's own data
		args = append(args, typeName(p.Type))
	}
	return args, nil
}

func typeName(t btf.Type) string {
	switch v := t.(type) {
	case *btf.Pointer:
		return strings.TrimSuffix(typeName(v.Target), " ") + " *"
	case *btf.Const:
		return "const " + typeName(v.Type)
	case *btf.Struct:
		return "struct " + v.Name
	case *btf.Union:
		return "union " + v.Name
	case *btf.Enum:
		return "enum " + v.Name
	case *btf.Void:
		return "void"
	}
	return t.TypeName()
}

// HasTracepoint reports whether the running kernel has a tracepoint.
func HasTracepoint(types *btf.Spec, name string) bool {
	_, err := TracepointArgs(types, name)
	return err == nil
}

// AttachRaw hangs a program on a raw tracepoint, and explains what is lacking
// when it can't.
func AttachRaw(name string, program *ebpf.Program) (link.Link, error) {
	l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: name, Program: program})
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, os.ErrNotExist):
		return nil, &Lack{fmt.Sprintf("this kernel has no tracepoint %s", name), "use a newer kernel, or load the module that has it"}
	}
	return nil, Explain("attaching to raw tracepoint "+name, err)
}
