package sysctld

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAFolderIsReadAsSystemdReadsIt(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"all", "default", "eth0", "eth0.1", "lo"} {
		put(t, filepath.Join(dir, "proc/sys/net/ipv4/conf", name, "rp_filter"), "0")
	}
	put(t, filepath.Join(dir, "d/90-late.conf"), `
 net.core.somaxconn=65535
net.ipv4.tcp_rmem =  4096	87380 16777216
vm/swappiness = 10
net.ipv4.conf.eth0/1.rp_filter = 2
`)
	put(t, filepath.Join(dir, "d/10-early.conf"), `# a comment
; another
net.core.somaxconn = 1024 # not a comment
-kernel.not.there = 1
net.ipv4.conf.*.rp_filter = 1
-net.ipv4.conf.lo.rp_filter
net/ipv4/conf/default/rp_filter = 0
what is this
= 3
net.ipv4.../etc/passwd = 1
kernel.domainname =
`)
	put(t, filepath.Join(dir, "d/50.conf.off"), "vm.swappiness = 99\n")
	all, bad, err := Read(filepath.Join(dir, "proc"), filepath.Join(dir, "d"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		got = append(got, fmt.Sprintf("%s=%s @%s:%d %t", s.Name, s.Value, filepath.Base(s.File), s.Line, s.Ignore))
	}
	want := []string{
		"net.ipv4.conf.all.rp_filter=1 @10-early.conf:5 false",
		"net.ipv4.conf.eth0.rp_filter=1 @10-early.conf:5 false",
		"kernel.not.there=1 @10-early.conf:4 true",
		"net.ipv4.conf.default.rp_filter=0 @10-early.conf:7 false",
		"kernel.domainname= @10-early.conf:11 false",
		"net.core.somaxconn=65535 @90-late.conf:2 false",
		"net.ipv4.tcp_rmem=4096\t87380 16777216 @90-late.conf:3 false",
		"vm.swappiness=10 @90-late.conf:4 false",
		"net.ipv4.conf.eth0/1.rp_filter=2 @90-late.conf:5 false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(bad) != 3 || bad[0].Line != 8 || bad[1].Line != 9 || bad[2].Line != 10 {
		t.Errorf("%+v", bad)
	}
}

func TestWhatIsNoFolder(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "long.conf"), strings.Repeat("x", maxLine+1))
	put(t, filepath.Join(dir, "many.conf"), strings.Repeat("\n", maxLines+1))
	for at, want := range map[string]string{
		dir + "/none":       "no such file",
		t.TempDir():         "has no *.conf",
		dir + "/long.conf":  "has a line of more than",
		dir + "/many.conf":  "has more than",
		dir + "/long.conf/": "not a directory",
	} {
		if _, _, err := Read("/proc", at); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", at, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a.b = 1\n-c/d.e = 2\n-f.*.g\n# x\nx.[a = 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines, _, err := parse("f", strings.NewReader(text))
		if err != nil {
			return
		}
		for _, s := range hold(lines, func(string) []string { return []string{"a/b", "net/x.1/c"} }) {
			p := Path(s.Name)
			if strings.HasPrefix(p, "/") || strings.HasPrefix(filepath.Clean(p), "..") || Name(p) != s.Name {
				t.Errorf("%q: %q", text, s.Name)
			}
		}
	})
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a.b/c = 1 2\n#x\n-net/core/rmem_max=2\n;\n=\n-x\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, l := range Lines("x", text) {
			if l.N < 1 || l.Path == "" || l.Path[0] == '/' {
				t.Errorf("%+v", l)
			}
		}
	})
}
