package perf

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"snag/readers/reader"
	"snag/recording"
)

// read reads a text by the format that knows it.
func read(t *testing.T, text string) (*recording.Recording, reader.Told, string) {
	t.Helper()
	in := open(t, text)
	for _, f := range Formats {
		if f.Sniff(in.Head()) {
			s := &sink{}
			told, err := f.Read(context.Background(), in, reader.Options{Zone: time.UTC, Modified: time.Unix(1_700_000_000, 5e8)}, s)
			if err != nil {
				t.Fatal(err)
			}
			return &s.Recording, told, f.Name
		}
	}
	return nil, reader.Told{}, ""
}

const headOf = `# ========
# captured on    : Sat Nov 21 17:16:40 2026
# header version : 1
# hostname : origin-3
# os release : 6.1.0-25-amd64
# arch : x86_64
# nrcpus online : 16
# cpudesc : AMD EPYC 7543P
# cmdline : /usr/bin/perf record -a -g -F 99
# event : name = cpu-clock, , id = { 5, 6 }, type = 1, size = 136, { sample_period, sample_freq } = 99, sample_type = IP|TID|TIME|CALLCHAIN|PERIOD, freq = 1
# time of first sample : 100.100000
# time of last sample : 101.300000
# ========
#
`

func TestHeaderTellsTheHostAndWhenItWas(t *testing.T) {
	r, told, name := read(t, headOf+strings.TrimPrefix(script, "# captured on    : Sat Nov 21 17:16:40 2026\n"))
	end := time.Date(2026, 11, 21, 17, 16, 40, 0, time.UTC).UnixNano()
	if name != "perf script" || told.Machine.CPUs != 16 || int64(told.Last) != end || int64(told.First) != end-1_200_000_000 {
		t.Fatalf("%s: %+v", name, told)
	}
	facts := map[string]string{}
	for _, f := range told.Facts {
		facts[f.Name] = f.Value
	}
	if told.Host != "origin-3" || facts["cpu.model"] != "AMD EPYC 7543P" || told.Machine.Kernel != "6.1.0-25-amd64" {
		t.Error(facts)
	}
	if len(r.OnCPU) == 0 || told.Coverage[0].Why == "" {
		t.Errorf("%+v", told.Coverage)
	}
}

func TestRateOfTheHeaderStandsForPeriods(t *testing.T) {
	r, told, _ := read(t, headOf+"a 1/1 100.1: cpu-clock: \n\t401000 f+0x1 (/x)\n\na 1/1 100.2: cpu-clock: \n\t401000 f+0x1 (/x)\n\n")
	if len(r.OnCPU) != 1 || r.OnCPU[0].Hz < 98.9 || r.OnCPU[0].Hz > 99.1 || r.OnCPU[0].N != 2 {
		t.Errorf("%+v", r.OnCPU)
	}
	if !strings.Contains(told.Coverage[0].Why, "no period") {
		t.Error(told.Coverage[0].Why)
	}
}

func TestWithoutARateAClockIsCounted(t *testing.T) {
	r, _, _ := read(t, "a 1/1 100.1: cpu-clock: \n\t401000 f+0x1 (/x)\n\n")
	if len(r.OnCPU) != 1 || r.OnCPU[0].Hz != 0 || r.OnCPU[0].Event != "cpu-clock" || r.OnCPU[0].Weight != 0 {
		t.Errorf("samples without a period became time: %+v", r.OnCPU)
	}
}

func TestIdleCPUsAreCountedAndLeftOut(t *testing.T) {
	text := "swapper 0/0 [000] 5.1: 10101010 cpu-clock: \n\tffffffff81000000 pv_native_safe_halt+0xf ([kernel.kallsyms])\n\tffffffff81000010 default_idle+0x9 ([kernel.kallsyms])\n\n" +
		"swapper 0/0 [000] 5.2: 10101010 cpu-clock: \n\tffffffff81000020 nft_do_chain+0xf ([nf_tables])\n\tffffffff81000030 ip_rcv+0x9 ([kernel.kallsyms])\n\n"
	r, told, _ := read(t, text)
	if len(r.OnCPU) != 1 || r.OnCPU[0].N != 1 || told.Machine.CPUs != 1 {
		t.Fatalf("%+v", r.OnCPU)
	}
	if len(r.Profile) != 1 || r.Profile[0].Function != "nft_do_chain" || r.Profile[0].Caller != "ip_rcv" || r.Profile[0].Samples != 1 || r.Profile[0].All != 2 {
		t.Errorf("%+v", r.Profile)
	}
}

func TestEventsAreKeptApart(t *testing.T) {
	r, told, _ := read(t, "a 1/1 5.1: 300 page-faults:u: \n\t401000 f+0x1 (/x)\n\na 1/1 5.1: 5000 cycles:u: \n\t401000 f+0x1 (/x)\n\na 1/1 5.1: sched:sched_switch: prev_comm=a prev_pid=1 ==> next_comm=b\n\tffffffff81000000 __schedule+0xf ([kernel.kallsyms])\n\n")
	got := map[string]float64{}
	for _, row := range r.OnCPU {
		got[row.Event] += row.Weight
	}
	if len(got) != 3 || got["page-faults"] != 300 || got["cycles"] != 5000 {
		t.Errorf("%v", got)
	}
	if ran := r.Ran(); len(ran) != 1 || ran[0].Event != "cycles" {
		t.Errorf("what ran: %+v", ran)
	}
	if k := told.Coverage[1]; k.Probe != "oncpu.kernel" || k.State != recording.CoveragePartial || !strings.Contains(k.Why, "busy time") {
		t.Errorf("%+v", k)
	}
}

func TestPageFaultsAloneSayNothingOfTime(t *testing.T) {
	r, told, _ := read(t, "a 1/1 5.1: 300 page-faults:u: \n\t401000 f+0x1 (/x)\n\n")
	if len(r.Profile) != 0 || len(r.Ran()) != 0 || told.Coverage[1].State != recording.CoverageUnavailable {
		t.Errorf("%+v %+v", r.Profile, told.Coverage[1])
	}
}

func TestWhatCouldNotBeReadIsSaid(t *testing.T) {
	r, told, _ := read(t, "a 1 5.1: 10101010 cpu-clock: \n\t401000 [unknown] (/lib/libx.so)\n  x.c:12\n\nsomething else\na 1 5.2: 10101010 cpu-clock: \n\nperf 3 5.3: PERF_RECORD_LOST lost 34\n")
	c := told.Coverage[0]
	for _, want := range []string{"1 of 8 lines", "no stack", "lost 34 records", "not their processes"} {
		if !strings.Contains(c.Why, want) {
			t.Errorf("%q is not said: %s", want, c.Why)
		}
	}
	if c.Lost != 35 || len(r.Stacks) != 1 || r.Stacks[0].Frames[0] != "[libx.so]" || told.Coverage[2].State != recording.CoveragePartial {
		t.Errorf("%+v %+v", told.Coverage, r.Stacks)
	}
}

func TestFolded(t *testing.T) {
	r, told, name := read(t, "java-812;Lcom/x/Y;::run_[j];sys_read_[k] 12\njava-812;main;work 3\nrelay;main;[libc.so.6] 4\nworker-1;main 1\n")
	if name != "folded stacks" || len(r.OnCPU) != 4 {
		t.Fatalf("%s: %+v", name, r.OnCPU)
	}
	by := map[string]recording.OnCPU{}
	for _, row := range r.OnCPU {
		by[fmt.Sprintf("%s %d %d", row.Comm, row.PID, row.N)] = row
	}
	// A ';' in a name makes two frames of it: nothing in the file tells it apart.
	one, ok := by["java 812 12"]
	if _, other := by["worker-1 0 1"]; !ok || !other || one.Event != "samples" || one.Hz != 0 {
		t.Fatalf("%+v", r.OnCPU)
	}
	for _, s := range r.Stacks {
		if s.ID == one.Stack && (s.Frames[0] != "sys_read" || s.Kernel != 1 || s.Objects[1] != "[jit]") {
			t.Errorf("%+v", s)
		}
	}
	if len(r.Profile) != 1 || r.Profile[0].Function != "sys_read" || r.Profile[0].All != 20 {
		t.Errorf("%+v", r.Profile)
	}
	if told.Coverage[0].State != recording.CoveragePartial {
		t.Error("folded stacks have no times, and nothing says so")
	}
}

func TestSpeedscope(t *testing.T) {
	r, _, name := read(t, `{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"main"},{"name":"work","file":"x.py"}]},
"profiles":[{"type":"sampled","name":"py","unit":"seconds","startValue":0,"endValue":2,"samples":[[0,1],[0],[7]],"weights":[1.5,0.5,1]},
{"type":"evented","name":"js","unit":"milliseconds","startValue":0,"endValue":30,"events":[{"type":"O","at":0,"frame":0},{"type":"O","at":10,"frame":1},{"type":"C","at":30,"frame":1},{"type":"C","at":30,"frame":0}]}]}`)
	if name != "speedscope" {
		t.Fatal(name)
	}
	sum := map[string]float64{}
	for _, row := range r.OnCPU {
		sum[row.Comm] += float64(row.N) / row.Hz
	}
	if s := sum["py"]; s < 1.999 || s > 2.001 {
		t.Errorf("py: %v s", s)
	}
	if s := sum["js"]; s < 0.0299 || s > 0.0301 {
		t.Errorf("js: %v s", s)
	}
}

func TestNothingElseIsTakenForAProfile(t *testing.T) {
	for name, head := range map[string]string{
		"strace":   "1234 17:16:40.123456 read(3, \"a: b\", 5) = 5 <0.000010>\n1234 17:16:40.123456 write(3, \"a\", 1) = 1 <0.000010>\n",
		"gc log":   "[2026-11-21T17:16:40.123+0000][0.005s][info][gc] Using G1\n[2026-11-21T17:16:40.200+0000][0.105s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 2.301ms\n",
		"syslog":   "Nov 21 10:00:00 host sshd[123]: session opened\nNov 21 10:00:01 host kernel: [ 12.5] eth0: link up\n",
		"nginx":    "10.0.0.1 - - [21/Nov/2026:17:16:40 +0000] \"GET /a;b HTTP/1.1\" 200 12\n",
		"csv":      "time,value\n1,2\n",
		"ethtool":  "NIC statistics:\n     rx_packets: 12\n     tx_packets: 13\n",
		"log":      "worker 12 error: failed\nworker 13 info: done\n",
		"json":     `{"a": 1}` + "\n",
		"text":     "hello world\n",
		"empty":    "",
		"zeros":    strings.Repeat("\x00", 4096),
		"trace":    "# tracer: nop\n            bash-1234    [001] d..2. 51058.439989: sched_switch: prev_comm=bash prev_pid=1234\n",
		"dmesg":    "[   12.345678] eth0: link up\n[   12.345679] eth1: link up\n",
		"netstat":  "Tcp:\n    12 active connection openings\n    3 passive connection openings\n",
		"vmstat":   "procs -----------memory---------- 12\n r  b   swpd   free   buff 12\n",
		"ffprobe":  "[FRAME]\nmedia_type=video\npts=12\n[/FRAME]\n",
		"sar":      "12:00:01 AM  CPU %user\n12:00:02 AM  all  1.5\n",
		"pcap":     "\xd4\xc3\xb2\xa1\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"numbered": "1: a 12\n2: b 13\n",
	} {
		for _, f := range Formats {
			if f.Sniff([]byte(head)) {
				t.Errorf("%s is taken for %s", name, f.Name)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{headOf + script, "a;b 12\na;c 3\n", "a 1/1 5.1: 300 page-faults:u: \n\t401000 f+0x1 (/x)\n", "a 1 \n\t401000 f\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := &sink{}
		c := parseComments(text, time.UTC)
		c.place(firstTime(text), timeAtEnd(text), time.Unix(1_700_000_000, 0))
		l := newLines(newTally(s), 0, c.hz)
		chunk := reader.Chunk{Data: text, Last: true, Cut: true}
		l.take(divide(chunk, nil))
		l.close()
		l.end()
		o := &folding{tally: newTally(s), byName: map[string]int32{}}
		o.take(chunk)
		o.end()
		if p, err := parsePprof(text); err == nil {
			n := newTally(s)
			n.pprof(p, 0, map[offKey]*recording.OffCPU{})
			n.end()
		}
		graph := &speedscope{tally: newTally(s)}
		if graph.names(bytes.NewReader(text)) == nil {
			_ = graph.samplesOf(bytes.NewReader(text))
			graph.end()
		}
		if names, err := pprofNames(bytes.NewReader(text)); err == nil {
			_ = pprofSamples(bytes.NewReader(text), names, func(*profile.Profile) {})
		}
		for _, row := range s.OnCPU {
			if row.N == 0 || row.Weight < 0 || row.Hz < 0 {
				t.Fatalf("%+v", row)
			}
		}
		for _, row := range s.Stacks {
			if len(row.Frames) == 0 || row.Objects != nil && len(row.Objects) != len(row.Frames) || row.Kernel > len(row.Frames) {
				t.Fatalf("%+v", row)
			}
		}
	})
}
