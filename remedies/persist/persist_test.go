package persist

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snag/remedies/export"
)

func put1(t *testing.T, root, path, text string) {
	t.Helper()
	at := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPlacesThatAreNotWritten(t *testing.T) {
	d := Disk{Root: t.TempDir()}
	for _, path := range []string{
		"/etc/passwd", "/etc/sysctl.d/../passwd-snag", "/etc/sysctl.d/99-other.conf", "etc/sysctl.d/snag.conf", "/etc/systemd/system/nginx.service",
		"/etc/systemd/system/", "/etc/sysctl.dsnag/x.conf", "/usr/lib/sysctl.d/snag.conf", "/etc/snag/tune", "/etc/snag/../shadow",
	} {
		if err := d.Write(File{Path: path, Text: export.Mark + "\n"}); err == nil || !strings.Contains(err.Error(), "no place for a file of snag's") {
			t.Errorf("%s: %v", path, err)
		}
		if err := d.Remove(path, ""); err == nil {
			t.Errorf("%s was removed", path)
		}
	}
}

// A link in the place of ours is somebody else's, wherever it points to.
func TestALinkIsNotWrittenThrough(t *testing.T) {
	d := Disk{Root: t.TempDir()}
	const path = "/etc/sysctl.d/90-snag-x.conf"
	put1(t, d.Root, "/etc/victim", "mine\n")
	if err := os.Mkdir(filepath.Join(d.Root, "/etc/sysctl.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(d.Root, path)
	if err := os.Symlink(filepath.Join(d.Root, "/etc/victim"), at); err != nil {
		t.Fatal(err)
	}
	if err := d.Write(File{Path: path, Text: export.Mark + "\n"}); err == nil || !strings.Contains(err.Error(), "not snag's") {
		t.Error(err)
	}
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(d.Root, "/etc/victim"), at+newEnd); err != nil {
		t.Fatal(err)
	}
	if err := d.Write(File{Path: path, Text: export.Mark + "\n"}); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(filepath.Join(d.Root, "/etc/victim")); string(b) != "mine\n" {
		t.Errorf("written through a link: %q", b)
	}
}

func TestWhichFileWins(t *testing.T) {
	d := Disk{Root: t.TempDir()}
	put1(t, d.Root, "/etc/sysctl.d/10-early.conf", "net.core.rmem_max = 1\n")
	put1(t, d.Root, "/etc/sysctl.d/95-late.conf", "# a comment\n\n-net/core/rmem_max=2\nnet.core.wmem_max = 5\nbroken\n")
	put1(t, d.Root, "/usr/lib/sysctl.d/99-zz.conf", "net.core.rmem_max = 3\n")
	put1(t, d.Root, "/usr/lib/sysctl.d/95-late.conf", "net.core.rmem_max = 4\n") // masked by /etc's
	put1(t, d.Root, "/run/sysctl.d/96-same.conf", "net.core.rmem_max = 8388608\nnet.ipv4.conf.eth0/100.rp_filter = 1\nnet.core.* = 9\n")
	put1(t, d.Root, "/etc/sysctl.conf", "net.ipv4.tcp_rmem = 1\t2   3\n")
	if err := os.Symlink("../sysctl.conf", filepath.Join(d.Root, "/etc/sysctl.d/99-sysctl.conf")); err != nil {
		t.Fatal(err)
	}
	got, err := d.Overrides(File{Path: "/etc/sysctl.d/90-snag-x.conf", Text: export.Mark + "\nnet.core.rmem_max = 8388608\nnet.ipv4.tcp_rmem = 4 5 6\nnet/ipv4/conf/eth0.100/rp_filter = 2\n"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/etc/sysctl.d/95-late.conf:3 sets net.core.rmem_max to 2", "/run/sysctl.d/96-same.conf:2 sets", "/etc/sysctl.d/99-sysctl.conf:1 sets net.ipv4.tcp_rmem to 1 2 3", "/usr/lib/sysctl.d/99-zz.conf:1 sets net.core.rmem_max to 3"}
	if len(got) != len(want) {
		t.Fatalf("%d: %q", len(got), got)
	}
	for i, w := range want {
		if !strings.HasPrefix(got[i], w) {
			t.Errorf("%q, want %q", got[i], w)
		}
	}
	if got, err := d.Overrides(File{Path: "/etc/systemd/system/snag-x.service", Text: "A=b\n"}); err != nil || got != nil {
		t.Errorf("%v %v", got, err)
	}
}

func TestWhatUdevSaysOfALink(t *testing.T) {
	root := t.TempDir()
	put1(t, root, "/usr/lib/systemd/network/99-default.link", "# c\n[Match]\nOriginalName=*\n\n[Link]\nNamePolicy=keep kernel\n; no\nMACAddressPolicy=persistent\n")
	put1(t, root, "/etc/systemd/network/99-default.link.d/50-wol.conf", "[Link]\nWakeOnLan=magic\n")
	udev := "I:123\nE:ID_NET_LINK_FILE=/usr/lib/systemd/network/99-default.link\nE:ID_NET_LINK_FILE_DROPINS=/etc/systemd/network/99-default.link.d/50-wol.conf\n"
	if got := strings.Join(linkLines(root, udev), "|"); got != "NamePolicy=keep kernel|MACAddressPolicy=persistent|WakeOnLan=magic" {
		t.Error(got)
	}
}

func TestWhoseProcessItIs(t *testing.T) {
	root := t.TempDir()
	for pid, c := range map[string]struct{ text, want string }{
		"1":  {"0::/system.slice/nginx.service\n", "nginx.service"},
		"2":  {"12:cpu:/system.slice/relay.service/worker\n0::/\n", "relay.service"},
		"3":  {"0::/user.slice/user-0.slice/user@0.service/app.slice/x.scope\n", ""},
		"4":  {"0::/docker/0123\n", ""},
		"99": {"", ""},
	} {
		put1(t, root, pid+"/cgroup", c.text)
		n := 0
		for _, r := range pid {
			n = n*10 + int(r-'0')
		}
		if got := unitOf(root, n); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	if got := unitOf(root, 7); got != "" {
		t.Error(got)
	}
}

func TestLinksThatStartTheUnits(t *testing.T) {
	all, err := FilesOf(export.Result{Files: []export.File{{Path: "/etc/sysctl.d/90-snag-x.conf"}}, Start: []string{`snag-x@my\x2dnic.service`, "snag-x.service"}})
	if err != nil || len(all) != 3 {
		t.Fatalf("%v %+v", err, all)
	}
	if f := all[1]; f.Path != `/etc/systemd/system/sys-subsystem-net-devices-my\x2dnic.device.wants/snag-x@my\x2dnic.service` || f.Link != "/etc/systemd/system/snag-x@.service" {
		t.Errorf("%+v", f)
	}
	if f := all[2]; f.Path != "/etc/systemd/system/multi-user.target.wants/snag-x.service" || f.Link != "/etc/systemd/system/snag-x.service" {
		t.Errorf("%+v", f)
	}
	if _, err := FilesOf(export.Result{Files: []export.File{{Path: "snag-x.sh"}}}); err == nil {
		t.Error("a script is no file that a host reads")
	}
}
