package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/spf13/cobra"

	"snag/fleet/remotewrite"
	"snag/internal/cli"
	"snag/internal/post"
	"snag/internal/shown"
	"snag/recorder"
	"snag/recording"
)

// writeFlags are --remote-write and what belongs to it.
type writeFlags struct {
	url, relabel    string
	headers, labels []string
	series          int
	sender          *remotewrite.Sender // nil: nothing is sent
}

func (f *writeFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.url, "remote-write", "", "also send what is measured to this Prometheus remote-write URL, as http://127.0.0.1:9090/api/v1/write")
	flags.StringArrayVar(&f.headers, "remote-write-header", nil, "a header for --remote-write, as 'X-Scope-OrgID: a', or @FILE, which has one in each line and keeps secrets out of the process list; may be given more than once")
	flags.StringArrayVar(&f.labels, "remote-write-label", nil, "a label of every series, as role=edge; instance is this host's name and job is snag, unless they are given; may be given more than once")
	flags.StringVar(&f.relabel, "remote-write-relabel", "", "a file with a list of Prometheus relabel_config, which is applied to every series")
	flags.IntVar(&f.series, "remote-write-series", remotewrite.DefaultSeries, "the most series that are sent; what is left out is named")
}

// check makes the sender; h is what it sends of the recorder itself.
func (f *writeFlags) check(ring string, h *recorder.Health, note func(string)) error {
	if f.url == "" {
		if len(f.headers) > 0 || len(f.labels) > 0 || f.relabel != "" {
			return cli.Usage("--remote-write-header, --remote-write-label, --remote-write-relabel: with --remote-write")
		}
		return nil
	}
	if f.series < 100 {
		return cli.Usage("--remote-write-series %d: from 100 on", f.series)
	}
	headers, err := post.Headers(f.headers)
	if err != nil {
		return cli.Usage("--remote-write-header: %v", err)
	}
	o := remotewrite.Options{
		URL: f.url, Client: post.New(headers), Every: remotewrite.DefaultEvery, Series: f.series,
		Dir: filepath.Join(ring, "outbox"), Size: remotewrite.DefaultSize, Note: note,
	}
	if o.Labels, err = f.ownLabels(); err != nil {
		return err
	}
	if f.relabel != "" {
		if o.Relabel, err = remotewrite.Relabelling(f.relabel); err != nil {
			return err
		}
	}
	behind := newForwarding()
	o.More = func() []remotewrite.Measured {
		now := h.Now()
		return slices.Concat(behind.series(time.Now(), note), asSeries(recorderMetrics(now, f.counted())), incidentSeries(now.Incident), addressSeries(net.InterfaceAddrs))
	}
	if f.sender, err = remotewrite.New(o); err != nil {
		return cli.Usage("--remote-write: %v", err)
	}
	return nil
}

func (f *writeFlags) ownLabels() (map[string]string, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	all := map[string]string{"instance": host, "job": "snag"}
	for _, text := range f.labels {
		name, value, found := strings.Cut(text, "=")
		if !found || value == "" || !model.LegacyValidation.IsValidLabelName(name) || strings.HasPrefix(name, "__") {
			return nil, cli.Usage("--remote-write-label %q: write it as role=edge; a name has letters, digits and _", text)
		}
		all[name] = value
	}
	return all, nil
}

// counted are the counters of the sender; nil without one.
func (f *writeFlags) counted() []measured {
	if f.sender == nil {
		return nil
	}
	c := f.sender.Counts()
	return []measured{
		{name: "snag_remote_write_sent_total", help: "Requests of --remote-write that the store took.", counter: true, value: float64(c.Sent)},
		{name: "snag_remote_write_refused_total", help: "Requests of --remote-write that the store refused for good.", counter: true, value: float64(c.Refused)},
		{name: "snag_remote_write_lost_total", help: "Requests of --remote-write that were removed for want of disk space.", counter: true, value: float64(c.Lost)},
		{name: "snag_remote_write_waiting", help: "Requests of --remote-write that wait on the disk.", value: float64(c.Waiting)},
		{name: "snag_remote_write_names_left_out", help: "Names of series of which some were left out of the last request, as there were too many.", value: float64(c.LeftOut)},
	}
}

func asSeries(all []measured) (out []remotewrite.Measured) {
	for _, m := range all {
		one := remotewrite.Measured{Name: m.name, Value: m.value}
		if m.label != "" {
			one.Labels = recording.Labels{m.label: m.of}
		}
		out = append(out, one)
	}
	return out
}

// Bounds of what says which incident goes on.
const (
	mostCulprits  = 5
	mostSymptoms  = 20
	mostSubject   = 200 // bytes
	mostAddresses = 32
)

// incidentSeries are the incident that goes on: what snag find --fleet follows from host to host. The value of a
// culprit is its place in the verdict.
func incidentSeries(i recorder.Incident) (out []remotewrite.Measured) {
	if i.ID == 0 {
		return nil
	}
	out = append(out, remotewrite.Measured{Name: "snag_incident_begin_timestamp_seconds", Value: float64(i.Start.Unix())})
	for n, c := range i.Culprits[:min(len(i.Culprits), mostCulprits)] {
		labels := recording.Labels{"suspect": c.Name, "subject": cutLabel(c.Subject)}
		if c.Beyond != "" {
			labels["beyond"] = cutLabel(c.Beyond)
		}
		out = append(out, remotewrite.Measured{Name: "snag_incident_culprit", Labels: labels, Value: float64(n + 1)})
	}
	for _, s := range i.Symptoms[:min(len(i.Symptoms), mostSymptoms)] {
		out = append(out, remotewrite.Measured{Name: "snag_incident_symptom", Labels: recording.Labels{"symptom": s.Name, "subject": cutLabel(s.Subject)}, Value: 1})
	}
	return out
}

func cutLabel(text string) string { return shown.Cut(shown.Text(text), mostSubject) }

// addressSeries are the addresses under which other hosts ask this one.
func addressSeries(read func() ([]net.Addr, error)) (out []remotewrite.Measured) {
	all, err := read()
	if err != nil {
		return nil // who asks this host is then not joined with it
	}
	for _, a := range all {
		n, ok := a.(*net.IPNet)
		if ok && n.IP.IsGlobalUnicast() && len(out) < mostAddresses {
			out = append(out, remotewrite.Measured{Name: "snag_host_address", Labels: recording.Labels{"address": n.IP.String()}, Value: 1})
		}
	}
	return out
}

// start sends until ctx ends; end waits for that.
func (f *writeFlags) start(ctx context.Context) (end func()) {
	if f.sender == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.sender.Run(ctx)
	}()
	return func() { <-done }
}
