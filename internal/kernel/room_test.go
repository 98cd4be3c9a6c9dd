package kernel

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/cilium/ebpf"
)

func TestRoom(t *testing.T) {
	for _, c := range []struct {
		what  string
		files map[string]string
		want  int64
	}{
		{"no control group", nil, math.MaxInt64},
		{"v2, the group above has the limit", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.current": "5\n",
			"sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/memory.current": "700\n", "sys/fs/cgroup/a/memory.stat": "anon 3\ninactive_file 100\n",
		}, 400},
		{"v1", map[string]string{
			"proc/self/cgroup": "4:memory:/x\n1:cpu:/\n0::/\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "83886080\n",
			"sys/fs/cgroup/memory/x/memory.usage_in_bytes": "83886081\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 0},
		{"damaged", map[string]string{"proc/self/cgroup": "x\n0::\n::::\n", "sys/fs/cgroup/memory.max": "-\n"}, math.MaxInt64},
	} {
		root := t.TempDir()
		for name, text := range c.files {
			path := filepath.Join(root, name)
			os.MkdirAll(filepath.Dir(path), 0o755)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := Room(root+"/proc", root+"/sys"); got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
	}
}

func TestShrink(t *testing.T) {
	spec := &ebpf.CollectionSpec{Maps: map[string]*ebpf.MapSpec{
		"large": {Type: ebpf.Hash, MaxEntries: 32768}, "small": {Type: ebpf.LRUHash, MaxEntries: 512}, "middle": {Type: ebpf.Hash, MaxEntries: 4096},
		"ring": {Type: ebpf.RingBuf, MaxEntries: 1 << 20}, "array": {Type: ebpf.PerCPUArray, MaxEntries: 5000},
	}}
	Shrink(spec)
	for name, want := range map[string]uint32{"large": 4096, "small": 512, "middle": 1024, "ring": 1 << 20, "array": 5000} {
		if got := spec.Maps[name].MaxEntries; got != want {
			t.Errorf("%s has %d entries, want %d", name, got, want)
		}
	}
}
