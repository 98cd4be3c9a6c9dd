package kernel

import (
	"os"
	"path/filepath"
	"testing"
)

// TestModuleThere knows the three ways in which a module can be there.
func TestModuleThere(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  bool
	}{
		{"a kernel without modules", nil, true},
		{"not loaded", map[string]string{"proc/modules": "veth 1 0\n", "lib/modules.builtin": "kernel/net/veth.ko\n"}, false},
		{"loaded", map[string]string{"proc/modules": "nf_tables 1 0\n", "sys/module/nf_tables/refcnt": "1"}, true},
		{"built in", map[string]string{"proc/modules": "", "lib/modules.builtin": "kernel/fs/x.ko\nkernel/net/netfilter/nf_tables.ko\n"}, true},
		{"another's name", map[string]string{"proc/modules": "", "lib/modules.builtin": "kernel/net/netfilter/nf_tables_x.ko\n"}, false},
	} {
		dir := t.TempDir()
		for name, content := range c.files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := ModuleThere(filepath.Join(dir, "proc"), filepath.Join(dir, "sys"), filepath.Join(dir, "lib"), "nf_tables"); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
