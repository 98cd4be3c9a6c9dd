package strace

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The reference: the same sums by regular expressions and maps, a line at a time. It is
// slow, and simple enough to be believed.
var (
	prefixForm  = regexp.MustCompile(`^(\d+) +(\d+\.\d+) (.*)$`)
	cutForm     = regexp.MustCompile(`^(\w+)\((.*)<unfinished \.\.\.>$`)
	resumedForm = regexp.MustCompile(`^<\.\.\. (\w+) resumed>(.*)$`)
	callForm    = regexp.MustCompile(`^(\w+)\((.*)\) += (\?|-?\d+|0x[0-9a-f]+)(<.*>)?( [A-Z]\w+)?( \(.*\))?( <(\d+\.\d+)>)?$`)
	fdForm      = regexp.MustCompile(`^(\d+)(<|,| |$)`)
)

type cellKey struct {
	tid, second, fd int
	call            string
}

type cellSum struct {
	n, errs uint64
	done    uint64
	ns      float64
}

type begun struct {
	at   int64 // µs
	body string
}

func reference(text string) map[cellKey]*cellSum {
	sums := map[cellKey]*cellSum{}
	open := map[string]begun{}
	last := int64(0)
	at := func(k cellKey) *cellSum {
		if sums[k] == nil {
			sums[k] = &cellSum{}
		}
		return sums[k]
	}
	for _, line := range strings.Split(text, "\n") {
		m := prefixForm.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		tid, _ := strconv.Atoi(m[1])
		us, _ := strconv.ParseInt(strings.Replace(m[2], ".", "", 1), 10, 64)
		body, ended := m[3], us
		last = us
		if c := cutForm.FindStringSubmatch(body); c != nil {
			open[m[1]] = begun{us, c[1] + "(" + c[2]}
			continue
		}
		if c := resumedForm.FindStringSubmatch(body); c != nil {
			b, ok := open[m[1]]
			if !ok { // it began before the trace: it ended, and that is all
				if callForm.MatchString(c[1] + "(" + c[2]) {
					at(cellKey{tid: tid, second: int(us / 1e6), fd: -1, call: c[1]}).n++
				}
				continue
			}
			delete(open, m[1])
			us, body = b.at, b.body+c[2]
		}
		c := callForm.FindStringSubmatch(body)
		if c == nil || strings.HasPrefix(c[1], "exit") {
			continue
		}
		k := cellKey{tid: tid, second: int(ended / 1e6), fd: -1, call: c[1]}
		if f := fdForm.FindStringSubmatch(c[2]); f != nil && onFD[c[1]] {
			k.fd, _ = strconv.Atoi(f[1])
		}
		if c[3] == "?" && c[5] == "" { // its thread ended in it
			spread(at, k, us*1000, ended*1000)
			continue
		}
		s := at(k)
		s.n++
		if c[5] != "" {
			s.errs++
		} else if n, err := strconv.ParseUint(c[3], 10, 64); err == nil && moves[c[1]] {
			s.done += n
		}
		took, _ := strconv.ParseFloat(c[8], 64)
		spread(at, k, us*1000, us*1000+int64(math.Round(took*1e9)))
	}
	for tid, b := range open {
		k := cellKey{fd: -1, call: b.body[:strings.IndexByte(b.body, '(')]}
		k.tid, _ = strconv.Atoi(tid)
		if f := fdForm.FindStringSubmatch(b.body[len(k.call)+1:]); f != nil && onFD[k.call] {
			k.fd, _ = strconv.Atoi(f[1])
		}
		if !strings.HasPrefix(k.call, "exit") {
			spread(at, k, b.at*1000, last*1000)
		}
	}
	return sums
}

// spread puts the time from one moment to another, ns, into the seconds that it spans:
// whole numbers, for floats know the ns since 1970 to 256 only.
func spread(at func(cellKey) *cellSum, k cellKey, from, to int64) {
	for from < to {
		k.second = int(from / 1e9)
		until := min(to, int64(k.second+1)*1e9)
		at(k).ns += float64(until - from)
		from = until
	}
}

// What the program of the test does on descriptors.
var (
	onFD = map[string]bool{
		"read": true, "write": true, "sendto": true, "recvfrom": true, "close": true, "fstat": true, "lseek": true, "ioctl": true, "pread64": true, "fcntl": true,
		"getdents64": true, "dup2": true, "dup3": true, "readv": true, "writev": true, "recvmsg": true, "sendmsg": true, "epoll_wait": true, "epoll_ctl": true,
		"setsockopt": true, "getsockopt": true, "fadvise64": true, "shutdown": true, "dup": true, "connect": true, "bind": true, "listen": true, "accept4": true,
		"getsockname": true, "getpeername": true, "accept": true, "fstatfs": true,
	}
	moves = map[string]bool{"read": true, "write": true, "sendto": true, "recvfrom": true, "pread64": true, "readv": true, "writev": true, "recvmsg": true, "sendmsg": true}
)

// What the fast reader makes of a real trace is what the slow and simple one does, for
// each thread, call, descriptor and second.
func TestTheReferenceAgrees(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	out, err := exec.Command("strace", "-f", "-ttt", "-T", "-s", "64", "-o", path, python, "-c", program).CombinedOutput()
	if err != nil {
		t.Fatalf("strace (make setup installs it): %v\n%s", err, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if agree(t, string(text)); t.Failed() {
		kept := filepath.Join(os.TempDir(), "snag-reference.strace")
		t.Logf("the trace is kept: %s: %v", kept, os.WriteFile(kept, text, 0o600))
	}
}

func agree(t *testing.T, text string) {
	t.Helper()
	r, _ := trace(t, Options{Rows: 1 << 20}, text)
	got := map[cellKey]*cellSum{}
	for _, row := range r.Calls {
		k := cellKey{row.TID, int(row.T / 1e9), row.FD, row.Call}
		s := &cellSum{n: row.N, ns: row.Sum * 1e9}
		for _, n := range row.Errors {
			s.errs += n
		}
		if row.Done != nil {
			s.done = *row.Done
		}
		got[k] = s
	}
	want := reference(text)
	if len(want) < 20 {
		t.Fatalf("the reference reads %d cells", len(want))
	}
	for k, w := range want {
		g := got[k]
		if g == nil {
			g = &cellSum{}
		}
		if g.n != w.n || g.errs != w.errs || g.done != w.done || math.Abs(g.ns-w.ns) > 2000 {
			t.Errorf("%+v: %+v, the reference has %+v", k, *g, *w)
		}
		delete(got, k)
	}
	for k, g := range got {
		if g.n > 0 || g.ns > 2000 {
			t.Errorf("%+v: %+v, the reference has none", k, *g)
		}
	}
}

// Cut by other threads' lines, over several seconds, with failures and odd names.
func TestTheReferenceAgreesOnWhatIsCut(t *testing.T) {
	agree(t, string(relayTrace(64<<10))+`4800  1700000001.000000 read(3,  <unfinished ...>
4801  1700000001.100000 openat(AT_FDCWD, "/a) = 3 <0.5>", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000010>
4801  1700000002.000000 write(5, "a) = 4 <1.0>\n", 13) = 13 <2.500000>
4800  1700000005.200000 <... read resumed>"x", 10) = 1 <4.199000>
4800  1700000005.300000 close(3) = 0 <0.000010>
`)
}

// A call that ends in one second, and whose end is written in the next.
func TestTheReferenceAgreesOnLateLines(t *testing.T) {
	agree(t, string(relayTrace(64<<10))+`4800  1700000001.999968 read(3,  <unfinished ...>
4801  1700000001.999970 write(5, "a", 1) = 1 <0.000005>
4801  1700000002.000001 write(5, "a", 1) = 1 <0.000005>
4800  1700000002.001500 <... read resumed>"x", 10) = 1 <0.000022>
4800  1700000002.300000 close(3) = 0 <0.000010>
`)
}
