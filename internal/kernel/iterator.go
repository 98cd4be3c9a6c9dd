package kernel

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// Iterates tries whether this kernel lets a BPF program iterate over a target (task, bpf_sk_storage_map). The kernel's
// types tell only that it could: hardened kernels refuse some with EPERM.
func Iterates(target string) error {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "snag_iterates", Type: ebpf.Tracing, AttachType: ebpf.AttachTraceIter, AttachTo: target, License: "Dual BSD/GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
	})
	if err != nil {
		return err
	}
	return p.Close()
}
