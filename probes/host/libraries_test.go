package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"snag/recording"
)

// Lines of a real process (Linux 6.18), shortened.
const someMaps = `55d0c0a00000-55d0c0a28000 r--p 00000000 fe:00 131093                     /usr/bin/python3.11
55d0c0a28000-55d0c0cf5000 r-xp 00028000 fe:00 131093                     /usr/bin/python3.11
7f1a2c000000-7f1a2c021000 rw-p 00000000 00:00 0
7f1a30155000-7f1a302ab000 r-xp 00026000 fe:00 139822                     /usr/lib/x86_64-linux-gnu/libc.so.6
7f1a302ab000-7f1a302ac000 r-xp 00026000 fe:00 139822                     /usr/lib/x86_64-linux-gnu/libc.so.6
7f1a30400000-7f1a30401000 r-xp 00001000 fe:00 77                         /opt/my codec/libx264.so.164 (deleted)
7ffc4b9f1000-7ffc4b9f3000 r-xp 00000000 00:00 0                          [vdso]
`

func TestParseMaps(t *testing.T) {
	got := parseMaps([]byte(someMaps))
	want := []mapped{
		{fileID{"fe:00", "131093"}, "55d0c0a28000-55d0c0cf5000", "/usr/bin/python3.11", false},
		{fileID{"fe:00", "139822"}, "7f1a30155000-7f1a302ab000", "/usr/lib/x86_64-linux-gnu/libc.so.6", false},
		{fileID{"fe:00", "77"}, "7f1a30400000-7f1a30401000", "/opt/my codec/libx264.so.164", true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// A capability that snag has is not named as what is lacking.
func TestCureMaps(t *testing.T) {
	if cureMaps(true) != "" || !strings.Contains(cureMaps(false), "CAP_SYS_PTRACE") {
		t.Errorf("with it %q, without %q", cureMaps(true), cureMaps(false))
	}
}

// The build id is what readelf says.
func TestBuildID(t *testing.T) {
	// Of readelf itself: a program of Debian, so with a build id, whatever is in PATH before it.
	path, err := exec.LookPath("readelf")
	if err != nil {
		t.Fatal("readelf (binutils) is not installed: make setup installs it")
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("readelf", "-n", path).Output()
	if err != nil {
		t.Fatal("readelf -n ", path, ": ", err)
	}
	m := regexp.MustCompile(`Build ID: ([0-9a-f]+)`).FindStringSubmatch(string(out))
	if m == nil {
		t.Skip("readelf has no build id here")
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	inode := strconv.FormatUint(st.Sys().(*syscall.Stat_t).Ino, 10)
	here := func(path, inode string) recording.Library {
		return describeFile("/proc", os.Getpid(), mapped{fileID: fileID{inode: inode}, path: path})
	}
	if f := here(path, inode); f.BuildID != m[1] || f.Size != st.Size() || f.Modified == 0 {
		t.Errorf("%+v, want build id %s and %d bytes", f, m[1], st.Size())
	}
	if f := here("/etc", inode); f.BuildID != "" {
		t.Errorf("what is not a program has the build id %s", f.BuildID)
	}
}

func TestParseCPU(t *testing.T) {
	model, flags := parseCPU("processor\t: 0\nmodel name\t: AMD EPYC 7R13\nflags\t\t: fpu  sse2 avx2\n\nprocessor\t: 1\nflags\t\t: fpu\n")
	if model != "AMD EPYC 7R13" || flags != "fpu sse2 avx2" {
		t.Errorf("%q %q", model, flags)
	}
	model, flags = parseCPU("processor : 0\nFeatures\t: fp asimd sve\nCPU part\t: 0xd0c\n")
	if model != "part 0xd0c" || flags != "fp asimd sve" {
		t.Errorf("arm64: %q %q", model, flags)
	}
}

func FuzzLibraries(f *testing.F) {
	f.Add([]byte(someMaps))
	f.Add([]byte("x 1x 2 3 4 /"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, m := range parseMaps(b) {
			if !strings.HasPrefix(m.path, "/") {
				t.Errorf("path %q", m.path)
			}
		}
		parseCPU(string(b))
	})
}

// A busy program is found with its libc.
func TestLibrariesOfABusyProgram(t *testing.T) {
	pid := keep60(t, 64, 1)
	p, env, sink := live(t)
	env.Watch.Add(pid, "a test")
	p.tick(0, false)
	p.tick(0, true)
	n := 0
	for _, f := range sink.Recording().Libraries {
		if f.PID == pid && strings.Contains(f.Path, "libc.so") && f.Size > 0 && len(f.BuildID) >= 16 {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d rows of the libc of %d, want one", n, pid)
	}
}

// The bound is of processes that run: a recorder of days still looks at those that come later.
func TestLibrariesOfThoseThatCameLater(t *testing.T) {
	l := &libraries{seen: map[mappedBy]bool{}, files: map[fileID]recording.Library{}}
	all := map[int]*process{}
	for pid := range mostMapped {
		l.seen[mappedBy{pid, 1, "old"}] = true
	}
	all[1] = &process{pid: 1, start: 1, comm: "old"}
	all[2] = &process{pid: 2, start: 9, comm: "old"} // another process with that number
	all[3] = &process{pid: 3, start: 1, comm: "new"} // another program in it
	if l.forget(all); len(l.seen) != 1 || !l.seen[mappedBy{1, 1, "old"}] {
		t.Errorf("%v is still counted", l.seen)
	}
}
