// Package containers asks the container runtimes of this host what their containers are called.
// The control groups of processes have only ids.
package containers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"snag/internal/sorting"
)

// Container is one that runs. Name is what its runtime or, in a pod, its manifest calls it.
type Container struct {
	ID   string // 64 hexadecimal digits
	Name string
	Pod  Pod // of Kubernetes; its zero value: the container is of none
	From string
}

// Pod is a pod of Kubernetes.
type Pod struct {
	Namespace, Name, UID string
}

// String is the pod as kubectl names it, "shop/web-0".
func (p Pod) String() string { return p.Namespace + "/" + p.Name }

// patience bounds what one runtime may take: it may be what hangs.
const patience = time.Second

// sources ask one runtime each, at a path below the host's root.
var sources = []struct {
	path string
	ask  func(ctx context.Context, path string) ([]Container, error)
}{
	{"run/docker.sock", docker},
	{"run/podman/podman.sock", docker}, // it answers as Docker does
	{"run/containerd/containerd.sock", cri},
	{"run/crio/crio.sock", cri},
	{"run/k3s/containerd/containerd.sock", cri},
	{"run/cri-dockerd.sock", cri},
	{"var/log/containers", kubelet},
}

// List is all containers that the runtimes of this host name, each once, by id. root is where the host's root
// directory is, usually "/". The error joins why a runtime that is there did not answer; what the others named is
// listed all the same. No runtime is no error.
func List(ctx context.Context, root string) ([]Container, error) {
	var all []Container
	var failed []error
	for _, s := range sources {
		path := filepath.Join(root, s.path)
		within, cancel := context.WithTimeout(ctx, patience)
		found, err := s.ask(within, path)
		cancel()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, fmt.Errorf("ask %s which containers run: %w", path, err))
		}
		for i := range found {
			found[i].From = path
		}
		all = append(all, found...)
	}
	return merge(all), errors.Join(failed...)
}

// merge keeps the most that is known of each container.
func merge(all []Container) []Container {
	sorting.StableBy(all, func(a, b Container) int { return cmp.Compare(a.ID, b.ID) })
	out := all[:0]
	for _, c := range all {
		if n := len(out); n == 0 || out[n-1].ID != c.ID {
			out = append(out, c)
			continue
		}
		if last := &out[len(out)-1]; last.Pod.Name == "" && c.Pod.Name != "" { // the names of a manifest
			*last = c
		}
	}
	return out
}

// isID reports whether a text is a container's id.
func isID(s string) bool {
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && (s[i] < 'a' || s[i] > 'f') {
			return false
		}
	}
	return len(s) == 64
}

// Labels that kubelet gives to the containers of a pod (pkg/kubelet/types/labels.go of Kubernetes).
const (
	labelNamespace = "io.kubernetes.pod.namespace"
	labelPod       = "io.kubernetes.pod.name"
	labelUID       = "io.kubernetes.pod.uid"
	labelContainer = "io.kubernetes.container.name"
)

// labelled is a container with the names that its labels have, else with its own.
func labelled(id, name string, labels map[string]string) Container {
	c := Container{ID: id, Name: name, Pod: Pod{labels[labelNamespace], labels[labelPod], labels[labelUID]}}
	if in := labels[labelContainer]; in != "" {
		c.Name = in
	}
	return c
}
