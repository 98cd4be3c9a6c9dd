package kernel

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// Symbols maps addresses to kernel functions, read once from kallsyms. A kernel
// has about 100,000 functions: names lie in one block, 3–4 MB in all.
type Symbols struct {
	addrs []uint64
	names []uint32 // where in block each name begins; it ends at the next NUL
	block []byte
}

// ErrHidden is said where kallsyms shows only zeros.
var ErrHidden = &Lack{
	"the kernel hides its addresses in /proc/kallsyms (kptr_restrict)",
	"run as root with CAP_SYSLOG, and sysctl kernel.kptr_restrict=1 at most",
}

// LoadSymbols reads proc/kallsyms. ErrHidden when all its addresses are zero.
func LoadSymbols(proc string) (*Symbols, error) {
	f, err := os.Open(proc + "/kallsyms")
	if err != nil {
		return nil, &Lack{fmt.Sprintf("reading kernel symbols: %v", err), "use a kernel built with CONFIG_KALLSYMS=y"}
	}
	defer f.Close()
	return ParseSymbols(f)
}

var shared struct {
	sync.Mutex
	proc string
	all  *Symbols
}

// SharedSymbols is LoadSymbols, read once for all who ask: it takes some 100 ms and
// 4 MB. Modules and BPF programs that came later are not in it.
func SharedSymbols(proc string) (*Symbols, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.all != nil && shared.proc == proc {
		return shared.all, nil
	}
	all, err := LoadSymbols(proc)
	if err != nil {
		return nil, err
	}
	shared.proc, shared.all = proc, all
	return all, nil
}

// ParseSymbols reads the lines "address type name [module]" of kallsyms and
// keeps the functions (types t, T, w, W). Lines it can't read are passed over.
func ParseSymbols(r io.Reader) (*Symbols, error) {
	s := &Symbols{}
	hidden := false
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), 1<<20)
	for in.Scan() {
		fields := bytes.Fields(in.Bytes())
		if len(fields) < 3 || len(fields[1]) != 1 || !strings.ContainsRune("tTwW", rune(fields[1][0])) {
			continue
		}
		addr, err := strconv.ParseUint(string(fields[0]), 16, 64)
		if err != nil {
			continue
		}
		if addr == 0 {
			hidden = true
			continue
		}
		s.addrs = append(s.addrs, addr)
		s.names = append(s.names, uint32(len(s.block)))
		s.block = append(append(s.block, fields[2]...), 0)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("reading kernel symbols: %w", err)
	}
	if len(s.addrs) == 0 {
		if hidden {
			return nil, ErrHidden
		}
		return nil, &Lack{Why: "kallsyms has no functions", Cure: "use a kernel built with CONFIG_KALLSYMS=y"}
	}
	// They stay for as long as the program runs: without the room that was left to grow.
	s.addrs, s.names, s.block = slices.Clone(s.addrs), slices.Clone(s.names), slices.Clone(s.block)
	sort.Stable(byAddr{s}) // modules and BPF programs come after the kernel, unsorted
	return s, nil
}

// Lookup names the function that addr lies in, and how far in. Suffixes that the
// compiler gave its copies (.constprop.0, .isra.0, .part.0, .cold) are left off:
// they change from build to build.
func (s *Symbols) Lookup(addr uint64) (name string, offset uint64, ok bool) {
	if s == nil {
		return "", 0, false
	}
	i := sort.Search(len(s.addrs), func(i int) bool { return s.addrs[i] > addr }) - 1
	if i < 0 {
		return "", 0, false
	}
	offset = addr - s.addrs[i]
	if i == len(s.addrs)-1 && offset > 1<<20 {
		return "", 0, false // beyond the last function
	}
	for i > 0 && s.addrs[i-1] == s.addrs[i] {
		i-- // of several names for one address, the first
	}
	end := bytes.IndexByte(s.block[s.names[i]:], 0)
	name = string(s.block[s.names[i] : int(s.names[i])+end])
	return Plain(name), offset, true
}

// Name is the function addr lies in, or the address in hex.
func (s *Symbols) Name(addr uint64) string {
	if n, _, ok := s.Lookup(addr); ok {
		return n
	}
	return fmt.Sprintf("0x%x", addr)
}

// Plain takes the suffixes off that the compiler gave a copy of a function.
func Plain(name string) string {
	for _, mark := range []string{".constprop.", ".isra.", ".part.", ".cold", ".llvm."} {
		if i := strings.Index(name, mark); i > 0 {
			name = name[:i]
		}
	}
	return name
}

type byAddr struct{ *Symbols }

func (b byAddr) Len() int           { return len(b.addrs) }
func (b byAddr) Less(i, j int) bool { return b.addrs[i] < b.addrs[j] }
func (b byAddr) Swap(i, j int) {
	b.addrs[i], b.addrs[j] = b.addrs[j], b.addrs[i]
	b.names[i], b.names[j] = b.names[j], b.names[i]
}
