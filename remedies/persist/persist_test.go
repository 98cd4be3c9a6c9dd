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
		if err := d.Write(File{Path: path, Text: export.Mark + "\n"}); err == nil || !strings.Contains(err.Error(), "not a place for a file of snag's") {
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

func TestOneLinkFileForAnInterface(t *testing.T) {
	d := Disk{Root: t.TempDir()}
	link := func(name, match string) File {
		return File{Path: "/etc/systemd/network/00-snag-" + name + ".link", Text: export.Mark + "\n\n[Match]\n" + match + "\n\n[Link]\nRxBufferSize=1\n"}
	}
	if err := d.Write(link("a-eth0", "PermanentMACAddress=02:00:00:00:00:01")); err != nil {
		t.Fatal(err)
	}
	if err := d.Check(link("b-eth0", "PermanentMACAddress=02:00:00:00:00:01")); err == nil || !strings.Contains(err.Error(), "00-snag-a-eth0.link of another plan matches the same interface") {
		t.Error(err)
	}
	for _, f := range []File{link("b-eth1", "PermanentMACAddress=02:00:00:00:00:02"), link("a-eth0", "PermanentMACAddress=02:00:00:00:00:01")} {
		if err := d.Check(f); err != nil {
			t.Error(err)
		}
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
		t.Error("a script is not a file that a host reads")
	}
}

func FuzzWhatUdevSays(f *testing.F) {
	f.Add("E:ID_NET_LINK_FILE=/x.link\n", "[Match]\nOriginalName=*\n[Link]\n#x\nNamePolicy=keep\n")
	f.Add("E:ID_NET_LINK_FILE=/x.link\nE:ID_NET_LINK_FILE_DROPINS=/x.link:/../x.link\n", "[Link]\r\nA=b\r\n")
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, udev, link string) {
		put1(t, root, "/x.link", link)
		for _, l := range linkLines(root, udev) {
			if l == "" || strings.ContainsAny(l, "\n") || l[0] == '[' || l[0] == '#' {
				t.Errorf("%q", l)
			}
		}
	})
}
