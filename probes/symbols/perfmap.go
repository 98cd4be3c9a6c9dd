package symbols

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"snag/internal/procroot"
)

// Bounds of one map of generated code.
const (
	mostGenerated = 1 << 18 // functions: 8 MB with their names
	mostJITNames  = 16 << 20
	mostJITFile   = 64 << 20
	longestJIT    = 512 // bytes of a name
)

// perfMap is what a runtime says of the code that it made: lines of "start size
// name" in /tmp/perf-PID.map (tools/perf/Documentation/jit-interface.txt). Sorted by
// start; of what overlaps, the later line stands: the code was made anew there.
type perfMap struct {
	inode uint64
	size  int64  // that has been read
	tail  []byte // the last of it
	all   []compiled
	names []byte
	left  int // lines beyond the bounds
}

type compiled struct {
	start uint64
	size  uint32
	order uint32 // of the line
	name  uint32 // in names
	long  uint32 // bytes of it
}

// inGenerated names an address of memory without a file.
func (r *Resolver) inGenerated(p *Image, m mapping, addr uint64) (Frame, outcome) {
	if now := r.now(); p.jitAt.IsZero() || now.Sub(p.jitAt) >= lookAgain {
		p.jitAt = now
		r.readPerfMap(p)
	}
	if name, ok := p.jit.find(addr); ok {
		return Frame{Function: name, Object: "[jit]", Offset: addr, Named: true}, named
	}
	object := "[anon]"
	if strings.HasPrefix(m.path, "[") {
		object = m.path // [heap], [stack], [anon:name]
	}
	// A page stands for what lies in it: nobody knows where a function begins.
	return Frame{Function: fmt.Sprintf("%s+0x%x", object, addr&^0xfff), Object: object, Offset: addr}, generated
}

// readPerfMap reads the map of a process, or what was added to it since.
func (r *Resolver) readPerfMap(p *Image) {
	inside := procroot.InsidePID(r.proc, p.pid)
	if inside == 0 {
		return
	}
	f, err := procroot.Open(r.proc, p.pid, fmt.Sprintf("/tmp/perf-%d.map", inside), 0, false)
	if err != nil {
		return
	}
	defer f.Close()
	if st, ok := r.trusted(f, p.pid); ok {
		if p.jit == nil || p.jit.inode != st.Ino || !p.jit.goesOn(f, st.Size) {
			p.jit = &perfMap{inode: st.Ino}
		}
		p.jit.more(f, st.Size)
	}
}

// trusted reports whether a file in a /tmp, where anybody may write, is the process'
// own: a regular one of its user's or of root's.
func (r *Resolver) trusted(f *os.File, pid int) (unix.Stat_t, bool) {
	var st, owner unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return st, false
	}
	if unix.Stat(r.dir(pid), &owner) != nil {
		return st, false
	}
	return st, st.Uid == 0 || st.Uid == owner.Uid
}

// goesOn reports whether what was read is still there: jcmd writes the file anew, other
// runtimes add to it.
func (m *perfMap) goesOn(f io.ReaderAt, size int64) bool {
	if size < m.size {
		return false
	}
	b := make([]byte, len(m.tail))
	_, err := f.ReadAt(b, m.size-int64(len(b)))
	return len(b) == 0 || err == nil && bytes.Equal(b, m.tail)
}

// more reads the lines up to size that have not been read. The last one may be
// half written: it is read next time.
func (m *perfMap) more(f io.ReaderAt, size int64) {
	size = min(size, mostJITFile)
	if size <= m.size {
		return
	}
	in := bufio.NewReaderSize(io.NewSectionReader(f, m.size, size-m.size), 64<<10)
	long := int64(0) // bytes of a line that is longer than any name: it is passed over
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long += int64(len(line))
			continue
		}
		if err != nil {
			break
		}
		if long == 0 {
			m.line(line)
		}
		m.size += long + int64(len(line))
		long = 0
	}
	m.tail = make([]byte, min(m.size, 256))
	if _, err := f.ReadAt(m.tail, m.size-int64(len(m.tail))); err != nil {
		m.tail = nil
	}
	sort.Slice(m.all, func(i, j int) bool {
		a, b := m.all[i], m.all[j]
		if a.start != b.start {
			return a.start < b.start
		}
		return a.order < b.order
	})
}

func (m *perfMap) line(line []byte) {
	f := bytes.Fields(line)
	if len(f) < 3 {
		return
	}
	start, err1 := strconv.ParseUint(strings.TrimPrefix(string(f[0]), "0x"), 16, 64)
	size, err2 := strconv.ParseUint(strings.TrimPrefix(string(f[1]), "0x"), 16, 32)
	if err1 != nil || err2 != nil || size == 0 {
		return
	}
	if len(m.all) >= mostGenerated || len(m.names) >= mostJITNames {
		m.left++
		return
	}
	rest := bytes.TrimLeft(line[bytes.Index(line, f[0])+len(f[0]):], " \t")
	name := bytes.TrimSpace(rest[len(f[1]):])
	name = name[:min(len(name), longestJIT)]
	m.all = append(m.all, compiled{start, uint32(size), uint32(len(m.all)), uint32(len(m.names)), uint32(len(name))})
	m.names = append(m.names, name...)
}

// find names an address. Code made anew over several old pieces begins where none
// of them did, so the pieces before are looked at as well.
func (m *perfMap) find(addr uint64) (string, bool) {
	if m == nil {
		return "", false
	}
	const before = 16
	after := sort.Search(len(m.all), func(i int) bool { return m.all[i].start > addr })
	best := -1
	for i := after - 1; i >= 0 && i >= after-before; i-- {
		c := m.all[i]
		if addr-c.start < uint64(c.size) && (best < 0 || c.order > m.all[best].order) {
			best = i
		}
	}
	if best < 0 {
		return "", false
	}
	c := m.all[best]
	return plain(string(m.names[c.name : c.name+c.long])), true
}

// plain makes a name of a map readable: perf-map-agent writes a Java method as
// "Ljava/util/HashMap;::get", jcmd as "java.lang.Object java.util.HashMap.get(java.lang.Object)",
// Node as "LazyCompile:*name file:line", Python as "py::name:file"
// (Python/perf_trampoline.c), whose file may have any name.
func plain(name string) string {
	if strings.HasPrefix(name, "py::") {
		return name
	}
	if rest, ok := strings.CutPrefix(name, "L"); ok && strings.Contains(rest, ";::") {
		class, method, _ := strings.Cut(rest, ";::")
		return strings.ReplaceAll(class, "/", ".") + "." + method
	}
	if head, _, ok := strings.Cut(name, "("); ok && strings.Count(head, " ") == 1 && strings.Contains(head, ".") {
		_, method, _ := strings.Cut(head, " ")
		return method
	}
	return name
}
