package main

import (
	"bufio"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// answer is what a tool says of one time.
type answer struct {
	figures figures
	harm    []string // its sentences on who was affected
	causes  []string // those on a cause: an alarm, or a culprit of a verdict
}

// figures are means over that time, by name.
type figures map[string]float64

func (f figures) add(name, word string) {
	if v, err := strconv.ParseFloat(word, 64); err == nil {
		f[name] += v
	}
}

func (f figures) over(n float64) {
	for name := range f {
		f[name] /= max(n, 1)
	}
}

// readers of what the tools print.
var readers = map[string]func([]section, span) (answer, error){
	"snag": readVerdict, "below": readBelow, "atop": readAtop, "sysstat": readSadf, "netdata": readNetdata, "node_exporter": readPrometheus, "perf": readPerf,
	"tshark": readCapture, "ig": readGadgets,
}

// readAnswers reads the kept texts of one tool about one incident.
func readAnswers(dir, tool string, e event) (before, during answer, err error) {
	read := func(name string, s span) (a answer, err error) {
		text, err := readText(filepath.Join(dir, tool+"."+name+".gz"))
		if err != nil {
			return a, err
		}
		a, err = readers[tool](splitSections(text), s)
		if err == nil && len(a.figures) == 0 && tool != "snag" { // of snag the verdict is read, not the figures
			err = fmt.Errorf("it printed no figures of the time %s the fault", name)
		}
		return a, err
	}
	if before, err = read("before", e.Before); err == nil {
		during, err = read("during", e.During)
	}
	return before, during, err
}

// readSadf reads "host, interval, time, device, figure, value".
func readSadf(all []section, _ span) (a answer, err error) {
	a.figures = figures{}
	n := map[string]float64{}
	for s := bufio.NewScanner(strings.NewReader(all[0].output)); s.Scan(); {
		w := strings.Split(s.Text(), "\t")
		if len(w) != 6 {
			continue
		}
		name := strings.TrimPrefix(w[3]+" "+w[4], "- ")
		a.figures.add(name, w[5])
		n[name]++
	}
	for name := range a.figures {
		a.figures[name] /= n[name]
	}
	return a, nil
}
