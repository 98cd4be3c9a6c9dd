package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"snag/recording"
	"snag/report"
	"snag/report/profile"
)

// profileDocument is what snag profile --json writes (docs/json.md).
type profileDocument struct {
	Version   int                `json:"version"`
	Recording string             `json:"recording"`
	Profiles  []profile.Document `json:"profiles"` // of each host: time or events on the CPUs, then off them
}

// beside is where text goes: standard output is JSON's, or the page's, where one was asked for there.
func (f *profileFlags) beside() *os.File {
	if f.json {
		return os.Stderr
	}
	return textBeside(f.html)
}

// showJSON writes the profiles of a recording as one document, and those of each host below to.
func (f *profileFlags) showJSON(r *recording.Recording, dir, to string) error {
	d := profileDocument{Version: 1, Recording: dir, Profiles: []profile.Document{}}
	hosts := r.Parts
	if len(hosts) == 0 {
		hosts = []*recording.Recording{r}
	}
	var errs []error
	for i, host := range hosts {
		if len(r.Parts) > 0 && len(host.OnCPU) == 0 {
			continue
		}
		all, err := f.taken(host)
		if err != nil {
			return err
		}
		for _, p := range all {
			d.Profiles = append(d.Profiles, p.Document(host.Manifest.Host, f.lines))
		}
		in := to
		if in != "" && len(r.Parts) > 0 {
			in = filepath.Join(to, fmt.Sprintf("host-%d", i+1))
		}
		errs = append(errs, f.writeFiles(all, dir, in))
	}
	if len(d.Profiles) == 0 {
		return fmt.Errorf("profile of %s: no host of it was sampled", dir)
	}
	if err := report.WriteValue(os.Stdout, d); err != nil {
		return fmt.Errorf("write the profile: %w", err)
	}
	return errors.Join(append(errs, f.writeHTML(r))...)
}
