package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"snag/recorder"
)

// sample is what the recorder used and said at one moment.
type sample struct {
	at                          time.Duration // since it was started
	resident, anonymous         float64       // MB
	cpu                         time.Duration
	ring                        float64 // MB
	live                        float64 // MB that are in use; 0: not said
	lost, judgements, incidents float64
}

// meter reads them of a process.
type meter struct {
	pid     int
	metrics string
}

func (m meter) sample(at time.Duration) (sample, error) {
	s := sample{at: at}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.pid))
	if err != nil {
		return s, err
	}
	s.resident, s.anonymous = kilobytes(string(status), "VmRSS")/1024, kilobytes(string(status), "RssAnon")/1024
	if s.cpu, err = cpuOf(m.pid); err != nil {
		return s, err
	}
	r, err := http.Get(m.metrics)
	if err != nil {
		return s, err
	}
	defer r.Body.Close()
	return s, s.read(r.Body)
}

// read adds up what the metrics say (Prometheus' text format).
func (s *sample) read(metrics io.Reader) error {
	in := bufio.NewScanner(metrics)
	for in.Scan() {
		name, value, _ := strings.Cut(in.Text(), " ")
		name, _, _ = strings.Cut(name, "{")
		if name == "#" {
			continue
		}
		if i := strings.LastIndexByte(value, ' '); i >= 0 { // a label's value has spaces
			value = value[i+1:]
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("read the recorder's metrics: %q", in.Text())
		}
		switch name {
		case "snag_ring_bytes":
			s.ring = v / 1e6
		case "snag_record_live_bytes":
			s.live = v / 1e6
		case "snag_probe_lost_events_total":
			s.lost += v
		case "snag_judgements_total":
			s.judgements = v
		case "snag_incidents_total":
			s.incidents = v
		}
	}
	return in.Err()
}

// kilobytes is a field of /proc/PID/status; 0 if it is not there.
func kilobytes(status, field string) float64 {
	for l := range strings.Lines(status) {
		kib := 0.0
		if n, _ := fmt.Sscanf(l, field+": %f kB", &kib); n == 1 {
			return kib
		}
	}
	return 0
}

// cpuOf is the CPU time of all threads, those that have ended as well. The processes that judge are not
// part of it.
func cpuOf(pid int) (time.Duration, error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	sum := time.Duration(0)
	for _, name := range tasks {
		b, _ := os.ReadFile(name) // a thread may have ended
		var ns int64
		_, _ = fmt.Sscan(string(b), &ns)
		sum += time.Duration(ns)
	}
	return sum, nil
}

// most is the longest gap between two pieces of the ring that is none: where one ends the next begins.
const most = 3 * time.Second

// gapsOf lists the gaps in a ring since a time.
func gapsOf(dir string, since time.Time) (gaps []string, err error) {
	all, err := recorder.Ring{Dir: dir}.Pieces()
	for i := 1; i < len(all); i++ {
		if all[i-1].Start.Wall().Before(since) {
			continue
		}
		if gap := all[i].Start.Sub(all[i-1].End); gap > most {
			gaps = append(gaps, fmt.Sprintf("%s before %s", gap.Round(time.Second), all[i].Name))
		}
	}
	return gaps, err
}
