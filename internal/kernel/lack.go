// Package kernel knows what the running kernel lets snag do: whether a BPF
// program can be loaded and hung on a raw tracepoint, which arguments that
// tracepoint has, what the kernel calls the values of its enums and the
// addresses of its functions. It holds nothing of snag's own matter.
package kernel

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Lack is something that this host, kernel or user does not allow, and what
// would make it work. It has the fields of probe.Unavailable and converts to it.
type Lack struct {
	Why  string // "raw tracepoint kfree_skb: operation not permitted"
	Cure string // "run as root, or …"
}

func (l *Lack) Error() string {
	if l.Cure == "" {
		return l.Why
	}
	return l.Why + ": " + l.Cure
}

const (
	cureRoot     = "run as root, or give the binary CAP_BPF and CAP_PERFMON: setcap cap_bpf,cap_perfmon+ep snag"
	cureBTF      = "use a kernel built with CONFIG_DEBUG_INFO_BTF=y, as those of Debian, Ubuntu, Fedora and RHEL since 2020 are"
	cureLockdown = "boot with lockdown=integrity or without lockdown"
)

// BTFPath is where the kernel describes its own types, below the root of sysfs.
const BTFPath = "/kernel/btf/vmlinux"

// CanLoad reports why no BPF program of snag's can be loaded here, nil when one
// can, as far as can be told without trying. proc and sys are the roots of
// procfs and sysfs.
func CanLoad(proc, sys string) *Lack {
	caps, err := Capabilities(proc)
	if err == nil && !caps.Has(unix.CAP_SYS_ADMIN) && (!caps.Has(unix.CAP_BPF) || !caps.Has(unix.CAP_PERFMON)) {
		return &Lack{"loading BPF programs: this process has neither CAP_BPF with CAP_PERFMON nor CAP_SYS_ADMIN", cureRoot}
	}
	if _, err := os.Stat(sys + BTFPath); err != nil {
		return &Lack{fmt.Sprintf("reading the kernel's types: %v", err), cureBTF}
	}
	if l := descriptors(); l != nil {
		return l
	}
	if Lockdown(sys) == "confidentiality" {
		return &Lack{"the kernel is locked down (confidentiality): BPF programs may not read kernel memory", cureLockdown}
	}
	return nil
}

// fewDescriptors are too few for programs, tables and links, some 140 in a find without a
// closer look, and for the recording's own files: the last that want one would fail, and
// those are the recording's.
const fewDescriptors = 256

func descriptors() *Lack {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil || l.Cur >= fewDescriptors {
		return nil
	}
	return &Lack{
		Why:  fmt.Sprintf("loading BPF programs: this process may open %d files, and with them it needs %d", l.Cur, fewDescriptors),
		Cure: "raise the limit of open files: ulimit -n 1024",
	}
}

// Lockdown is the mode the kernel is locked down in: none, integrity,
// confidentiality; "" where it has no lockdown (Documentation: kernel_lockdown(7)).
func Lockdown(sys string) string {
	b, err := os.ReadFile(sys + "/kernel/security/lockdown")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(b), "[")
	mode, _, _ := strings.Cut(rest, "]")
	return mode
}

// cureRefused is what helps when the kernel says EPERM. A process may have all
// capabilities and still be refused: those of a user namespace count only for
// what belongs to it (user_namespaces(7)), and containers filter bpf(2).
func cureRefused(proc string) string {
	caps, err := Capabilities(proc)
	if err == nil && (caps.Has(unix.CAP_SYS_ADMIN) || caps.Has(unix.CAP_BPF) && caps.Has(unix.CAP_PERFMON)) {
		return "run snag on the host itself: here a container's user namespace, its seccomp filter or lockdown forbids bpf(2), although this process has the capabilities"
	}
	return cureRoot
}

// Explain turns the error of a load or an attach into what is lacking. what
// names the object: "BPF program drops".
func Explain(what string, err error) *Lack {
	if err == nil {
		return nil
	}
	var l *Lack
	if errors.As(err, &l) {
		return l
	}
	var verifier *ebpf.VerifierError
	switch {
	case errors.As(err, &verifier):
		// The log is long; its last lines say what was refused. The last one of all only counts.
		log := slices.DeleteFunc(slices.Clone(verifier.Log), func(line string) bool { return strings.HasPrefix(line, "processed ") })
		if len(log) > 3 {
			log = log[len(log)-3:]
		}
		if len(log) == 0 {
			return Explain(what, verifier.Cause)
		}
		return &Lack{fmt.Sprintf("%s: the kernel refused it: %s", what, strings.Join(log, "; ")), "report it with the kernel's version (uname -r)"}
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return &Lack{fmt.Sprintf("%s: %v", what, err), cureRefused("/proc")}
	case errors.Is(err, ebpf.ErrNotSupported):
		return &Lack{fmt.Sprintf("%s: %v", what, err), "use a kernel from 5.10 on"}
	case errors.Is(err, unix.ENOMEM):
		return &Lack{fmt.Sprintf("%s: %v", what, err), "raise the memory or the locked-memory limit (ulimit -l unlimited)"}
	}
	return &Lack{Why: fmt.Sprintf("%s: %v", what, err)}
}
