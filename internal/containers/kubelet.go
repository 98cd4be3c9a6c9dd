package containers

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// kubelet reads the names of the logs that kubelet links, whatever the runtime:
// POD_NAMESPACE_CONTAINER-ID.log → /var/log/pods/NAMESPACE_POD_UID/CONTAINER/0.log (pkg/kubelet/kuberuntime/legacy.go).
// No name has a "_" in it.
func kubelet(_ context.Context, dir string) ([]Container, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []Container
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), ".log")
		part := strings.SplitN(base, "_", 3)
		if !ok || len(part) != 3 {
			continue
		}
		at := strings.LastIndexByte(part[2], '-')
		if at < 0 || !isID(part[2][at+1:]) {
			continue
		}
		c := Container{ID: part[2][at+1:], Name: part[2][:at], Pod: Pod{Namespace: part[1], Name: part[0]}}
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil {
			c.Pod.UID = uidOf(to)
		}
		out = append(out, c)
	}
	return out, nil
}

// uidOf is the pod's UID in the path of its log.
func uidOf(log string) string {
	of := strings.Split(filepath.Base(filepath.Dir(filepath.Dir(log))), "_")
	if len(of) != 3 {
		return ""
	}
	return of[2]
}
