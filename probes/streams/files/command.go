package files

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
)

// How a writer was found.
const (
	byOpen    = "it has a segment open to write"
	byCommand = "its command line names the playlist" // ffmpeg's HLS muxer holds a segment in memory until it is whole
)

// mostCommand is what is read of a command line, bytes.
const mostCommand = 32 << 10

// named is who writes the stream by the command line: a process with the playlist's
// file among its arguments, not as what it reads (-i). A wrapper has its child's
// arguments: the child is it.
func (f *finder) named(url string, pids []int) (best found, most, times int) {
	base := path.Base(url)
	byPID := map[int]found{}
	for _, pid := range pids {
		b := readSome(f.proc+"/"+strconv.Itoa(pid)+"/cmdline", mostCommand)
		if !bytes.Contains(b, []byte(base)) {
			continue
		}
		for _, arg := range outputs(b, base) {
			if !path.IsAbs(arg) {
				cwd, err := os.Readlink(f.proc + "/" + strconv.Itoa(pid) + "/cwd")
				if err != nil {
					continue
				}
				arg = path.Join(cwd, arg)
			}
			arg = path.Clean(arg)
			for dir, p := range f.places(pid, arg) {
				byPID[pid] = found{open{pid: pid, fd: -1}, p, dir, byCommand}
			}
		}
	}
	for pid := range byPID {
		delete(byPID, parentOf(f.proc, pid))
	}
	for _, c := range byPID {
		switch n := alike(c.playlist, url); {
		case n > most:
			best, most, times = c, n, 1
		case n == most:
			times++
		}
	}
	return best, most, times
}

// outputs are the arguments of a command line that end with a file's name and are not
// what it reads: also those within ffmpeg's tee ("[f=flv]a|[f=hls]b/x.m3u8").
func outputs(cmdline []byte, base string) []string {
	var out []string
	was := ""
	for arg := range strings.SplitSeq(string(cmdline), "\x00") {
		if was != "-i" {
			for part := range strings.SplitSeq(arg, "|") {
				if i := strings.LastIndexByte(part, ']'); strings.HasPrefix(part, "[") && i > 0 {
					part = part[i+1:]
				}
				part = strings.TrimPrefix(part, "file:")
				if path.Base(part) == base && !strings.Contains(part, "://") {
					out = append(out, part)
				}
			}
		}
		was = arg
	}
	return out
}

// parentOf is a process' parent; 0 where /proc does not tell.
func parentOf(proc string, pid int) int {
	b := readSome(proc+"/"+strconv.Itoa(pid)+"/stat", 4096)
	i := bytes.LastIndexByte(b, ')') // the name may hold anything
	if i < 0 {
		return 0
	}
	fields := bytes.Fields(b[i+1:])
	if len(fields) < 2 {
		return 0
	}
	ppid, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return 0
	}
	return ppid
}

func readSome(name string, most int) []byte {
	file, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	b := make([]byte, most)
	n, err := file.Read(b)
	if err != nil {
		return nil
	}
	return b[:n]
}
