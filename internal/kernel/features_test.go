package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"
)

// kernelTypes is the BTF of a kernel that has these types and no others.
func kernelTypes(t *testing.T, all ...btf.Type) *btf.Spec {
	t.Helper()
	b, err := btf.NewBuilder(all, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := b.Marshal(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := btf.LoadSpecFromReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func answers(all []Feature) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Answer)
	}
	return b.String()
}

func TestFeaturesInTypes(t *testing.T) {
	void := &btf.FuncProto{Return: (*btf.Void)(nil)}
	old := kernelTypes(t,
		&btf.Enum{Name: "bpf_map_type", Size: 4, Values: []btf.EnumValue{{Name: "BPF_MAP_TYPE_HASH", Value: 1}}},
		&btf.Enum{Name: "bpf_attach_type", Size: 4, Values: []btf.EnumValue{{Name: "BPF_TRACE_RAW_TP", Value: 23}}},
		&btf.Func{Name: "bpf_iter_task", Type: void, Linkage: btf.StaticFunc})
	want := `BPF ring buffer: no
typed tracepoints (tp_btf): yes
BPF iterator over tasks: yes
BPF iterator over open files: no
BPF iterator over socket storage: no
reasons of dropped packets: no
`
	allowed := func(string) error { return nil }
	if got := answers(inTypes(old, allowed)); got != want {
		t.Errorf("of an old kernel:\n%s", got)
	}
	refusing := func(target string) error { return fmt.Errorf("%s: %w", target, os.ErrPermission) }
	if got, want := answers(inTypes(old, refusing)), strings.Replace(want, "tasks: yes", "tasks: no", 1); got != want {
		t.Errorf("of a kernel that refuses an iterator that its types name:\n%s", got)
	}
	for _, f := range append(inTypes(old, allowed), inTypes(old, refusing)...) {
		if (f.Answer == No) != (f.Why != "" && f.Cure != "") {
			t.Errorf("%+v: what is missing has a reason and a cure, what is there has none", f)
		}
	}
	for _, f := range inTypes(nil, allowed) {
		if f.Answer != Unknown || f.Why == "" {
			t.Errorf("%+v: types that could not be read show nothing", f)
		}
	}
}

func TestFeatureFromError(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Answer
	}{
		{nil, Yes},
		{&Lack{"a", cureBTF}, No},
		{&Lack{"a", cureRoot}, Unknown},
		{ErrHidden, Unknown},
		{errors.New("disk error"), Unknown},
	} {
		f := fromError(Feature{}, c.err)
		if f.Answer != c.want || (c.err != nil) != (f.Why != "") {
			t.Errorf("%v: %+v, want %s", c.err, f, c.want)
		}
	}
}

func TestFeatureFromFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]Answer{file: Yes, dir + "/none": No, file + "/below": Unknown} {
		if f := fromFile(Feature{Cure: "build it"}, path); f.Answer != want || (want == Yes) != (f.Why == "") || (want == No) != (f.Cure != "") {
			t.Errorf("%s: %+v, want %s", path, f, want)
		}
	}
}

// What snag find loads on this kernel is what Features says that it has.
func TestFeaturesOfThisKernel(t *testing.T) {
	if _, err := Types(); err != nil {
		t.Skip("no BTF here: ", err)
	}
	all := Features("/proc", "/sys")
	for _, f := range all {
		switch {
		case strings.HasPrefix(f.Name, "BPF ") || strings.HasPrefix(f.Name, "kernel types"):
			// Hardened kernels refuse this one, and nothing needs it (probes/sockets/hooks.go).
			if f.Answer != Yes && f.Name != "BPF iterator over socket storage" {
				t.Errorf("%+v: the tests of probes/ need it", f)
			}
		case f.Name == "loading BPF programs":
			if l := CanLoad("/proc", "/sys"); (l == nil) != (f.Answer == Yes) {
				t.Errorf("%+v, and CanLoad says %v", f, l)
			}
		}
	}
	if len(all) < 10 {
		t.Errorf("%d features", len(all))
	}
}
