package main

import (
	"context"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/otlp"
	"snag/internal/post"
	"snag/recorder"
	"snag/recording"
	"snag/report"
	"snag/scene"
	"snag/verdict"
)

// otlpFlags are --otlp and its headers.
type otlpFlags struct {
	endpoint string
	headers  []string
	client   *otlp.Client // nil: nothing is sent
}

func (f *otlpFlags) register(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&f.endpoint, "otlp", "", "also send "+what+" to this OTLP/HTTP endpoint, as http://127.0.0.1:4318")
	cmd.Flags().StringArrayVar(&f.headers, "otlp-header", nil, "a header for --otlp, as 'X-Scope-OrgID: a', or @FILE, which has one in each line and keeps secrets out of the process list; may be given more than once")
}

// check makes the client: once, as a file of headers may be unreadable after the privileges were given up.
func (f *otlpFlags) check() error {
	if f == nil || f.client != nil {
		return nil
	}
	if f.endpoint == "" {
		if len(f.headers) > 0 {
			return cli.Usage("--otlp-header: with --otlp")
		}
		return nil
	}
	headers, err := post.Headers(f.headers)
	if err != nil {
		return cli.Usage("--otlp-header: %v", err)
	}
	if f.client, err = otlp.New(f.endpoint, headers); err != nil {
		return cli.Usage("--otlp: %v", err)
	}
	return nil
}

// otlpResource is who sends, with the names of OpenTelemetry's semantic conventions. host is the host that the records
// are of; "" if it is not known.
func otlpResource(host string) otlp.Resource {
	r := otlp.Resource{Version: cli.Version, Attrs: []otlp.Attr{otlp.Str("service.name", "snag"), otlp.Str("service.version", cli.Version)}}
	if host != "" {
		r.Attrs = append(r.Attrs, otlp.Str("host.name", host))
	}
	return r
}

// thisHost is the resource of a recorder, which runs on the host that it records.
func thisHost() otlp.Resource {
	host, _ := os.Hostname() // a host without a name is still a host
	r := otlpResource(host)
	r.Attrs = append(r.Attrs, otlp.Str("host.arch", runtime.GOARCH), otlp.Str("os.type", "linux"))
	return r
}

// sendVerdict sends a verdict as one log record.
func (f *otlpFlags) sendVerdict(ctx context.Context, v *verdict.Verdict) error {
	if f == nil || f.client == nil {
		return nil
	}
	m := v.Recording.Manifest
	r := otlpResource(m.Host)
	if len(m.Files) == 0 { // else others wrote them, where nobody knows
		r.Attrs = append(r.Attrs, otlp.Str("os.type", "linux"))
	}
	return f.client.Logs(ctx, r, []otlp.Log{verdictLog(v, time.Now())})
}

// severities of what an answer of snag find says.
var severities = map[verdict.Standing]otlp.Severity{verdict.Found: otlp.Error, verdict.Well: otlp.Info}

// verdictLog is a verdict as a log record: of its first culprit or, without one, its first symptom.
func verdictLog(v *verdict.Verdict, now time.Time) otlp.Log {
	standing := v.Standing()
	l := otlp.Log{
		Time: v.Recording.Manifest.End.Wall(), Observed: now, Severity: severities[standing], Event: "snag.verdict",
		Attrs: []otlp.Attr{otlp.Str("snag.standing", string(standing)), otlp.Str("snag.recording", v.Recording.Dir)},
	}
	if l.Severity == 0 {
		l.Severity = otlp.Warn
	}
	culprits := v.Here(verdict.Culprit)
	symptoms := slices.DeleteFunc(slices.Clone(v.Symptoms), func(s scene.Symptom) bool { return s.Elsewhere })
	switch {
	case len(culprits) > 0:
		e := culprits[0]
		l.Body = report.Sentence(e.Suspect.Title + ", " + e.Subject.Name + ": " + e.Text)
		l.Attrs = append(l.Attrs, otlp.Str("snag.suspect", e.Suspect.Name), otlp.Str("snag.subject", e.Subject.Name), otlp.Double("snag.confidence", e.Confidence))
		if e.Harm.Amount > 0 {
			l.Attrs = append(l.Attrs, otlp.Str("snag.harm", e.Harm.Text))
		}
		l.Attrs = append(l.Attrs, subjectAttrs(e.Subject)...)
	case len(symptoms) > 0:
		s := symptoms[0]
		l.Body = report.Sentence("no culprit is proved; " + s.Subject.Name + ": " + s.Text)
		l.Attrs = append(l.Attrs, otlp.Str("snag.symptom", s.Name), otlp.Str("snag.subject", s.Subject.Name), otlp.Str("snag.harm", s.Text))
		l.Attrs = append(l.Attrs, subjectAttrs(s.Subject)...)
	case standing == verdict.Well:
		l.Body = "nothing is wrong"
	default:
		why, _ := v.Why()
		l.Body = report.Sentence("no culprit is named (" + string(standing) + "): " + why)
	}
	return l
}

// subjectAttrs are the parts of a subject for which OpenTelemetry has names.
func subjectAttrs(s recording.Subject) (out []otlp.Attr) {
	if s.PID != 0 {
		out = append(out, otlp.Int("process.pid", int64(s.PID)))
	}
	switch {
	case s.Device == "":
	case s.Kind == recording.KindDisk:
		out = append(out, otlp.Str("system.device", s.Device))
	case s.Kind == recording.KindInterface || s.Kind == recording.KindQdisc:
		out = append(out, otlp.Str("network.interface.name", s.Device))
	}
	return out
}

// incidentLog is the begin or the end of an incident as a log record. Its body is the line of the journal.
func incidentLog(i recorder.Incident, what, recording string, now time.Time) otlp.Log {
	l := otlp.Log{
		Time: i.Start, Observed: now, Severity: otlp.Error, Event: "snag.incident." + what, Body: report.Sentence(line(i, what)),
		Attrs: []otlp.Attr{otlp.Int("snag.incident.id", int64(i.ID)), otlp.Str("snag.standing", i.Standing), otlp.Str("snag.recording", recording)},
	}
	switch {
	case what == recorder.Ends:
		l.Time, l.Severity = i.End, otlp.Info
		l.Attrs = append(l.Attrs, otlp.Double("snag.incident.duration", i.End.Sub(i.Start).Seconds()))
	case !i.Hurt: // a rule of --when holds, and nobody is affected
		l.Severity = otlp.Warn
	}
	if i.Noticed != "" {
		l.Attrs = append(l.Attrs, otlp.Str("snag.noticed", i.Noticed))
	}
	switch {
	case len(i.Culprits) > 0:
		c := i.Culprits[0]
		l.Attrs = append(l.Attrs, otlp.Str("snag.suspect", c.Name), otlp.Str("snag.subject", c.Subject))
		if c.Harm != "" {
			l.Attrs = append(l.Attrs, otlp.Str("snag.harm", c.Harm))
		}
	case len(i.Symptoms) > 0:
		s := i.Symptoms[0]
		l.Attrs = append(l.Attrs, otlp.Str("snag.symptom", s.Name), otlp.Str("snag.subject", s.Subject), otlp.Str("snag.harm", s.Text))
	}
	return l
}
