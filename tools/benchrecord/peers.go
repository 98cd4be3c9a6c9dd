package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"snag/tools/benchhost"
)

// Where the services listen, in the namespace of the benchmark.
const (
	netdataAt    = "127.0.0.1:19999"
	exporterAt   = "127.0.0.1:9100"
	prometheusAt = "127.0.0.1:9090"
)

// makers of all configurations, snag's first: the ratios are beside it. Each is what the
// tool's own service file or Debian's package runs, and the same at 1 s where that differs.
func makers(o *options) []maker {
	return []maker{
		snagRecord(o),
		below(o, 5*time.Second), below(o, time.Second),
		atop(o), sysstat(o), netdata(o),
		exporter(o, 15*time.Second), exporter(o, time.Second),
		perf(time.Minute),
	}
}

// finest are those that record beside each other while incidents are made.
func finest(o *options) []maker {
	return []maker{snagRecord(o), below(o, time.Second), atop(o), sysstat(o), netdata(o), exporter(o, time.Second), perf(10 * time.Second), capture(), inspektorGadget(o)}
}

func snagRecord(o *options) maker {
	return func(dir string) recorder {
		return recorder{
			name: "snag record, 1 s", tool: "snag", interval: time.Second, disk: pieces{filepath.Join(dir, "ring", "*-1s.snag"), time.Minute},
			programs: []program{{name: "snag", argv: []string{o.snag, "record", "--ring", filepath.Join(dir, "ring")}, stop: syscall.SIGTERM}},
			note:     "reduced to 10 s after one hour and to 60 s after six",
		}
	}
}

// below as etc/below.service of its source runs it. The root is where version 2 of control
// groups is mounted, which its manual names for hosts that have version 1 as well.
func below(o *options, interval time.Duration) maker {
	return func(dir string) recorder {
		root, _ := benchhost.UnifiedRoot()
		return recorder{
			name: "below, " + short(interval), tool: "below", interval: interval, disk: grown{[]string{"store"}},
			files: map[string]string{"below.conf": fmt.Sprintf("log_dir = %q\nstore_dir = %q\ncgroup_root = %q\n", dir, filepath.Join(dir, "store"), root)},
			programs: []program{{name: "below", stop: syscall.SIGINT, argv: []string{filepath.Join(o.peers, "bin", "below"), "--config", filepath.Join(dir, "below.conf"),
				"record", "--retain-for-s", "604800", "--compress", "--interval-s", fmt.Sprint(interval.Seconds())}}},
		}
	}
}

func atop(o *options) maker {
	return func(dir string) recorder {
		return recorder{
			name: "atop, 1 s", tool: "atop", interval: time.Second, usual: 600 * time.Second, disk: grown{[]string{"atop.raw"}},
			programs: []program{{name: "atop", stop: syscall.SIGTERM, argv: []string{debian(o, "usr/bin/atop"), "-w", filepath.Join(dir, "atop.raw"), "1"}}},
			note:     "without atopacctd; atop itself turns process accounting on",
		}
	}
}

func sysstat(o *options) maker {
	return func(dir string) recorder {
		return recorder{
			name: "sysstat, 1 s", tool: "sysstat", interval: time.Second, usual: 600 * time.Second, disk: grown{[]string{"sa"}},
			programs: []program{{name: "sadc", stop: syscall.SIGINT, argv: []string{debian(o, "usr/lib/sysstat/sadc"), "-S", "DISK", "1", filepath.Join(dir, "sa")}}},
		}
	}
}

func netdata(o *options) maker {
	return func(dir string) recorder {
		conf := fmt.Sprintf(`[global]
	run as user = root
[directories]
	config = %[1]s
	stock config = %[2]s/usr/lib/netdata/conf.d
	log = %[1]s/log
	web = %[1]s
	cache = %[1]s/cache
	lib = %[1]s/lib
	plugins = %[2]s/usr/lib/netdata/plugins.d
	health config = %[1]s/health.d
	stock health config = %[2]s/usr/lib/netdata/conf.d/health.d
[web]
	bind to = %[3]s
`, dir, debian(o, ""), netdataAt)
		return recorder{
			name: "netdata, 1 s", tool: "netdata", interval: time.Second, disk: atEnd{[]string{"cache/dbengine", "cache/dbengine-tier1", "cache/dbengine-tier2"}},
			// Alarms are kept in its log; nobody is mailed.
			files: map[string]string{"netdata.conf": conf, "log/x": "", "cache/x": "", "lib/x": "", ".opt-out-from-anonymous-statistics": "",
				"health_alarm_notify.conf": "SEND_EMAIL=\"NO\"\n"},
			programs: []program{{name: "netdata", stop: syscall.SIGTERM, argv: []string{debian(o, "usr/sbin/netdata"), "-D", "-c", filepath.Join(dir, "netdata.conf")}}},
			note:     "disk: at most, as its pages were written before they were full",
		}
	}
}

func exporter(o *options, every time.Duration) maker {
	return func(dir string) recorder {
		conf := fmt.Sprintf("global:\n  scrape_interval: %[1]s\n  scrape_timeout: %[1]s\nscrape_configs:\n- job_name: node\n  static_configs:\n  - targets: [%[2]q]\n", every, exporterAt)
		return recorder{
			name: "node_exporter and Prometheus, " + short(every), tool: "node_exporter", interval: every, disk: grown{[]string{"data/wal"}},
			files: map[string]string{"prometheus.yml": conf},
			programs: []program{
				{name: "node_exporter", stop: syscall.SIGTERM, argv: []string{debian(o, "usr/bin/prometheus-node-exporter"), "--web.listen-address", exporterAt}},
				{name: "prometheus", stop: syscall.SIGTERM, argv: []string{"prometheus", "--config.file", filepath.Join(dir, "prometheus.yml"),
					"--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", prometheusAt}},
			},
			note: "disk: the write-ahead log, which becomes smaller blocks after two hours",
		}
	}
}

// perf stands in for a continuous profiler: 19 Hz is what parca-agent samples at. It begins
// a new file after that time, so that a moment can be asked for.
func perf(file time.Duration) maker {
	return func(dir string) recorder {
		return recorder{
			name: "perf record, 19 Hz", tool: "perf", disk: grown{[]string{"perf"}}, files: map[string]string{"perf/x": ""},
			programs: []program{{name: "perf", stop: syscall.SIGINT, argv: []string{"perf", "record", "-q", "-F", "19", "-a", "-g", fmt.Sprintf("--switch-output=%.0fs", file.Seconds()), "--switch-max-files=8640",
				"-o", filepath.Join(dir, "perf", "data")}}},
			note: "in place of a continuous profiler; samples are taken in the time of the processes that are sampled",
		}
	}
}

func debian(o *options, path string) string { return filepath.Join(o.peers, "debian", path) }

// short is an interval as it is written in the table.
func short(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// lacking is why a recorder can't be run, "" for one that can.
func lacking(r recorder) string {
	for _, p := range r.programs {
		if _, err := exec.LookPath(p.argv[0]); err != nil {
			return err.Error()
		}
	}
	return ""
}
