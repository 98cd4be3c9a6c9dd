package kernel

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
)

// tight, bytes: with less memory left than this in its control group, tables at their full
// size (some 55 MB, which the kernel charges to the group) could get snag killed.
const tight = 160 << 20

// shrunk is by how much tables are smaller then, and leastEntries what each keeps.
const (
	shrunk       = 8
	leastEntries = 1024
)

// Tight reports whether the memory control group of this process leaves it little, and how
// much.
func Tight(proc, sys string) (left int64, is bool) {
	left = Room(proc, sys)
	return left, left < tight
}

// Shrink makes the tables smaller that the kernel fills with memory when they are made. What
// finds no place in them is counted as lost, as in full ones.
func Shrink(spec *ebpf.CollectionSpec) {
	for _, m := range spec.Maps {
		shrink(m)
		if m.InnerMap != nil {
			shrink(m.InnerMap)
		}
	}
}

func shrink(m *ebpf.MapSpec) {
	switch m.Type {
	case ebpf.Hash, ebpf.LRUHash:
		m.MaxEntries = min(m.MaxEntries, max(leastEntries, m.MaxEntries/shrunk))
	default:
	}
}

// Room is how many bytes the memory control groups of this process let it take more;
// math.MaxInt64 where none has a limit, or it is not known.
func Room(proc, sys string) int64 {
	text, err := os.ReadFile(proc + "/self/cgroup")
	if err != nil {
		return math.MaxInt64
	}
	room := int64(math.MaxInt64)
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		switch {
		case f[1] == "" && f[0] == "0":
			for _, at := range []string{"/fs/cgroup", "/fs/cgroup/unified"} {
				room = min(room, upwards(sys+at, f[2], "memory.max", "memory.current", "inactive_file"))
			}
		case strings.Contains(","+f[1]+",", ",memory,"):
			room = min(room, upwards(sys+"/fs/cgroup/memory", f[2], "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"))
		}
	}
	return room
}

// upwards is the least that a group or one above it leaves. Files' pages that nobody uses
// go first.
func upwards(root, group, limit, usage, idle string) int64 {
	room := int64(math.MaxInt64)
	for dir := filepath.Join("/", group); ; dir = filepath.Dir(dir) {
		most, ok := number(filepath.Join(root, dir, limit))
		used, ok2 := number(filepath.Join(root, dir, usage))
		if ok && ok2 && most < 1<<60 { // without a limit it is "max", or near 2^63
			room = min(room, max(0, most-used+inStat(filepath.Join(root, dir, "memory.stat"), idle)))
		}
		if dir == "/" {
			return room
		}
	}
}

func number(path string) (int64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
	return n, err == nil
}

func inStat(path, name string) int64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		if f := bytes.Fields(line); len(f) == 2 && string(f[0]) == name {
			n, _ := strconv.ParseInt(string(f[1]), 10, 64)
			return n
		}
	}
	return 0
}
