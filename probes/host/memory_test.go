package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snag/internal/procfile"
	"snag/recording"
)

func values(parse func([]byte, procfile.ValueFunc) int, data []byte) (map[string]float64, int) {
	out := map[string]float64{}
	bad := parse(data, func(name []byte, v float64) { out[string(name)] = v })
	return out, bad
}

// The files are this kernel's, 6.18.
func TestMemoryFilesOfThisKernel(t *testing.T) {
	for _, c := range []struct {
		path  string
		parse func([]byte, procfile.ValueFunc) int
		want  []string
		least int
	}{
		{"proc/meminfo", procfile.Meminfo, []string{"MemTotal", "MemFree", "SwapFree", "Active(anon)", "HugePages_Total"}, 50},
		{"proc/vmstat", procfile.NameValue, []string{"pswpin", "compact_stall", "allocstall_normal", "oom_kill", "thp_fault_fallback"}, 150},
		{"sys/devices/system/node/node0/meminfo", procfile.Meminfo, []string{"MemFree", "Shmem", "HugePages_Free"}, 30},
		{"sys/devices/system/node/node0/numastat", procfile.NameValue, []string{"numa_miss", "other_node", "interleave_hit"}, 6},
	} {
		got, bad := values(c.parse, file(t, "tree/"+c.path))
		if bad != 0 || len(got) < c.least {
			t.Errorf("%s: %d values, %d lines not understood", c.path, len(got), bad)
		}
		for _, name := range c.want {
			if _, ok := got[name]; !ok {
				t.Errorf("%s: no %s", c.path, name)
			}
		}
	}
	got, _ := values(procfile.Meminfo, file(t, "tree/proc/meminfo"))
	if got["MemTotal"] != 24684092*1024 || got["HugePages_Total"] != 0 {
		t.Errorf("total %g bytes, huge pages %g", got["MemTotal"], got["HugePages_Total"])
	}
}

func TestEveryNameOfTheMemoryExistsHere(t *testing.T) {
	for _, c := range []struct {
		fields map[string]bool
		path   string
		parse  func([]byte, procfile.ValueFunc) int
	}{
		{procfile.MeminfoFields, "proc/meminfo", procfile.Meminfo},
		{procfile.NodeFields, "sys/devices/system/node/node0/meminfo", procfile.Meminfo},
		{procfile.VmstatFields, "proc/vmstat", procfile.NameValue},
	} {
		got, _ := values(c.parse, file(t, "tree/"+c.path))
		for name := range c.fields {
			if _, ok := got[name]; !ok && name != "workingset_refault" { // one counter until 5.9
				t.Errorf("%s has no %s: a mistyped name would never be written", c.path, name)
			}
		}
	}
}

func TestDamagedMemoryFilesAreCounted(t *testing.T) {
	for text, want := range map[string]string{
		"MemFree: 12 kB\nMemTotal:\nShmem 4 kB\nx: y kB\n": "map[MemFree:12288] 3",
		"Node 3 MemFree: 1 kB\nNode\n":                     "map[MemFree:1024] 0",
	} {
		got, bad := values(procfile.Meminfo, []byte(text))
		if s := fmt.Sprint(got, bad); s != want {
			t.Errorf("%q: %s, want %s", text, s, want)
		}
	}
	if n := procfile.Buddyinfo([]byte("Node 0, zone\nNode 0 zone DMA 1\nNode 0, zone DMA 1 x 3\n"), func(_, _ []byte, order int, v float64) {
		if order != 0 || v != 1 {
			t.Errorf("order %d: %g", order, v)
		}
	}); n != 3 {
		t.Errorf("%d lines not understood, want 3", n)
	}
	if n := parseDiskstats([]byte("8 0 sda 1 2 3\n   8       1 sda1 5 0 8 1 0 0 0 0 0 7 7\n"), func(name []byte, d diskStat) {
		if string(name) != "sda1" || d.ReadBytes != 4096 || d.IOTime != 0.007 || d.HasFlushes {
			t.Errorf("%s %+v", name, d)
		}
	}); n != 1 {
		t.Errorf("%d lines not understood, want 1", n)
	}
}

// bigHost writes the memory's files of a host with 8 nodes and 256 CPUs, in this
// kernel's form: a page set of each CPU in each zone.
func bigHost(t *testing.T, root string) {
	t.Helper()
	var zones, buddies strings.Builder
	for node := range 8 {
		names := []string{"Normal"}
		if node == 0 {
			names = []string{"DMA", "DMA32", "Normal"}
		}
		for _, zone := range names {
			fmt.Fprintf(&zones, "Node %d, zone %8s\n  per-node stats\n      nr_inactive_anon 1\n", node, zone)
			fmt.Fprintf(&zones, "  pages free     %d\n        boost    0\n        min      %d\n        low      20\n        high     30\n        spanned  90\n        present  80\n        managed  70\n        cma      0\n        protection: (0, 0)\n      nr_free_pages 7\n      numa_hit     1\n  pagesets\n", 1000+node, 10+node)
			for cpu := range 256 {
				fmt.Fprintf(&zones, "    cpu: %d\n              count:    0\n              high:     7\n              batch:    1\n  vm stats threshold: 4\n", cpu)
			}
			fmt.Fprintf(&zones, "  node_unreclaimable:  0\n  start_pfn:           1\n")
			fmt.Fprintf(&buddies, "Node %d, zone %8s %6d %6d %6d %6d %6d %6d %6d %6d %6d %6d %6d \n", node, zone, 9000+node, 8, 7, 6, 5, 4, 3, 2, 1, 0, node)
		}
		dir := fmt.Sprintf("%s/sys/devices/system/node/node%d/", root, node)
		put(t, dir+"meminfo", fmt.Sprintf("Node %d MemTotal:       65536000 kB\nNode %d MemFree:        %d kB\nNode %d Shmem:           100 kB\n", node, node, 1000*node, node))
		put(t, dir+"numastat", fmt.Sprintf("numa_hit 100\nnuma_miss %d\nnuma_foreign 0\ninterleave_hit 0\nlocal_node 90\nother_node %d\n", node, node))
	}
	put(t, root+"/proc/zoneinfo", zones.String())
	put(t, root+"/proc/buddyinfo", buddies.String())
	var stat strings.Builder
	for cpu := range 256 {
		fmt.Fprintf(&stat, "cpu%d 1 2 3 4 5 6 7 8 9 10\n", cpu)
	}
	put(t, root+"/proc/stat", "cpu  1 2 3 4 5 6 7 8 9 10\n"+stat.String()+"intr 5 1\nctxt 6\nbtime 1\nprocesses 7\nprocs_running 600\nprocs_blocked 0\nsoftirq 66 1 2 3 4 5 6 7 8 9 10\n")
}

func TestAHostWithManyNodesAndCPUs(t *testing.T) {
	p, env, sink := copied(t, nil)
	bigHost(t, filepath.Dir(env.Proc))
	p.tick(0, false)
	r := sink.Recording()
	at := func(name string, pairs ...string) float64 {
		t.Helper()
		found := r.Select(name, pairs...)
		if len(found) != 1 {
			t.Fatalf("%d series %s%v", len(found), name, pairs)
		}
		v, _ := found[0].Last()
		return v
	}
	for _, c := range []struct{ got, want float64 }{
		{at("node_zoneinfo_nr_free_pages", "node", "7", "zone", "Normal"), 1007},
		{at("node_zoneinfo_min_pages", "node", "5"), 15},
		{at("node_zoneinfo_high_pages", "node", "0", "zone", "DMA32"), 30},
		{at("node_buddyinfo_blocks", "node", "6", "zone", "Normal", "size", "0"), 9006},
		{at("node_buddyinfo_blocks", "node", "6", "zone", "Normal", "size", "10"), 6},
		{at("node_memory_numa_MemFree", "node", "3"), 3000 * 1024},
		{at("node_memory_numa_numa_miss_total", "node", "4"), 4},
		{at("node_memory_numa_other_node_total", "node", "7"), 7},
		{at("node_cpu_seconds_total", "cpu", "255", "mode", "idle"), 0.04},
		{at("node_memory_MemTotal_bytes"), 24684092 * 1024},
		{at("node_vmstat_pswpin"), 0},
	} {
		if c.got != c.want {
			t.Errorf("got %g, want %g", c.got, c.want)
		}
	}
	if n := len(r.Select("node_zoneinfo_nr_free_pages")); n != 10 {
		t.Errorf("%d zones, want 10", n)
	}
	for _, m := range []string{"host.memory", "host.zones", "host.numa", "host.disks"} {
		if c, ok := p.meter.all[m], true; !ok || c.bad > 0 || len(c.notes) > 0 {
			t.Errorf("%s: %v %v", m, c.err, c.notes)
		}
	}
}

func TestADiskThatBeginsBringsItsZero(t *testing.T) {
	p, env, sink := copied(t, nil)
	p.tick(0, false)
	if got := sink.Recording().Select("node_disk_writes_completed_total", "device", "loop1"); len(got) != 0 {
		t.Fatal("a disk that did nothing has series")
	}
	rewrite(t, env.Proc+"/diskstats", "   7       1 loop1 0 0 0 0 0 0 0 0 0 0 0", "   7       1 loop1 0 0 0 0 9 0 72 4500 2 900 4500")
	p.tick(0, false)
	r := sink.Recording()
	for name, want := range map[string]float64{
		"node_disk_writes_completed_total": 9, "node_disk_written_bytes_total": 72 * 512,
		"node_disk_write_time_seconds_total": 4.5, "node_disk_io_time_seconds_total": 0.9,
	} {
		if got := increase(t, r, name, "device", "loop1"); got != want {
			t.Errorf("%s grew by %g, want %g", name, got, want)
		}
	}
}

func TestSettingsOfTheMemoryAreFacts(t *testing.T) {
	p, _, sink := copied(t, map[string]string{
		"proc/sys/vm/swappiness":                    "60\n",
		"sys/kernel/mm/transparent_hugepage/defrag": "always defer defer+madvise [madvise] never\n",
		"proc/swaps":                             "Filename\tType\tSize\tUsed\tPriority\n/var/swap file 65532 0 -2\n/dev/sda2 partition 1 0 -3\n",
		"sys/devices/system/node/node0/numastat": "",
	})
	p.tick(0, false)
	p.tick(0, true)
	r := sink.Recording()
	for name, want := range map[string]string{
		"vm.swappiness": "60", "transparent_hugepage.defrag": "always defer defer+madvise [madvise] never",
		"swaps": "/var/swap file, /dev/sda2 partition",
	} {
		if got, ok := r.FactOf(name, 0); !ok || got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if _, ok := r.FactOf("vm.min_free_kbytes", 0); ok {
		t.Error("a fact that the kernel does not show")
	}
}

func FuzzMemoryFiles(f *testing.F) {
	for _, name := range []string{"meminfo", "buddyinfo", "diskstats", "swaps"} {
		data, err := os.ReadFile("testdata/tree/proc/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("Node 0, zone   Normal\n  pages free     3840\n        min      13\n        protection: (0)\n"))
	f.Add([]byte("7:0 rbps=max wbps=1048576 riops=max wiops=max\n"))
	f.Add([]byte("some avg10=6.46 avg60=3.60 avg300=1.86 total=1452156323\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		named := func(name []byte, _ float64) {
			if len(name) == 0 {
				t.Error("a value without a name")
			}
		}
		procfile.Meminfo(data, named)
		procfile.NameValue(data, named)
		procfile.Buddyinfo(data, func(_, zone []byte, order int, _ float64) {
			if len(zone) == 0 || order < 0 {
				t.Errorf("zone %q order %d", zone, order)
			}
		})
		procfile.Zoneinfo(data, func(_, zone, _ []byte, _ float64) {
			if len(zone) == 0 {
				t.Error("a zone without a name")
			}
		})
		parseDiskstats(data, func(name []byte, _ diskStat) { named(name, 0) })
		procfile.Swaps(data)
		for _, l := range parseDiskLimits(data, "") {
			if strings.ContainsAny(l.number, "/.") {
				t.Errorf("a path of %q", l.number)
			}
		}
		parsePressure(data)
		parseStatus(data)
		parseIO(data)
	})
}

// The pressure and the limits of a watched process' groups are measured.
func TestTheResourcesOfAWatchedGroup(t *testing.T) {
	p, env, sink := copied(t, nginx("S"))
	dir := env.Sys + "/fs/cgroup/system.slice/nginx.service/"
	put(t, dir+"io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n")
	put(t, dir+"memory.current", "5000\n")
	put(t, dir+"memory.max", "max\n")
	put(t, dir+"memory.swap.current", "4096\n")
	put(t, dir+"io.max", "7:0 rbps=max wbps=1048576 riops=max wiops=max\n8:16 rbps=max wbps=max riops=max wiops=max\n")
	put(t, env.Sys+"/dev/block/7:0", "-> ../../devices/virtual/block/loop0")
	put(t, env.Proc+"/812/status", "Name:\tnginx\nVmRSS:\t  8000 kB\nVmSwap:\t  40 kB\nCpus_allowed_list:\t0-3,7\n")
	put(t, env.Proc+"/812/io", "rchar: 1\nread_bytes: 8192\nwrite_bytes: 4096\n")
	env.Watch.Add(812, "asked for")
	p.tick(0, false)
	p.tick(0, true)
	r := sink.Recording()
	group := []string{"cgroup", "/system.slice/nginx.service"}
	for name, want := range map[string]float64{
		"snag_cgroup_pressure_io_waiting_seconds_total": 1.5, "snag_cgroup_pressure_io_stalled_seconds_total": 1,
		"snag_cgroup_memory_bytes": 5000, "snag_cgroup_memory_swap_bytes": 4096,
	} {
		s := r.Select(name, group...)
		if len(s) != 1 {
			t.Fatalf("%d series %s", len(s), name)
		}
		if v, _ := s[0].Last(); v != want {
			t.Errorf("%s is %g, want %g", name, v, want)
		}
	}
	if len(r.Select("snag_cgroup_memory_limit_bytes")) != 0 {
		t.Error("no limit is not a sample")
	}
	var limits []recording.Fact
	for _, f := range r.Facts {
		if f.Name == "cgroup.io.max" {
			limits = append(limits, f)
		}
	}
	if len(limits) != 1 || limits[0].Value != "loop0 wbps=1048576" {
		t.Errorf("limits %+v", limits)
	}
	row := lastRow(r, 812)
	if row == nil || row.RSS == nil || *row.RSS != 8000*1024 || row.Swap == nil || *row.Swap != 40*1024 || row.CPUs != "0-3,7" ||
		row.ReadBytes == nil || *row.ReadBytes != 8192 || *row.WrittenBytes != 4096 || row.MajorFaults == nil || row.GroupOf("memory") != group[1] {
		t.Errorf("row %+v", row)
	}
}

// A disk limit that is set after the process was first seen, and removed again, is recorded.
func TestADiskLimitThatComesAndGoes(t *testing.T) {
	p, env, sink := copied(t, nginx("S"))
	limit := env.Sys + "/fs/cgroup/system.slice/nginx.service/io.max"
	env.Watch.Add(812, "asked for")
	for at := range 8 {
		text := ""
		if at > 2 && at < 7 {
			text = "7:0 rbps=283000 wbps=max riops=max wiops=max\n"
		}
		put(t, limit, text)
		p.tick(0, at == 7)
	}
	for _, f := range sink.Recording().Facts {
		if f.Name == "cgroup.io.max" && strings.HasSuffix(f.Value, "rbps=283000") {
			return
		}
	}
	t.Error("the limit was not recorded")
}

// Of a group with a limit, and of one above it, what happened at the limit is measured.
func TestTheMemoryLimitOfAGroup(t *testing.T) {
	for _, c := range []struct {
		version, above, group, limit string
		files                        map[string]string
		want                         map[string]float64
	}{
		{"2", "/fs/cgroup/system.slice/", "/fs/cgroup/system.slice/nginx.service/", "memory.max", map[string]string{
			"memory.current": "5900\n", "memory.max": "6000\n", "memory.high": "max\n",
			"memory.events": "low 0\nhigh 3\nmax 12\noom 1\noom_kill 2\n",
			"memory.stat":   "anon 4096\npgmajfault 40\nworkingset_refault_anon 30\nworkingset_refault_file 7\nbad\n",
		}, map[string]float64{"limit_bytes": 6000, "limit_hits_total": 12, "high_hits_total": 3, "oom_kills_total": 2, "major_faults_total": 40, "refaults_total": 30}},
		{"1", "/fs/cgroup/memory/system.slice/", "/fs/cgroup/memory/system.slice/nginx.service/", "memory.limit_in_bytes", map[string]string{
			"memory.usage_in_bytes": "5900\n", "memory.limit_in_bytes": "6000\n", "memory.failcnt": "12\n",
			"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
			"memory.stat":        "pgmajfault 1\nworkingset_refault_anon 1\ntotal_pgmajfault 40\ntotal_workingset_refault_anon 30\ntotal_workingset_refault_file 7\n",
		}, map[string]float64{"limit_bytes": 6000, "limit_hits_total": 12, "oom_kills_total": 2, "major_faults_total": 40, "refaults_total": 30}},
	} {
		p, env, sink := copied(t, nginx("S"))
		if c.version == "1" {
			put(t, env.Sys+"/fs/cgroup/memory/cgroup.procs", "")
		}
		for name, text := range c.files {
			put(t, env.Sys+c.group+name, text)
		}
		put(t, env.Sys+c.above+c.limit, "9000\n")
		env.Watch.Add(812, "asked for")
		p.tick(0, false)
		p.tick(0, true)
		r := sink.Recording()
		for name, want := range c.want {
			for _, s := range r.Select("snag_cgroup_memory_"+name, "cgroup", "/system.slice/nginx.service") {
				if v, _ := s.Last(); s.Labels["kind"] != "file" && v != want || len(s.Points) != 2 {
					t.Errorf("version %s: %s is %g of %d points, want %g", c.version, s.Key(), v, len(s.Points), want)
				}
				delete(c.want, name)
			}
		}
		if len(c.want) > 0 {
			t.Errorf("version %s: not measured: %v", c.version, c.want)
		}
		if s := r.Select("snag_cgroup_memory_limit_bytes", "cgroup", "/system.slice"); len(s) != 1 || s[0].Points[0].V != 9000 {
			t.Errorf("version %s: the limit above: %v", c.version, s)
		}
		told := map[string]string{}
		for _, f := range r.Facts {
			told[f.Name+" "+f.Value] = f.Source
		}
		if got := told["cgroup."+c.limit+" /system.slice/nginx.service 6000"]; got != env.Sys+c.group+c.limit {
			t.Errorf("version %s: facts %v", c.version, told)
		}
	}
}
