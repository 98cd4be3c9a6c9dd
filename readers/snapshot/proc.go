package snapshot

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"snag/internal/procfile"
	"snag/recording"
)

// pairs reads /proc/net/snmp and netstat.
func (l *look) pairs(it item) int {
	return procfile.Pairs(it.data, func(proto, field []byte, v float64) { l.protocol(it.t, string(proto), string(field), v) })
}

func (l *look) snmp6(it item) int {
	return procfile.Lines6(it.data, func(proto, field []byte, v float64) { l.protocol(it.t, string(proto), string(field), v) })
}

// protocol writes one counter as the host probe names it.
func (l *look) protocol(t recording.Time, proto, field string, v float64) {
	key := proto + "_" + field
	if !procfile.Wanted(proto, key) {
		return
	}
	l.seen[proto] = true
	l.counted("host.netstat", t)
	l.out.Sample(t, "node_netstat_"+key, nil, v)
}

func (l *look) sockstat(it item) int {
	l.counted("host.sockstat", it.t)
	return procfile.Sockstat(it.data, func(proto, field []byte, v float64) {
		key := string(proto) + "_" + string(field)
		if procfile.SockstatFields[key] {
			l.out.Sample(it.t, "node_sockstat_"+key, nil, v)
			if string(field) == "mem" {
				l.out.Sample(it.t, "node_sockstat_"+key+"_bytes", nil, v*4096)
			}
		}
	})
}

// softnet reads /proc/net/softnet_stat (kernel net/core/net-procfs.c,
// softnet_seq_show): a line for each CPU, in hexadecimal; the CPU's number is the 13th
// since 5.10, else the line's place.
func (l *look) softnet(it item) (bad int) {
	cpu := 0
	for data := it.data; len(data) > 0; {
		var line []byte
		line, data = procfile.CutLine(data)
		f := bytes.Fields(line)
		if len(f) == 0 {
			continue
		}
		v := make([]float64, len(f))
		ok := len(f) >= 9
		for i := range f {
			n, err := strconv.ParseUint(string(f[i]), 16, 64)
			v[i], ok = float64(n), ok && err == nil
		}
		if !ok {
			bad++
			continue
		}
		if len(v) >= 13 {
			cpu = int(v[12])
		}
		labels := recording.Labels{"cpu": strconv.Itoa(cpu)}
		cpu++
		l.counted("host.softnet", it.t)
		l.out.Sample(it.t, "node_softnet_processed_total", labels, v[0])
		l.out.Sample(it.t, "node_softnet_dropped_total", labels, v[1])
		l.out.Sample(it.t, "node_softnet_times_squeezed_total", labels, v[2])
		if len(v) >= 10 {
			l.out.Sample(it.t, "node_softnet_received_rps_total", labels, v[9])
		}
		if len(v) >= 11 {
			l.out.Sample(it.t, "node_softnet_flow_limit_count_total", labels, v[10])
		}
	}
	return bad
}

// devNames are the columns of /proc/net/dev that are recorded (net/core/net-procfs.c,
// dev_seq_printf_stats): receive first, then transmit.
var devNames = map[int]string{
	0: "node_network_receive_bytes_total", 1: "node_network_receive_packets_total", 2: "node_network_receive_errs_total", 3: "node_network_receive_drop_total",
	8: "node_network_transmit_bytes_total", 9: "node_network_transmit_packets_total", 10: "node_network_transmit_errs_total", 11: "node_network_transmit_drop_total",
}

func (l *look) dev(it item) (bad int) {
	for i, line := range bytes.Split(it.data, []byte("\n")) {
		name, rest, ok := bytes.Cut(line, []byte(":"))
		if i < 2 || len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		f := bytes.Fields(rest)
		if !ok || len(f) < 16 {
			bad++
			continue
		}
		labels := recording.Labels{"device": string(bytes.TrimSpace(name))}
		for column, metric := range devNames {
			if v, ok := procfile.Number(f[column]); ok {
				l.out.Sample(it.t, metric, labels, v)
			}
		}
		l.counted("host.links", it.t)
	}
	return bad
}

func (l *look) meminfo(it item) int {
	return procfile.Meminfo(it.data, func(name []byte, v float64) {
		if series := procfile.MeminfoName(string(name)); series != "" {
			l.out.Sample(it.t, series, nil, v)
		}
	})
}

func (l *look) vmstat(it item) int {
	l.counted("host.memory", it.t)
	return procfile.NameValue(it.data, func(name []byte, v float64) {
		if series := procfile.VmstatName(string(name)); series != "" {
			l.out.Sample(it.t, series, nil, v)
		}
		if string(name) == "numa_miss" {
			l.counted(nodePages, it.t)
		}
	})
}

func (l *look) buddyinfo(it item) int {
	l.settled("host.zones", it.t)
	return procfile.Buddyinfo(it.data, func(node, zone []byte, order int, blocks float64) {
		l.out.Sample(it.t, "node_buddyinfo_blocks", recording.Labels{"node": string(node), "zone": string(zone), "size": strconv.Itoa(order)}, blocks)
	})
}

func (l *look) zoneinfo(it item) int {
	return procfile.Zoneinfo(it.data, func(node, zone, name []byte, v float64) {
		series := "node_zoneinfo_" + string(name) + "_pages"
		if string(name) == "free" {
			series = "node_zoneinfo_nr_free_pages"
		}
		l.out.Sample(it.t, series, recording.Labels{"node": string(node), "zone": string(zone)}, v)
	})
}

// perCPU reads /proc/interrupts and /proc/softirqs.
func (l *look) perCPU(it item) int {
	var bad int
	err := procfile.EachCPU(it.data, func(cpus []int, p procfile.PerCPU) {
		soft := len(p.Rest) == 0 && !strings.ContainsAny(p.Kind, "0123456789") && softirqs[p.Kind]
		info, devices, _ := procfile.Actions(p.Kind, p.Rest)
		for i, v := range p.Values {
			if v == 0 {
				continue // a host has a hundred thousand that never grow
			}
			cpu := strconv.Itoa(cpus[i])
			if soft {
				l.counted("nics.softirqs", it.t)
				l.out.Sample(it.t, "node_softirqs_functions_total", recording.Labels{"cpu": cpu, "type": p.Kind}, float64(v))
				continue
			}
			l.counted("nics.interrupts", it.t)
			l.out.Sample(it.t, "node_interrupts_total", recording.Labels{"cpu": cpu, "type": p.Kind, "info": info, "devices": devices}, float64(v))
		}
	})
	if err != nil {
		bad++
	}
	return bad
}

// softirqs are the kinds of /proc/softirqs (kernel/softirq.c, softirq_to_name).
var softirqs = map[string]bool{"HI": true, "TIMER": true, "NET_TX": true, "NET_RX": true, "BLOCK": true, "IRQ_POLL": true, "TASKLET": true, "SCHED": true, "HRTIMER": true, "RCU": true}

// userHZ is the unit of times in /proc/stat (include/asm-generic/param.h).
const userHZ = 100

var cpuModes = []string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"}

// stat reads /proc/stat (proc_stat(5)).
func (l *look) stat(it item) (bad int) {
	cpus := 0
	for data := it.data; len(data) > 0; {
		var line []byte
		line, data = procfile.CutLine(data)
		name, rest := procfile.CutField(line)
		value, _ := procfile.CutField(rest)
		v, ok := procfile.Number(value)
		switch id, cpu := strings.CutPrefix(string(name), "cpu"); {
		case cpu && id != "":
			cpus++
			l.counted("host.cpu", it.t)
			for i, f := range bytes.Fields(rest) {
				if v, ok := procfile.Number(f); ok && i < len(cpuModes) {
					l.out.Sample(it.t, "node_cpu_seconds_total", recording.Labels{"cpu": id, "mode": cpuModes[i]}, v/userHZ)
				}
			}
		case !ok:
			if len(name) > 0 && !cpu {
				bad++
			}
		case string(name) == "btime":
			l.told.Boot = recording.Time(v * 1e9)
		default:
			if metric := statNames[string(name)]; metric != "" {
				l.out.Sample(it.t, metric, nil, v)
			}
		}
	}
	l.told.Machine.CPUs = max(l.told.Machine.CPUs, cpus)
	return bad
}

var statNames = map[string]string{
	"ctxt": "node_context_switches_total", "intr": "node_intr_total", "processes": "node_forks_total",
	"procs_running": "node_procs_running", "procs_blocked": "node_procs_blocked",
}

func (l *look) loadavg(it item) int {
	first, _ := procfile.CutField(it.data)
	v, err := strconv.ParseFloat(string(first), 64)
	if err != nil {
		return 1
	}
	l.out.Sample(it.t, "node_load1", nil, v)
	return 0
}

var pressureLine = regexp.MustCompile(`(?m)^(some|full) avg10=.* total=(\d+)$`)

var pressureNames = map[string]string{
	"cpu some": "node_pressure_cpu_waiting_seconds_total",
	"io some":  "node_pressure_io_waiting_seconds_total", "io full": "node_pressure_io_stalled_seconds_total",
	"memory some": "node_pressure_memory_waiting_seconds_total", "memory full": "node_pressure_memory_stalled_seconds_total",
}

// pressure reads /proc/pressure/cpu, io or memory: only its name reports which.
func (l *look) pressure(it item) int {
	for _, resource := range []string{"cpu", "io", "memory"} {
		if !nameHas(it.command, resource) {
			continue
		}
		for _, m := range pressureLine.FindAllSubmatch(it.data, 2) {
			if metric := pressureNames[resource+" "+string(m[1])]; metric != "" {
				if v, ok := procfile.Number(m[2]); ok {
					l.counted("host.pressure", it.t)
					l.out.Sample(it.t, metric, nil, v/1e6)
				}
			}
		}
		return 0
	}
	return 1
}
