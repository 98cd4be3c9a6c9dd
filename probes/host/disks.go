package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"snag/probes/probe"
	"snag/recording"
)

// mostDisks bounds the disks that are recorded: a storage host has thousands of
// multipath members.
const mostDisks = 128

// disks measures the block devices that did anything since the machine was
// started; a disk that begins to brings its zeros with it.
type disks struct {
	env   *probe.Env
	meter *meter
	mem   *memory // its buffer
	seen  map[string]recording.Labels
	idle  map[string]recording.Time // when a disk that did nothing yet was last seen
}

func newDisks(env *probe.Env, m *meter, mem *memory) *disks {
	return &disks{env: env, meter: m, mem: mem, seen: map[string]recording.Labels{}, idle: map[string]recording.Time{}}
}

func (d *disks) measure() {
	d.meter.run("host.disks", func(t recording.Time) error {
		path := d.env.Proc + "/diskstats"
		data, err := d.mem.read(path)
		if err != nil {
			return fmt.Errorf("read the disks' counters: %w", err)
		}
		d.mem.understood("host.disks", path, parseDiskstats(data, func(name []byte, s diskStat) { d.one(t, name, s) }))
		return nil
	})
}

func (d *disks) one(t recording.Time, name []byte, s diskStat) {
	seen := d.seen[string(name)]
	if seen == nil {
		if s.Reads+s.Writes+s.Flushes+s.Now == 0 {
			d.idle[string(name)] = t
			return
		}
		if len(d.seen) >= mostDisks {
			d.meter.note("host.disks", fmt.Sprintf("only the first %d disks with traffic were measured", mostDisks), "")
			return
		}
		seen = recording.Labels{"device": string(name)}
		d.seen[string(name)] = seen
		d.scheduler(t, string(name))
		if before, ok := d.idle[string(name)]; ok {
			d.write(before, seen, diskStat{HasFlushes: s.HasFlushes})
			delete(d.idle, string(name))
		}
	}
	d.write(t, seen, s)
}

func (d *disks) write(t recording.Time, l recording.Labels, s diskStat) {
	for _, one := range []struct {
		name string
		v    float64
	}{
		{"node_disk_reads_completed_total", s.Reads}, {"node_disk_read_bytes_total", s.ReadBytes},
		{"node_disk_read_time_seconds_total", s.ReadTime},
		{"node_disk_writes_completed_total", s.Writes}, {"node_disk_written_bytes_total", s.WriteBytes},
		{"node_disk_write_time_seconds_total", s.WriteTime},
		{"node_disk_io_now", s.Now}, {"node_disk_io_time_seconds_total", s.IOTime},
		{"node_disk_io_time_weighted_seconds_total", s.Weighted},
	} {
		d.env.Sink.Sample(t, one.name, l, one.v)
	}
	if s.HasFlushes {
		d.env.Sink.Sample(t, "node_disk_flush_requests_total", l, s.Flushes)
		d.env.Sink.Sample(t, "node_disk_flush_requests_time_seconds_total", l, s.FlushTime)
	}
}

// scheduler writes which I/O scheduler a disk has, of which it depends whether priorities (ionice) have an
// effect. A partition has none of its own.
func (d *disks) scheduler(t recording.Time, name string) {
	path := filepath.Join(d.env.Sys, "block", name, "queue/scheduler")
	data, err := os.ReadFile(path)
	if err != nil {
		return
	}
	if chosen := chosenScheduler(string(data)); chosen != "" {
		d.env.Sink.Append(recording.Fact{T: t, Name: "disk." + name + ".scheduler", Value: chosen, Source: path})
	}
}

// chosenScheduler is the one in brackets of "none [mq-deadline] kyber"; where there is no choice, the only word.
func chosenScheduler(text string) string {
	if _, rest, ok := strings.Cut(text, "["); ok {
		chosen, _, _ := strings.Cut(rest, "]")
		return chosen
	}
	words := strings.Fields(text)
	if len(words) != 1 {
		return ""
	}
	return words[0]
}
