package main

import (
	"path/filepath"

	"github.com/moby/profiles/seccomp"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	core "k8s.io/api/core/v1"
)

// configuration is what runs the first container of a pod, with these arguments or, without any, its own. root is the
// unpacked image. The limit of open files is that of who runs it: only CAP_SYS_RESOURCE could raise it.
func configuration(pod core.PodSpec, root, volumes string, args []string) (*specs.Spec, error) {
	of := pod.Containers[0]
	if len(args) == 0 {
		args = of.Args
	}
	var granted []string
	for _, c := range of.SecurityContext.Capabilities.Add {
		granted = append(granted, "CAP_"+string(c))
	}
	s := &specs.Spec{
		Version: "1.0.2",
		Process: &specs.Process{
			Args: append([]string{"/usr/bin/snag"}, args...), Cwd: "/tmp", Env: []string{"PATH=/usr/bin"},
			Capabilities:    &specs.LinuxCapabilities{Bounding: granted, Effective: granted, Permitted: granted},
			NoNewPrivileges: !*of.SecurityContext.AllowPrivilegeEscalation,
		},
		Root:   &specs.Root{Path: root, Readonly: *of.SecurityContext.ReadOnlyRootFilesystem},
		Mounts: kernelMounts(),
		Linux:  &specs.Linux{Namespaces: namespaces(pod), MaskedPaths: masked, ReadonlyPaths: readOnly},
	}
	for _, m := range of.VolumeMounts {
		s.Mounts = append(s.Mounts, mount(m, volume(pod, m.Name), volumes))
	}
	var err error
	if p := pod.SecurityContext.SeccompProfile; p != nil && p.Type == core.SeccompProfileTypeRuntimeDefault {
		s.Linux.Seccomp, err = seccomp.GetDefaultProfile(s)
	}
	return s, err
}

// namespaces are the container's own; those of the host are left out. Kubernetes has no field for the control groups':
// each container that is not privileged has its own.
func namespaces(pod core.PodSpec) []specs.LinuxNamespace {
	own := []specs.LinuxNamespace{{Type: specs.MountNamespace}, {Type: specs.IPCNamespace}, {Type: specs.CgroupNamespace}}
	if !pod.HostPID {
		own = append(own, specs.LinuxNamespace{Type: specs.PIDNamespace})
	}
	if !pod.HostNetwork {
		own = append(own, specs.LinuxNamespace{Type: specs.NetworkNamespace}, specs.LinuxNamespace{Type: specs.UTSNamespace})
	}
	return own
}

// separate gives a container PIDs of its own.
func separate(s *specs.Spec) {
	s.Linux.Namespaces = append(s.Linux.Namespaces, specs.LinuxNamespace{Type: specs.PIDNamespace})
}

// mount has what is there on every host from there, and the rest from a folder of the test.
func mount(m core.VolumeMount, v *core.Volume, volumes string) specs.Mount {
	options := []string{"rbind"}
	source := filepath.Join(volumes, v.Name)
	if v.HostPath != nil && v.HostPath.Type != nil && *v.HostPath.Type == core.HostPathDirectory {
		source = v.HostPath.Path
	}
	if m.ReadOnly {
		options = append(options, "ro")
	}
	return specs.Mount{Destination: m.MountPath, Type: "bind", Source: source, Options: options}
}

// kernelMounts are what runtimes mount into each container (moby, daemon/pkg/oci/defaults.go).
func kernelMounts() []specs.Mount {
	safe := []string{"nosuid", "noexec", "nodev"}
	return []specs.Mount{
		{Destination: "/proc", Type: "proc", Source: "proc", Options: safe},
		{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "strictatime", "mode=755", "size=65536k"}},
		{Destination: "/sys", Type: "sysfs", Source: "sysfs", Options: append([]string{"ro"}, safe...)},
		{Destination: "/sys/fs/cgroup", Type: "cgroup", Source: "cgroup", Options: append([]string{"ro", "relatime"}, safe...)}, // its own
	}
}

// What Docker hides from a container, and what it may not write to there (moby, daemon/pkg/oci/defaults.go, version
// 28).
var (
	masked = []string{"/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
		"/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap"}
	readOnly = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
)
