package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"snag/internal/procfile"
	"snag/probes/probe"
	"snag/recording"
)

// memory measures the machine's memory: how much of it there is, what the kernel
// had to do for it, and how broken up it is, by zone and by node. Names and units
// are node_exporter's.
type memory struct {
	env    *probe.Env
	meter  *meter
	file   []byte
	names  map[string]string           // of a field: its series' name, "" where it is not recorded
	labels map[string]recording.Labels // made once
	told   map[string]string           // settings
	nodes  []string                    // folders of the nodes; nil until they were listed
}

func newMemory(env *probe.Env, m *meter) *memory {
	return &memory{env: env, meter: m, file: make([]byte, 1<<16), names: map[string]string{}, labels: map[string]recording.Labels{}, told: map[string]string{}}
}

// measure reads what is small each second, rows what is by zone and node every
// fifth, and zoneinfo, which has a page set for every CPU of every zone, seldom.
func (m *memory) measure(rows, slow bool) {
	m.meter.run("host.memory", func(t recording.Time) error {
		if slow {
			m.settings(t)
		}
		if err := m.meminfo(t); err != nil {
			return err
		}
		return m.vmstat(t)
	})
	if !rows {
		return
	}
	m.meter.run("host.zones", func(t recording.Time) error {
		if err := m.buddyinfo(t); err != nil {
			return err
		}
		if slow {
			return m.zoneinfo(t)
		}
		return nil
	})
	m.meter.run("host.numa", m.numa)
}

// settings are how the memory is set. A kernel that has not one of them leaves no
// fact of it.
func (m *memory) settings(t recording.Time) {
	for _, name := range procfile.MemorySettings {
		path := m.env.Proc + "/sys/" + strings.ReplaceAll(name, ".", "/")
		if rest, ok := strings.CutPrefix(name, "transparent_hugepage."); ok {
			path = filepath.Join(m.env.Sys, "kernel/mm/transparent_hugepage", rest)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		value := strings.Join(strings.Fields(string(data)), " ")
		if m.told[name] != value {
			m.told[name] = value
			m.env.Sink.Append(recording.Fact{T: t, Name: name, Value: value, Source: path})
		}
	}
	if data, err := m.read(m.env.Proc + "/swaps"); err == nil {
		if value := procfile.Swaps(data); value != m.told["swaps"] {
			m.told["swaps"] = value
			m.env.Sink.Append(recording.Fact{T: t, Name: "swaps", Value: value, Source: m.env.Proc + "/swaps"})
		}
	}
}

// read reads a whole file into the buffer, which grows with it.
func (m *memory) read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n := 0
	for {
		if n == len(m.file) {
			m.file = append(m.file, make([]byte, len(m.file))...)
		}
		got, err := f.Read(m.file[n:])
		n += got
		if got == 0 || err != nil {
			break
		}
	}
	return m.file[:n], nil
}

func (m *memory) understood(measure, path string, bad int) {
	if bad > 0 {
		m.meter.note(measure, fmt.Sprintf("%s: %d lines were not understood", path, bad), "")
	}
}

func (m *memory) meminfo(t recording.Time) error {
	path := m.env.Proc + "/meminfo"
	data, err := m.read(path)
	if err != nil {
		return fmt.Errorf("read the memory's use: %w", err)
	}
	m.understood("host.memory", path, procfile.Meminfo(data, func(name []byte, v float64) {
		if series := m.name("meminfo ", name, procfile.MeminfoName); series != "" {
			m.env.Sink.Sample(t, series, nil, v)
		}
	}))
	return nil
}

func (m *memory) vmstat(t recording.Time) error {
	path := m.env.Proc + "/vmstat"
	data, err := m.read(path)
	if err != nil {
		return fmt.Errorf("read the memory's counters: %w", err)
	}
	m.understood("host.memory", path, procfile.NameValue(data, func(name []byte, v float64) {
		if series := m.name("vmstat ", name, procfile.VmstatName); series != "" {
			m.env.Sink.Sample(t, series, nil, v)
		}
	}))
	return nil
}

func (m *memory) buddyinfo(t recording.Time) error {
	path := m.env.Proc + "/buddyinfo"
	data, err := m.read(path)
	if err != nil {
		return fmt.Errorf("read the free blocks: %w", err)
	}
	m.understood("host.zones", path, procfile.Buddyinfo(data, func(node, zone []byte, order int, blocks float64) {
		l := m.label(fmt.Sprintf("buddy %s %s %d", node, zone, order), func() recording.Labels {
			return recording.Labels{"node": string(node), "zone": string(zone), "size": strconv.Itoa(order)}
		})
		m.env.Sink.Sample(t, "node_buddyinfo_blocks", l, blocks)
	}))
	return nil
}

func (m *memory) zoneinfo(t recording.Time) error {
	path := m.env.Proc + "/zoneinfo"
	data, err := m.read(path)
	if err != nil {
		return fmt.Errorf("read the zones' watermarks: %w", err)
	}
	m.understood("host.zones", path, procfile.Zoneinfo(data, func(node, zone, name []byte, v float64) {
		l := m.label(fmt.Sprintf("zone %s %s", node, zone), func() recording.Labels {
			return recording.Labels{"node": string(node), "zone": string(zone)}
		})
		series := "node_zoneinfo_" + string(name) + "_pages"
		if string(name) == "free" {
			series = "node_zoneinfo_nr_free_pages"
		}
		m.env.Sink.Sample(t, series, l, v)
	}))
	return nil
}

// numa reads the nodes' files. A host of one node has them as well: their silence
// is what clears the suspect.
func (m *memory) numa(t recording.Time) error {
	if m.nodes == nil {
		m.nodes, _ = filepath.Glob(filepath.Join(m.env.Sys, "devices/system/node/node[0-9]*")) // the pattern is good
	}
	if len(m.nodes) == 0 {
		return &probe.Unavailable{Why: "no nodes below " + filepath.Join(m.env.Sys, "devices/system/node"), Cure: "a kernel with CONFIG_NUMA"}
	}
	for _, dir := range m.nodes {
		node := strings.TrimPrefix(filepath.Base(dir), "node")
		l := m.label("node "+node, func() recording.Labels { return recording.Labels{"node": node} })
		for _, f := range []struct {
			name  string
			parse func([]byte, procfile.ValueFunc) int
			as    func(string) string
		}{{"meminfo", procfile.Meminfo, procfile.NodeMeminfoName}, {"numastat", procfile.NameValue, procfile.NumastatName}} {
			path := filepath.Join(dir, f.name)
			data, err := m.read(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // the node went offline
			}
			if err != nil {
				return fmt.Errorf("read the memory of node %s: %w", node, err)
			}
			m.understood("host.numa", path, f.parse(data, func(name []byte, v float64) {
				if series := m.name(f.name+" node ", name, f.as); series != "" {
					m.env.Sink.Sample(t, series, l, v)
				}
			}))
		}
	}
	return nil
}

// name returns the series' name of a field, made once.
func (m *memory) name(file string, field []byte, as func(string) string) string {
	series, ok := m.names[file+string(field)]
	if !ok {
		series = as(string(field))
		m.names[file+string(field)] = series
	}
	return series
}

func (m *memory) label(key string, make func() recording.Labels) recording.Labels {
	l := m.labels[key]
	if l == nil {
		l = make()
		m.labels[key] = l
	}
	return l
}
