package symbols

import (
	"bytes"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"
)

// fileID tells files apart: the path is not enough across mount namespaces.
type fileID struct {
	device string // as /proc/PID/maps has it: "fe:00"
	inode  uint64
}

// mapping is one executable part of a process' memory.
type mapping struct {
	fileID
	start, end, offset uint64
	path               string
	deleted            bool
}

const (
	mostMaps     = 16 << 20 // bytes of /proc/PID/maps that are read
	mostMappings = 4096     // executable ones of a process
)

// readMaps reads the executable mappings of a process, sorted by address.
func readMaps(file string) ([]mapping, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, mostMaps))
	if err != nil {
		return nil, err
	}
	return parseMaps(raw), nil
}

// parseMaps reads /proc/PID/maps (proc_pid_maps(5)): "start-end perms offset dev
// inode path", sorted by address as the kernel keeps them.
func parseMaps(raw []byte) []mapping {
	var out []mapping
	paths := map[string]string{} // a path is kept once
	for len(raw) > 0 && len(out) < mostMappings {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		raw = rest
		f := bytes.Fields(line)
		if len(f) < 5 || len(f[1]) < 3 || f[1][2] != 'x' {
			continue
		}
		from, to, ok := strings.Cut(string(f[0]), "-")
		start, err1 := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		offset, err3 := strconv.ParseUint(string(f[2]), 16, 64)
		inode, err4 := strconv.ParseUint(string(f[4]), 10, 64)
		if !ok || err1 != nil || err2 != nil || err3 != nil || err4 != nil || end <= start {
			continue
		}
		m := mapping{fileID: fileID{string(f[3]), inode}, start: start, end: end, offset: offset}
		if len(f) > 5 {
			name := string(line[bytes.Index(line, f[5]):])
			if at := bytes.IndexAny(line, "/["); at >= 0 {
				name = string(line[at:])
			}
			name, m.deleted = strings.CutSuffix(name, " (deleted)")
			if paths[name] == "" {
				paths[name] = name
			}
			m.path = paths[name]
		}
		out = append(out, m)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].start < out[j].start })
	return out
}

// find is the mapping that an address lies in.
func find(maps []mapping, addr uint64) (mapping, bool) {
	i := sort.Search(len(maps), func(i int) bool { return maps[i].start > addr }) - 1
	if i < 0 || addr >= maps[i].end {
		return mapping{}, false
	}
	return maps[i], true
}
