package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// captureFile is how long a file of the capture is, so that a moment can be asked for.
const captureFile = 5 * time.Second

// capture is dumpcap, which tshark and Wireshark capture with, on the interface to the
// clients. 256 bytes of each packet have its headers and the first line of a request.
func capture() maker {
	return func(dir string) recorder {
		return recorder{
			name: "tshark", tool: "tshark", disk: grown{[]string{"capture"}}, files: map[string]string{"capture/x": ""},
			programs: []program{{name: "dumpcap", stop: syscall.SIGINT, argv: []string{"dumpcap", "-q", "-i", "eth0", "-s", "256",
				"-b", fmt.Sprintf("duration:%.0f", captureFile.Seconds()), "-b", "files:1000", "-w", filepath.Join(dir, "capture", "eth0.pcapng")}}},
		}
	}
}

// captureFields are those that a person adds as columns: who sent the packet to whom, how
// late it acknowledges (tcp.analysis.ack_rtt), how late it answers (http.time), and what
// Wireshark remarks on it.
var captureFields = []string{"frame.time_epoch", "ip.src", "tcp.srcport", "ip.dst", "tcp.dstport", "tcp.analysis.ack_rtt", "http.time", "_ws.expert.message"}

// captureQuestions are the summary of remarks, and the packets with one, with a time to
// acknowledge or to answer.
func captureQuestions(ctx context.Context, dir string, s span) ([][]string, error) {
	files, err := capturesOf(dir, s)
	if err != nil {
		return nil, err
	}
	merged := filepath.Join(dir, fmt.Sprintf("merged-%d.pcapng", s.From.Unix()))
	if _, err := output(ctx, dir, append([]string{"mergecap", "-w", merged}, files...)); err != nil {
		return nil, err
	}
	fields := []string{"tshark", "-n", "-r", merged, "-Y", "tcp.analysis.flags or tcp.flags.reset == 1 or tcp.analysis.ack_rtt or http.time", "-T", "fields"}
	for _, f := range captureFields {
		fields = append(fields, "-e", f)
	}
	return [][]string{{"tshark", "-n", "-r", merged, "-q", "-z", "expert"}, fields}, nil
}

// capturesOf are the files of that time. dumpcap names each after its start:
// eth0_00001_20261129214500.pcapng, in local time.
func capturesOf(dir string, s span) (files []string, err error) {
	all, err := filepath.Glob(filepath.Join(dir, "capture", "eth0_*.pcapng"))
	for _, file := range all {
		words := strings.Split(strings.TrimSuffix(filepath.Base(file), ".pcapng"), "_")
		began, err := time.ParseInLocation("20060102150405", words[len(words)-1], time.Local)
		if err == nil && began.Add(captureFile+time.Second).After(s.From) && began.Before(s.To) {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		err = errors.Join(err, fmt.Errorf("no file of the capture is of the time from %s to %s", clock(s.From), clock(s.To)))
	}
	return files, err
}

// readCapture reads the packets: of each side of a service the mean times in ms, and how
// often Wireshark made each remark in a second.
func readCapture(all []section, s span) (a answer, err error) {
	a.figures = figures{}
	n := map[string]float64{}
	for b := bufio.NewScanner(strings.NewReader(all[len(all)-1].output)); b.Scan(); {
		w := strings.Split(b.Text(), "\t")
		if len(w) != len(captureFields) {
			continue
		}
		at, err := strconv.ParseFloat(w[0], 64)
		if err != nil || at < float64(s.From.Unix()) || at > float64(s.To.Unix()) {
			continue
		}
		who := side(w[1], w[2], w[3], w[4])
		for i, what := range map[int]string{5: " acknowledges after, ms", 6: " answers after, ms"} {
			if v, err := strconv.ParseFloat(w[i], 64); err == nil {
				a.figures[who+what] += 1000 * v
				n[who+what]++
			}
		}
		if w[7] != "" {
			a.figures[who+" remark: "+w[7]] += 1 / s.To.Sub(s.From).Seconds()
		}
	}
	for name, count := range n {
		a.figures[name] /= count
	}
	// The summary has figures too where no packet has: nothing to remark is an answer.
	a.figures["packets with a remark, a second"] += 0
	return a, nil
}

// side is a service by its address, or the clients of one: the lower port is the service's.
func side(from, fromPort, to, toPort string) string {
	f, _ := strconv.Atoi(fromPort)
	t, _ := strconv.Atoi(toPort)
	if f < t {
		return from + ":" + fromPort
	}
	return "clients of " + to + ":" + toPort
}
