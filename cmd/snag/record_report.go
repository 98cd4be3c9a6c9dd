package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"snag/internal/otlp"
	"snag/internal/units"
	"snag/probes/streams/watch"
	"snag/recorder"
)

// reporter reports incidents: to the journal, a command, a webhook and a collector.
type reporter struct {
	ring    string
	command []string
	webhook *watch.Webhook
	note    func(string)
	limit   recorder.Reports
	now     func() time.Time
	telling sync.WaitGroup
	otlp    *otlp.Sender // nil: none
	endOTLP func(within time.Duration)
}

// end waits for what is being reported.
func (r *reporter) end() {
	r.telling.Wait()
	if r.endOTLP != nil {
		r.endOTLP(otlpLast)
	}
}

// incidentCall is the JSON for the command and the webhook.
type incidentCall struct {
	Event string `json:"event"` // incident-begins, incident-ends
	Host  string `json:"host"`
	recorder.Incident
	Recording string `json:"recording"`
	// NotReported is how many incidents before it were not, as there were too many within an hour.
	NotReported int `json:"not_reported,omitempty"`
}

const tellWithin = 30 * time.Second

// report is called by the recorder and returns at once. Of a fault that comes and goes it reports some incidents an
// hour.
func (r *reporter) report(ctx context.Context, i recorder.Incident, what string) {
	may, left := r.limit.May(r.now(), i.ID, what)
	if !may {
		if what == recorder.Begins && left == 1 {
			r.note(fmt.Sprintf("incident %d begins, and %d were reported within the last hour: until that is over, incidents are kept and not reported (snag incidents)", i.ID, recorder.MostReports))
		}
		return
	}
	if left > 0 {
		r.note(fmt.Sprintf("and %s before incident %d, not reported (snag incidents)", units.Plural(left, "more incident"), i.ID))
	}
	r.note(line(i, what))
	host, _ := os.Hostname() // a host without a name is still a host
	t := incidentCall{Event: "incident-" + what, Host: host, Incident: i, Recording: recorder.Ring{Dir: r.ring}.Recording(i.ID), NotReported: left}
	if r.otlp != nil {
		r.otlp.Add(incidentLog(i, what, t.Recording, time.Now()))
	}
	body, err := json.Marshal(t)
	if err != nil {
		r.note(err.Error())
		return
	}
	if len(r.command) > 0 {
		r.telling.Go(func() { r.run(ctx, t, body) })
	}
	if r.webhook != nil {
		r.telling.Go(func() {
			hook := *r.webhook
			hook.Form = func(watch.Call) ([]byte, error) { return body, nil }
			if err := hook.Do(ctx, watch.Call{ID: fmt.Sprintf("%s-%d-%d-%s", host, i.ID, i.Start.Unix(), what)}); err != nil {
				r.note(err.Error())
			}
		})
	}
}

func (r *reporter) run(ctx context.Context, t incidentCall, body []byte) {
	ctx, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.command[0], r.command[1:]...)
	cmd.Stdin = bytes.NewReader(body)
	cmd.Env = append(os.Environ(), "SNAG_EVENT="+t.Event, fmt.Sprintf("SNAG_INCIDENT=%d", t.ID), "SNAG_RECORDING="+t.Recording)
	if len(t.Culprits) > 0 {
		cmd.Env = append(cmd.Env, "SNAG_CULPRIT="+t.Culprits[0].Name)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		r.note(fmt.Sprintf("--on-incident %s: %v: %s", r.command[0], err, strings.TrimSpace(string(out[:min(len(out), 300)]))))
	}
}

// line describes an incident in one line.
func line(i recorder.Incident, what string) string {
	head := fmt.Sprintf("incident %d %s", i.ID, what)
	switch {
	case what == recorder.Ends:
		head += fmt.Sprintf(" after %s", i.End.Sub(i.Start).Round(time.Second))
	case i.Noticed != "":
		head += ": " + i.Noticed
	}
	switch {
	case len(i.Culprits) > 0:
		head += fmt.Sprintf("; %s: %s", i.Culprits[0].Name, i.Culprits[0].Text)
	case len(i.Symptoms) > 0:
		head += fmt.Sprintf("; %s, no culprit is proved: %s", i.Symptoms[0].Name, i.Symptoms[0].Text)
	}
	if len(i.Known) > 0 {
		head += fmt.Sprintf("; still wrong, and left out of judgements until it works again: %s", strings.Join(i.Known, ", "))
	}
	return fmt.Sprintf("%s (snag incidents show %d)", head, i.ID)
}
