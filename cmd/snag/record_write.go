package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/spf13/cobra"

	"snag/fleet/remotewrite"
	"snag/internal/cli"
	"snag/internal/post"
	"snag/internal/shown"
	"snag/recorder"
	"snag/recording"
)

// writeFlags are --remote-write, or --influx, and what belongs to it.
type writeFlags struct {
	format          remotewrite.Format
	url, relabel    string
	token           string // of --influx: a file
	headers, labels []string
	series          int
	sender          *remotewrite.Sender // nil: nothing is sent
}

func (f *writeFlags) register(cmd *cobra.Command, format remotewrite.Format, where string) {
	f.format = format
	flags, name := cmd.Flags(), strings.TrimPrefix(format.Flag, "--")
	flags.StringVar(&f.url, name, "", "also send what is measured to "+where)
	flags.StringArrayVar(&f.headers, name+"-header", nil, "a header for "+format.Flag+", as 'X-Scope-OrgID: a', or @FILE, which has one in each line and keeps secrets out of the process list; may be given more than once")
	flags.StringArrayVar(&f.labels, name+"-label", nil, "a label of every series, as role=edge; instance is this host's name and job is snag, unless they are given; may be given more than once")
	flags.StringVar(&f.relabel, name+"-relabel", "", "a file with a list of Prometheus relabel_config, which is applied to every series")
	flags.IntVar(&f.series, name+"-series", remotewrite.DefaultSeries, "the most series that are sent; what is left out is named")
}

// check makes the sender; more is what it sends of the recorder itself.
func (f *writeFlags) check(ring string, more func() []remotewrite.Measured, note func(string)) error {
	flag := f.format.Flag
	if f.url == "" {
		if len(f.headers) > 0 || len(f.labels) > 0 || f.relabel != "" || f.token != "" {
			return cli.Usage("%s-header, %s-label, %s-relabel and the others of that name: with %s", flag, flag, flag, flag)
		}
		return nil
	}
	if f.series < 100 {
		return cli.Usage("%s-series %d: from 100 on", flag, f.series)
	}
	headers, err := f.allHeaders()
	if err != nil {
		return err
	}
	o := remotewrite.Options{
		URL: f.url, Format: f.format, Client: post.New(headers), Every: remotewrite.DefaultEvery, Series: f.series,
		Dir: filepath.Join(ring, outboxes[flag]), Size: remotewrite.DefaultSize, More: more, Note: note,
	}
	if o.Labels, err = f.ownLabels(); err != nil {
		return err
	}
	if f.relabel != "" {
		if o.Relabel, err = remotewrite.Relabelling(f.relabel); err != nil {
			return err
		}
	}
	if f.sender, err = remotewrite.New(o); err != nil {
		return cli.Usage("%s: %v", flag, err)
	}
	return nil
}

// outboxes are the folders of the ring where what is to be sent waits.
var outboxes = map[string]string{remotewrite.RemoteWrite.Flag: "outbox", remotewrite.Influx.Flag: "outbox-influx"}

// allHeaders has the token of a file too.
func (f *writeFlags) allHeaders() (http.Header, error) {
	headers, err := post.Headers(f.headers)
	if err != nil {
		return nil, cli.Usage("%s-header: %v", f.format.Flag, err)
	}
	if f.token == "" {
		return headers, nil
	}
	if headers.Get("Authorization") != "" {
		return nil, cli.Usage("--influx-token: --influx-header has an Authorization already; give one of them")
	}
	token, err := post.Token(f.token)
	if err != nil {
		return nil, err
	}
	headers.Set("Authorization", "Token "+token)
	return headers, nil
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
			return nil, cli.Usage("%s-label %q: write it as role=edge; a name has letters, digits and _", f.format.Flag, text)
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
	c, name, to := f.sender.Counts(), f.format.Prefix, f.format.Flag
	return []measured{
		{name: name + "sent_total", help: "Requests of " + to + " that the store took.", counter: true, value: float64(c.Sent)},
		{name: name + "refused_total", help: "Requests of " + to + " that the store refused for good.", counter: true, value: float64(c.Refused)},
		{name: name + "lost_total", help: "Requests of " + to + " that were removed for want of disk space.", counter: true, value: float64(c.Lost)},
		{name: name + "waiting", help: "Requests of " + to + " that wait on the disk.", value: float64(c.Waiting)},
		{name: name + "names_left_out", help: "Names of series of which some were left out of the last request of " + to + ", as there were too many.", value: float64(c.LeftOut)},
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
