package recording

import (
	"regexp"
	"strings"
)

// How the paths of control groups name pods and containers: kubelet with its two drivers, Docker, containerd, CRI-O
// and Podman.
var (
	podStep       = regexp.MustCompile(`^(?:kubepods-)?(?:besteffort-|burstable-)?pod([0-9a-f]{8}[-_0-9a-f]*?)(?:\.slice)?$`)
	containerStep = regexp.MustCompile(`^(?:[a-z-]+-)?([0-9a-f]{64})(?:\.scope)?$`)
)

// ContainerOf is the id, 64 hexadecimal digits, of the innermost container that a control group is of; "" of none.
func ContainerOf(cgroup string) string { return innermost(containerStep, cgroup) }

// PodOf is the UID of the pod of Kubernetes that a control group is of; "" of none. systemd's driver writes
// underscores for its dashes.
func PodOf(cgroup string) string { return strings.ReplaceAll(innermost(podStep, cgroup), "_", "-") }

func innermost(step *regexp.Regexp, cgroup string) string {
	for cgroup != "" {
		at := strings.LastIndexByte(cgroup, '/')
		if m := step.FindStringSubmatch(cgroup[at+1:]); m != nil {
			return m[1]
		}
		cgroup = cgroup[:max(at, 0)]
	}
	return ""
}

// Facts that name a container by its id, as "web" or, in a pod, "shop/web-0/app", and a pod by its UID, as
// "shop/web-0". Facts about control groups begin like these (see writtenAgain).
const (
	FactContainer = "cgroup.container."
	FactPod       = "cgroup.pod."
)
