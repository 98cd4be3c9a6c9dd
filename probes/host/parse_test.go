package host

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"snag/internal/procfile"
)

func file(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func collect(parse func([]byte, procfile.CounterFunc) int, data []byte) (map[string]float64, int) {
	out := map[string]float64{}
	bad := parse(data, func(proto, field []byte, v float64) { out[string(proto)+"_"+string(field)] = v })
	return out, bad
}

func TestCountersOfThisKernel(t *testing.T) {
	for _, c := range []struct {
		path  string
		parse func([]byte, procfile.CounterFunc) int
		want  map[string]float64
		n     int
	}{
		{"tree/proc/net/snmp", procfile.Pairs, map[string]float64{"Ip_InReceives": 26313, "Tcp_MaxConn": -1, "Tcp_OutRsts": 6, "Udp_NoPorts": 0, "IcmpMsg_InType3": 1}, 83},
		{"tree/proc/net/netstat", procfile.Pairs, map[string]float64{"TcpExt_TCPTimeouts": 2, "TcpExt_TW": 36, "IpExt_InOctets": 499630291, "TcpExt_ListenDrops": 0}, 229},
		{"tree/proc/net/snmp6", procfile.Lines6, map[string]float64{"Ip6_InReceives": 1, "Udp6_RcvbufErrors": 0}, 0},
		{"tree/proc/net/sockstat", procfile.Sockstat, map[string]float64{"sockets_used": 14, "TCP_alloc": 1, "UDP_mem": 0}, 12},
	} {
		got, bad := collect(c.parse, file(t, c.path))
		if bad != 0 {
			t.Errorf("%s: %d fields not understood", c.path, bad)
		}
		for k, v := range c.want {
			if g, ok := got[k]; !ok || g != v {
				t.Errorf("%s: %s = %g (%v), want %g", c.path, k, g, ok, v)
			}
		}
		if c.n > 0 && len(got) != c.n {
			t.Errorf("%s: %d counters, want %d", c.path, len(got), c.n)
		}
	}
}

func TestDamagedCountersAreCountedNotGuessed(t *testing.T) {
	for text, want := range map[string]string{
		"Tcp: A B\nTcp: 1 2\nUdp: A\nIp: 1\n": "map[Tcp_A:1 Tcp_B:2] 1",
		"Tcp: A B\nTcp: 1\n":                  "map[Tcp_A:1] 1",
		"Tcp: A\nTcp: x\n":                    "map[] 1",
		"Tcp: A B\n":                          "map[] 1",
	} {
		got, bad := collect(procfile.Pairs, []byte(text))
		if s := fmt.Sprint(got, bad); s != want {
			t.Errorf("%q: %s, want %s", text, s, want)
		}
	}
}

func TestEveryCataloguedCounterExistsHere(t *testing.T) {
	have := map[string]float64{}
	for _, f := range []string{"snmp", "netstat"} {
		got, _ := collect(procfile.Pairs, file(t, "tree/proc/net/"+f))
		for k, v := range got {
			have[k] = v
		}
	}
	got, _ := collect(procfile.Lines6, file(t, "tree/proc/net/snmp6"))
	for k, v := range got {
		have[k] = v
	}
	for key := range procfile.Always {
		if _, ok := have[key]; !ok {
			t.Errorf("%s is not a counter of this kernel: a mistyped name would never be written", key)
		}
		proto, _, _ := strings.Cut(key, "_")
		if !procfile.Wanted(proto, key) {
			t.Errorf("%s is catalogued and not wanted", key)
		}
	}
}

func TestParseProcStat(t *testing.T) {
	const cat = "14098 (cat) R 14081 14081 9660 0 -1 4194304 99 0 0 0 3 4 0 0 20 0 1 0 148134 3133440 391 18446744073709551615 1 2 3"
	s, err := parseProcStat([]byte(cat))
	if err != nil || s != (procStat{Comm: "cat", State: 'R', PPID: 14081, CPU: 7, Threads: 1, Start: 148134}) {
		t.Errorf("%+v, %v", s, err)
	}
	const idle = "19571 (go) S 1 1 1 0 -1 4194304 99 0 0 0 3 4 0 0 39 19 6 0 148134 3133440 391 1 1 1 1 0 0 0 0 0 0 0 0 0 17 1 0 5 0 0 0"
	if s, err := parseProcStat([]byte(idle)); err != nil || s.Nice != 19 || s.Policy != 5 || policies[s.Policy] != "idle" {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = parseProcStat([]byte(strings.Replace(cat, "(cat) R", "(a) T (b) S", 1)))
	if err != nil || s.Comm != "a) T (b" || s.State != 'S' {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range []string{"", "1", "1 (a", "1 (a) ", "1 (a) S 1 2 3", "1 )a( S"} {
		if _, err := parseProcStat([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestParseNofile(t *testing.T) {
	if soft, hard := parseNofile(file(t, "limits")); soft != 20000 || hard != 20000 {
		t.Errorf("%d %d", soft, hard)
	}
	if soft, hard := parseNofile([]byte("Max open files            1024                 unlimited            files\n")); soft != 1024 || hard != -1 {
		t.Errorf("%d %d", soft, hard)
	}
	if soft, hard := parseNofile([]byte("Max stack size 1 2 bytes\n")); soft != 0 || hard != 0 {
		t.Errorf("%d %d: not found is 0", soft, hard)
	}
}

func TestParseCgroups(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
	}{
		{string(file(t, "cgroup.v1")), "{/ 1} "},
		{"0::/system.slice/nginx.service\n", "{/system.slice/nginx.service 2} nginx.service"},
		{"4:cpu,cpuacct:/system.slice/nginx.service\n1:name=systemd:/system.slice/nginx.service\n0::/\n", "{/system.slice/nginx.service 1} nginx.service"},
		{"4:cpuset:/a\n0::/b\n", "{/b 2} "},
		{"0::/user.slice/user-0.slice/session-3.scope/x (deleted)\n", "{/user.slice/user-0.slice/session-3.scope/x 2} session-3.scope"},
		{"garbage\n::\n", "{ 0} "},
	} {
		g, unit, _ := parseCgroups([]byte(c.text))
		if got := fmt.Sprint(g, " ", unit); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestParseCPUStatOfBothVersions(t *testing.T) {
	v1 := parseCPUStat([]byte("nr_periods 73\nnr_throttled 71\nthrottled_time 5900000000\nnr_bursts 0\n"))
	if v1.Throttling == nil || *v1.Throttling != (throttling{73, 71, 5.9}) || v1.Usage != nil {
		t.Errorf("%+v %v", v1.Throttling, v1.Usage)
	}
	v2 := parseCPUStat([]byte("usage_usec 1500000\nuser_usec 1\nnr_periods 10\nnr_throttled 2\nthrottled_usec 250000\n"))
	if v2.Throttling == nil || *v2.Throttling != (throttling{10, 2, 0.25}) || v2.Usage == nil || *v2.Usage != 1.5 {
		t.Errorf("%+v %v", v2.Throttling, v2.Usage)
	}
	// Without the cpu controller throttling is not measured, which is not 0.
	if bare := parseCPUStat([]byte("usage_usec 12\nuser_usec 1\nsystem_usec 2\n")); bare.Throttling != nil {
		t.Errorf("%+v", bare.Throttling)
	}
}

func TestParseCPUMax(t *testing.T) {
	for text, want := range map[string]string{"50000 100000\n": "0.05 0.1", "max 100000\n": "0 0", "": "0 0", "-1 100": "0 0"} {
		q, p := parseCPUMax([]byte(text))
		if got := fmt.Sprint(q, " ", p); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func FuzzParsePairs(f *testing.F) {
	f.Add("Tcp: A B\nTcp: 1 2\n")
	f.Add("Ip: A\n")
	f.Fuzz(func(t *testing.T, text string) {
		procfile.Pairs([]byte(text), func(proto, field []byte, v float64) {
			if len(field) == 0 || !strings.Contains(text, string(proto)+":") {
				t.Errorf("%q_%q out of nowhere", proto, field)
			}
		})
	})
}

func FuzzParseLines6(f *testing.F) {
	f.Add("Ip6InReceives  \t1\n")
	f.Fuzz(func(t *testing.T, text string) {
		procfile.Lines6([]byte(text), func(proto, field []byte, v float64) {
			if !strings.Contains(text, string(proto)+string(field)) || len(field) == 0 {
				t.Errorf("%q_%q out of nowhere", proto, field)
			}
		})
	})
}

func FuzzParseSockstat(f *testing.F) {
	f.Add("TCP: inuse 1 orphan 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		procfile.Sockstat([]byte(text), func(proto, field []byte, v float64) {
			if len(field) == 0 {
				t.Error("a field without a name")
			}
		})
	})
}

func FuzzParseProcStat(f *testing.F) {
	f.Add("1 (a) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9 10")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := parseProcStat([]byte(text)); err == nil && !strings.Contains(text, "("+s.Comm+")") {
			t.Errorf("%q gave the name %q", text, s.Comm)
		}
	})
}

func FuzzParseProcFiles(f *testing.F) {
	f.Add("0::/a.service\n")
	f.Add("Max open files 1 2 files\n")
	f.Add("nr_periods 1\nnr_throttled 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		if g, _, _ := parseCgroups([]byte(text)); g.Version != 0 && !strings.HasPrefix(g.Path, "/") {
			t.Errorf("%q gave the path %q", text, g.Path)
		}
		if soft, hard := parseNofile([]byte(text)); soft < -1 || hard < -1 {
			t.Errorf("%q gave %d %d", text, soft, hard)
		}
		parseCPUStat([]byte(text))
		if q, p := parseCPUMax([]byte(text)); q < 0 || p < 0 {
			t.Errorf("%q gave %g %g", text, q, p)
		}
		countEntries([]byte(text))
	})
}
