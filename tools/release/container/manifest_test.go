package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const manifests = "../../../packaging/kubernetes/"

func manifest(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(manifests + "snag-record.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The manifest is one of the API's, and asks for nothing that is privileged.
func TestDaemonSet(t *testing.T) {
	set, err := parse([]byte(manifest(t)))
	if err != nil {
		t.Fatal(err)
	}
	pod := set.Spec.Template.Spec
	of := pod.Containers[0]
	restricted(t, of.SecurityContext)
	if !pod.HostPID || !pod.HostNetwork || pod.HostIPC || !*of.SecurityContext.ReadOnlyRootFilesystem {
		t.Errorf("namespaces or root of %+v", pod)
	}
	if *pod.AutomountServiceAccountToken {
		t.Error("it has a token of the cluster, and needs none")
	}
	writable := map[string]bool{}
	for _, m := range of.VolumeMounts {
		writable[m.MountPath] = !m.ReadOnly
	}
	if want := map[string]bool{"/var/lib/snag": true, "/tmp": true, "/sys/fs/cgroup": false, "/var/log/containers": false}; !equal(writable, want) {
		t.Errorf("mounts: %v", writable)
	}
	unit, err := os.ReadFile("../../../packaging/snag-record.service")
	if err != nil {
		t.Fatal(err)
	}
	// What is enough for the unit is enough here: 384M of systemd are 384Mi.
	if limit := of.Resources.Limits.Memory().String(); !strings.Contains(string(unit), "MemoryMax="+strings.TrimSuffix(limit, "i")+"\n") {
		t.Errorf("the memory limit %s is not the unit's", limit)
	}
	if _, there := of.Resources.Limits[core.ResourceCPU]; there {
		t.Error("a recorder that is throttled is late when it matters")
	}
}

func equal(a, b map[string]bool) bool {
	for k := range a {
		if v, there := b[k]; !there || v != a[k] {
			return false
		}
	}
	return len(a) == len(b)
}

// The container of kubectl debug has the same capabilities.
func TestDebug(t *testing.T) {
	text, err := os.ReadFile(manifests + "debug.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c core.Container
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		t.Fatal(err)
	}
	restricted(t, c.SecurityContext)
	set, err := parse([]byte(manifest(t)))
	if err != nil {
		t.Fatal(err)
	}
	if want := set.Spec.Template.Spec.Containers[0].SecurityContext.Capabilities.Add; !slices.Equal(c.SecurityContext.Capabilities.Add, want) {
		t.Errorf("%v, and the DaemonSet has %v", c.SecurityContext.Capabilities.Add, want)
	}
}

// restricted fails unless a container has what it names of capabilities, and no more.
func restricted(t *testing.T, of *core.SecurityContext) {
	t.Helper()
	if of.Privileged != nil || *of.AllowPrivilegeEscalation || !slices.Equal(of.Capabilities.Drop, []core.Capability{"ALL"}) || len(of.Capabilities.Add) == 0 {
		t.Errorf("its securityContext is %+v", of)
	}
}

// What the API server would refuse is refused here.
func TestParseRefuses(t *testing.T) {
	good := manifest(t)
	for name, change := range map[string][2]string{
		"a field that the API has not": {"hostPID: true", "hostPIDs: true"},
		"a value of another kind":      {"hostPID: true", "hostPID: 3"},
		"a field twice":                {"hostPID: true", "hostPID: true\n      hostPID: true"},
		"another kind":                 {"kind: DaemonSet", "kind: Deployment"},
		"labels that do not match":     {"matchLabels:\n      app.kubernetes.io/name: snag-record", "matchLabels:\n      app.kubernetes.io/name: snag"},
		"a mount without a volume":     {"- name: tmp\n              mountPath", "- name: temp\n              mountPath"},
		"a volume without a mount":     {"      volumes:\n", "      volumes:\n        - name: more\n          emptyDir: {}\n"},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Fatalf("%s: the manifest has no %q", name, change[0])
		}
		if _, err := parse([]byte(bad)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// The configuration has what the manifest asks for, and no more.
func TestConfiguration(t *testing.T) {
	set, err := parse([]byte(manifest(t)))
	if err != nil {
		t.Fatal(err)
	}
	pod := set.Spec.Template.Spec
	s, err := configuration(pod, "/root", "/volumes", []string{"find"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Process.Args, []string{"/usr/bin/snag", "find"}) {
		t.Errorf("it runs %v", s.Process.Args)
	}
	if s, err := configuration(pod, "/root", "/volumes", nil); err != nil || !slices.Equal(s.Process.Args[:2], []string{"/usr/bin/snag", "record"}) {
		t.Errorf("without arguments: %v, %v", s, err)
	}
	granted := s.Process.Capabilities
	if len(granted.Bounding) != len(pod.Containers[0].SecurityContext.Capabilities.Add) || granted.Bounding[0] != "CAP_BPF" || granted.Ambient != nil {
		t.Errorf("capabilities %+v", granted)
	}
	has := func(kind specs.LinuxNamespaceType) bool {
		return slices.ContainsFunc(s.Linux.Namespaces, func(n specs.LinuxNamespace) bool { return n.Type == kind })
	}
	if has(specs.PIDNamespace) || has(specs.NetworkNamespace) || !has(specs.CgroupNamespace) || !s.Root.Readonly || !s.Process.NoNewPrivileges || s.Linux.Seccomp == nil {
		t.Errorf("namespaces %v, root %+v", s.Linux.Namespaces, s.Root)
	}
	if separate(s); !has(specs.PIDNamespace) {
		t.Error("no PID namespace of its own")
	}
	for _, m := range s.Mounts {
		if m.Destination == "/sys/fs/cgroup" && m.Type == "bind" && (m.Source != "/sys/fs/cgroup" || !slices.Contains(m.Options, "ro")) || m.Destination == "/var/lib/snag" && m.Source != "/volumes/ring" {
			t.Errorf("mount %+v", m)
		}
	}
}
