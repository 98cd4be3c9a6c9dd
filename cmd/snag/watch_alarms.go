package main

import (
	"time"

	"snag/internal/cli"
	"snag/probes/streams/watch"
)

// requestTimeout is how long a webhook may take to answer one request.
const requestTimeout = 10 * time.Second

// alarms are what --on-freeze and --webhook ask for.
func (f *watchFlags) alarms(note func(string)) ([]*watch.Alarms, error) {
	var out []*watch.Alarms
	if f.onFreeze != "" {
		argv, err := watch.Words(f.onFreeze)
		if err != nil {
			return nil, cli.Usage("--on-freeze: %v", err)
		}
		c := watch.Command{Argv: argv, Timeout: f.onTimeout}
		if err := c.Check(); err != nil {
			return nil, cli.Usage("--on-freeze: %v", err)
		}
		out = append(out, watch.NewAlarms("--on-freeze", c, watch.DefaultLimits, false, note))
	}
	if f.webhook != "" {
		hook, err := watch.NewWebhook(f.webhook, requestTimeout)
		if err != nil {
			return nil, cli.Usage("--webhook: %v", err)
		}
		if f.secret != "" {
			if hook.Secret, err = watch.ReadSecret(f.secret); err != nil {
				return nil, cli.Usage("--webhook-secret: %v", err)
			}
		}
		hook.Form = watch.Forms[f.form]
		out = append(out, watch.NewAlarms("--webhook", hook, watch.DefaultLimits, true, note))
	}
	return out, nil
}
