package host

import (
	"fmt"
	"strconv"

	"github.com/prometheus/procfs"

	"snag/probes/probe"
	"snag/recording"
)

// machine measures what is one for the whole machine: CPUs, pressure, the
// softnet queues, open files. Names and units are node_exporter's.
type machine struct {
	env    *probe.Env
	fs     procfs.FS
	labels map[string]recording.Labels // of a CPU and its mode, made once

	cpus, runnable int     // as of the last look
	waitingForDisk int     // tasks
	waited         waiting // CPU pressure
	blocked        waiting // disk pressure
}

// waiting is the share of the last second in which somebody waited for a CPU.
type waiting struct {
	known bool
	at    recording.Time
	total float64 // seconds, running
	share float64
}

// crowdedShare of a second in which a task was ready and had no CPU makes it worth
// a look at who waits. A machine that is half idle shows 0.01 to 0.05.
const crowdedShare = 0.2

// crowded reports whether there is a queue for the CPUs: by the CPU pressure, and
// where the kernel has none by twice as many runnable tasks as CPUs.
func (m *machine) crowded() bool {
	if m.waited.known {
		return m.waited.share >= crowdedShare
	}
	return m.cpus > 0 && m.runnable >= 2*m.cpus
}

func newMachine(env *probe.Env) (*machine, error) {
	fs, err := procfs.NewFS(env.Proc)
	return &machine{env: env, fs: fs, labels: map[string]recording.Labels{}}, err
}

func (m *machine) measure(meter *meter) {
	meter.run("host.cpu", func(t recording.Time) error {
		if err := m.schedstat(t); err != nil {
			meter.note("host.cpu", "the CPUs' run-queue wait was not measured: "+err.Error(), "a kernel with CONFIG_SCHEDSTATS")
		}
		return m.cpu(t)
	})
	meter.run("host.softnet", m.softnet)
	meter.run("host.pressure", m.pressure)
}

func (m *machine) cpuLabels(cpu, mode string) recording.Labels {
	key := cpu + " " + mode
	l := m.labels[key]
	if l == nil {
		l = recording.Labels{"cpu": cpu}
		if mode != "" {
			l["mode"] = mode
		}
		m.labels[key] = l
	}
	return l
}

func (m *machine) cpu(t recording.Time) error {
	stat, err := m.fs.Stat()
	if err != nil {
		return fmt.Errorf("read the CPUs' time: %w", err)
	}
	m.waitingForDisk = int(stat.ProcessesBlocked)
	m.cpus, m.runnable = len(stat.CPU), int(stat.ProcessesRunning)
	for i, c := range stat.CPU {
		cpu := strconv.FormatInt(i, 10)
		for _, mode := range []struct {
			name string
			v    float64
		}{
			{"user", c.User}, {"nice", c.Nice}, {"system", c.System}, {"idle", c.Idle},
			{"iowait", c.Iowait}, {"irq", c.IRQ}, {"softirq", c.SoftIRQ}, {"steal", c.Steal},
		} {
			m.env.Sink.Sample(t, "node_cpu_seconds_total", m.cpuLabels(cpu, mode.name), mode.v)
		}
	}
	m.env.Sink.Sample(t, "node_context_switches_total", nil, float64(stat.ContextSwitches))
	m.env.Sink.Sample(t, "node_intr_total", nil, float64(stat.IRQTotal))
	m.env.Sink.Sample(t, "node_forks_total", nil, float64(stat.ProcessCreated))
	m.env.Sink.Sample(t, "node_procs_running", nil, float64(stat.ProcessesRunning))
	m.env.Sink.Sample(t, "node_procs_blocked", nil, float64(stat.ProcessesBlocked))
	load, err := m.fs.LoadAvg()
	if err != nil {
		return fmt.Errorf("read the load: %w", err)
	}
	m.env.Sink.Sample(t, "node_load1", nil, load.Load1)
	return nil
}

func (m *machine) schedstat(t recording.Time) error {
	stats, err := m.fs.Schedstat()
	if err != nil {
		return err
	}
	for _, c := range stats.CPUs {
		m.env.Sink.Sample(t, "node_schedstat_waiting_seconds_total", m.cpuLabels(c.CPUNum, ""), float64(c.WaitingNanoseconds)/1e9)
	}
	return nil
}

func (m *machine) softnet(t recording.Time) error {
	stats, err := m.fs.NetSoftnetStat()
	if err != nil {
		return fmt.Errorf("read the softnet queues: %w", err)
	}
	for _, s := range stats {
		l := m.cpuLabels(strconv.FormatUint(uint64(s.Index), 10), "")
		m.env.Sink.Sample(t, "node_softnet_processed_total", l, float64(s.Processed))
		m.env.Sink.Sample(t, "node_softnet_dropped_total", l, float64(s.Dropped))
		m.env.Sink.Sample(t, "node_softnet_times_squeezed_total", l, float64(s.TimeSqueezed))
		m.env.Sink.Sample(t, "node_softnet_received_rps_total", l, float64(s.ReceivedRps))
		m.env.Sink.Sample(t, "node_softnet_flow_limit_count_total", l, float64(s.FlowLimitCount))
	}
	return nil
}

// pressureSeries names the totals of /proc/pressure; "full" of cpu is 0 at the
// machine's level by definition (kernel Documentation/accounting/psi.rst).
var pressureSeries = []struct{ resource, some, full string }{
	{"cpu", "node_pressure_cpu_waiting_seconds_total", ""},
	{"io", "node_pressure_io_waiting_seconds_total", "node_pressure_io_stalled_seconds_total"},
	{"memory", "node_pressure_memory_waiting_seconds_total", "node_pressure_memory_stalled_seconds_total"},
}

func (m *machine) pressure(t recording.Time) error {
	for _, s := range pressureSeries {
		stats, err := m.fs.PSIStatsForResource(s.resource)
		if err != nil {
			return &probe.Unavailable{
				Why:  fmt.Sprintf("read the %s pressure: %v", s.resource, err),
				Cure: "a kernel with CONFIG_PSI; where it is built in but off, boot with psi=1",
			}
		}
		if stats.Some != nil {
			switch s.resource {
			case "cpu":
				m.waited.add(t, float64(stats.Some.Total)/1e6)
			case "io":
				m.blocked.add(t, float64(stats.Some.Total)/1e6)
			}
			m.env.Sink.Sample(t, s.some, nil, float64(stats.Some.Total)/1e6)
		}
		if stats.Full != nil && s.full != "" {
			m.env.Sink.Sample(t, s.full, nil, float64(stats.Full.Total)/1e6)
		}
	}
	return nil
}

// blockedShare of a second in which a task waited for a disk makes it worth a
// look at whose it was. An idle machine shows 0, one that logs 0.01.
const blockedShare = 0.1

// stuck reports whether somebody waits for disks; where the kernel has no pressure,
// whether a task is blocked now.
func (m *machine) stuck() bool {
	if m.blocked.known {
		return m.blocked.share >= blockedShare
	}
	return m.waitingForDisk > 0
}

func (w *waiting) add(t recording.Time, total float64) {
	if d := t.Sub(w.at).Seconds(); w.at != 0 && d > 0 {
		w.known, w.share = true, (total-w.total)/d
	}
	w.at, w.total = t, total
}
