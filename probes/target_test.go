package probes

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snag/recording"
)

// tree writes a /proc by hand; "-> x" makes a link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func stat(pid int, comm, state string, ppid int) string {
	return fmt.Sprintf("%d (%s) %s %d 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 100 0 0 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", pid, comm, state, ppid)
}

const tcpTable = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:078F 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 9001 1 0000000000000000 100 0 0 10 0
   1: 0100007F:0050 0100007F:A000 01 00000000:00000000 00:00000000 00000000     0        0 9002 1 0000000000000000 20 4 30 10 -1
`

const udpTable = `   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
  10: 00000000:138C 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 9003 2 0000000000000000 0
`

func fixture(t *testing.T) string {
	return tree(t, map[string]string{
		"1/stat": stat(1, "systemd", "S", 0), "1/ns/net": "-> net:[100]", "1/cgroup": "0::/init.scope\n",
		"70/stat": stat(70, "nginx: (x) S", "S", 1), "70/ns/net": "-> net:[100]", "70/cgroup": "12:cpu:/system.slice/nginx.service\n0::/system.slice/nginx.service\n",
		"71/stat": stat(71, "nginx", "S", 70), "71/ns/net": "-> net:[100]", "71/cgroup": "0::/system.slice/nginx.service/worker (deleted)\n",
		"71/fd/3": "-> socket:[9001]", "71/fd/4": "-> /dev/null", "71/fd/5": "-> socket:[x]",
		"72/stat": stat(72, "helper", "S", 71), "72/cgroup": "garbage",
		"80/stat": stat(80, "ffmpeg", "Z", 70), "80/cgroup": "0::/system.slice/php8.2-fpm.service\n",
		"90/stat": stat(90, "relay", "S", 1), "90/ns/net": "-> net:[200]", "90/comm": "relay\n", "90/fd/7": "-> socket:[9003]",
		"1/net/tcp": tcpTable, "1/net/tcp6": "", "90/net/udp": udpTable,
	})
}

func TestResolve(t *testing.T) {
	proc := fixture(t)
	for _, c := range []struct {
		name   string
		target recording.Target
		pids   []int
		netns  uint64
		err    string // "" none
	}{
		{"nothing", recording.Target{}, nil, 0, ""},
		{"a process and its descendants", recording.Target{PID: 70}, []int{70, 71, 72, 80}, 0, ""},
		{"no such pid", recording.Target{PID: 4000}, nil, 0, "look at process 4000: there is none with that pid"},
		{"a zombie", recording.Target{PID: 80}, nil, 0, "ffmpeg is a zombie that its parent, process 70, has not reaped"},
		{"a unit by its short name", recording.Target{Unit: "nginx"}, []int{70, 71}, 0, ""},
		{"a unit by its whole name", recording.Target{Unit: "nginx.service"}, []int{70, 71}, 0, ""},
		{"a unit with a dot in its name", recording.Target{Unit: "php8.2-fpm"}, []int{80}, 0, ""},
		{"a slice", recording.Target{Unit: "system.slice"}, []int{70, 71, 80}, 0, ""},
		{"a part of a name", recording.Target{Unit: "ngin"}, nil, 0, "look at unit ngin.service: no process is in a cgroup of that name"},
		{"a path", recording.Target{Unit: "system.slice/nginx"}, nil, 0, "look at unit system.slice/nginx.service"},
		{"a TCP port", recording.Target{Port: 1935}, []int{71}, 0, ""},
		{"a UDP port of another namespace", recording.Target{Port: 5004}, []int{90}, 0, ""},
		{"a port of a connection only", recording.Target{Port: 80}, nil, 0, "look at port 80: nothing listens on it"},
		{"a port beyond all", recording.Target{Port: 70000}, nil, 0, "a port is a number from 1 to 65535"},
		{"a namespace by inode", recording.Target{Netns: "200"}, nil, 200, ""},
		{"a namespace by its process", recording.Target{Netns: "of relay[90]"}, nil, 200, ""},
		{"no such namespace", recording.Target{Netns: "red"}, nil, 0, `look at network namespace "red": there is none of that name or inode here; there are: `},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Resolve(proc, 100, c.target)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "\n") {
					t.Fatalf("error %v, want one line with %q", err, c.err)
				}
				return
			}
			if err != nil || !slices.Equal(got.PIDs, c.pids) || got.NetnsID != c.netns {
				t.Errorf("%+v, %v; want %v and namespace %d", got, err, c.pids, c.netns)
			}
		})
	}
}

func TestAPortWhoseHolderIsNotSeen(t *testing.T) {
	proc := tree(t, map[string]string{"1/stat": stat(1, "init", "S", 0), "1/ns/net": "-> net:[100]", "1/net/tcp": tcpTable})
	_, err := Resolve(proc, 100, recording.Target{Port: 1935})
	if err == nil || !strings.Contains(err.Error(), "CAP_SYS_PTRACE") {
		t.Errorf("%v, want the missing capability", err)
	}
}

func TestOthersIsBounded(t *testing.T) {
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprint("pod", i))
	}
	if s := others(names, 3); len(s) > 300 || !strings.Contains(s, "and 290 more") || !strings.Contains(s, "3 processes") {
		t.Errorf("%s", s)
	}
	if s := others(nil, 0); !strings.Contains(s, "no other") {
		t.Errorf("%s", s)
	}
}

func FuzzInUnit(f *testing.F) {
	f.Add("0::/system.slice/nginx.service\n", "nginx")
	f.Add("12:cpu,cpuacct:/a/b.service (deleted)\n0::/\n", "b.service")
	f.Add("::::", "")
	f.Fuzz(func(t *testing.T, cgroups, name string) {
		unit := recording.UnitName(name)
		inUnit := func(cgroups, unit string) bool {
			return slices.ContainsFunc(pathsIn(cgroups), recording.Target{Unit: unit}.Holds)
		}
		if recording.UnitName(unit) != unit {
			t.Errorf("%q becomes %q, then %q", name, unit, recording.UnitName(unit))
		}
		if inUnit(cgroups, unit) && !strings.Contains(cgroups, "/"+unit) {
			t.Errorf("%q is said to be in %q", unit, cgroups)
		}
		if !strings.ContainsAny(unit, "/:\n") && !strings.HasSuffix(unit, " (deleted)") && !inUnit("0::/x.slice/"+unit+"/y", unit) {
			t.Errorf("%q is not found in its own cgroup", unit)
		}
	})
}

// Containers and pods are found by their names, which a runtime gives, and by their ids, which need none.
func TestContainersAndPods(t *testing.T) {
	web, app := strings.Repeat("3f2a9c1b", 8), strings.Repeat("77aa0011", 8)
	const uid = "8d2f41aa-0c1d-4b5e-9f3a-0123456789ab"
	root := tree(t, map[string]string{
		"proc/50/cgroup": "0::/system.slice/docker-" + web + ".scope\n",
		"proc/51/cgroup": "12:memory:/docker/" + web + "/sub\n",
		"proc/60/cgroup": "0::/kubepods.slice/kubepods-pod8d2f41aa_0c1d_4b5e_9f3a_0123456789ab.slice/cri-containerd-" + app + ".scope\n",
		"proc/70/cgroup": "0::/system.slice/nginx.service\n",
		"var/log/containers/web-0_shop_app-" + app + ".log": "-> /var/log/pods/shop_web-0_" + uid + "/app/0.log",
	})
	for _, c := range []struct {
		target recording.Target
		pids   []int
		fails  string
	}{
		{recording.Target{Container: "3f2a9c"}, []int{50, 51}, ""},
		{recording.Target{Container: web}, []int{50, 51}, ""},
		{recording.Target{Container: "app"}, []int{60}, ""},
		{recording.Target{Container: "shop/web-0/app"}, []int{60}, ""},
		{recording.Target{Pod: "shop/web-0"}, []int{60}, ""},
		{recording.Target{Pod: "shop/other"}, nil, "look at pod shop/other: no process is in one of that name or id; there are: shop/web-0 8d2f41aa-0c1"},
		{recording.Target{Container: "3f2"}, nil, "there are: 3f2a9c1b3f2a, shop/web-0/app 77aa001177aa"},
	} {
		got, err := Resolve(filepath.Join(root, "proc"), 100, c.target)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %v", c.target.Name(), err)
			}
			continue
		}
		if err != nil || !slices.Equal(got.PIDs, c.pids) {
			t.Errorf("%s: %v, %v, want %v", c.target.Name(), got.PIDs, err, c.pids)
		}
	}
	none := tree(t, map[string]string{"proc/70/cgroup": "0::/system.slice/nginx.service\n"})
	if _, err := Resolve(filepath.Join(none, "proc"), 100, recording.Target{Container: "web"}); err == nil || !strings.Contains(err.Error(), "no process here is in a control group of a container") {
		t.Errorf("%v", err)
	}
}

// FuzzTarget resolves any target on a small /proc: an answer or one line.
func FuzzTarget(f *testing.F) {
	f.Add(70, "", 0, "")
	f.Add(0, "nginx", 0, "")
	f.Add(0, "", 1935, "")
	f.Add(0, "", 0, "200")
	f.Add(-1, "[", 1<<30, "\n")
	f.Fuzz(func(t *testing.T, pid int, unit string, port int, name string) {
		proc := fixture(t)
		for _, target := range []recording.Target{{PID: pid}, {Unit: unit}, {Port: port}, {Netns: name}} {
			if target.PID == 0 && target.Unit == "" && target.Port == 0 && target.Netns == "" {
				continue
			}
			got, err := Resolve(proc, 100, target)
			if err == nil && len(got.PIDs) == 0 && got.NetnsID == 0 {
				t.Errorf("%+v: nothing was found, and no error", target)
			}
		}
	})
}
