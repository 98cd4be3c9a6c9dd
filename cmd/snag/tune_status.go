package main

import (
	"time"

	"snag/remedies/apply"
)

// statusRow is a plan that was carried out on this host, for snag tune status --json (docs/json.md).
type statusRow struct {
	ID      string `json:"id"`
	Phase   string `json:"phase"`
	Begun   string `json:"begun"`
	Suspect string `json:"suspect"` // that it is for; "": not known
	// Deadline is when it is undone unless somebody confirms it; null: it is not waiting for that.
	Deadline *string `json:"deadline"`
	By       string  `json:"undone_by"` // who undoes it then
	// Guarded: whoever is to undo it is there. Booted: the host was booted since, and what was not persisted is gone.
	Guarded bool          `json:"guarded"`
	Booted  bool          `json:"booted_since"`
	Why     string        `json:"why"`    // it was undone
	Damage  *string       `json:"damage"` // of its journal; null: none
	Changes []statusMade  `json:"changes"`
	Files   []string      `json:"files"` // that hold it across a reboot
	Looks   []statusLooks `json:"verified"`
}

// statusMade is one change of it.
type statusMade struct {
	Target  string `json:"target"`
	Old     string `json:"old"`
	New     string `json:"new"`
	Undone  bool   `json:"undone"`
	Ended   string `json:"ended"`   // that what had the setting ended, and the setting with it
	Problem string `json:"problem"` // why it could not be undone
}

// statusLooks is one look at whether it helped.
type statusLooks struct {
	At      string `json:"at"`
	Outcome string `json:"outcome"`
	Text    string `json:"text"`
}

func statusRows(s *apply.Store, all []apply.Entry) []statusRow {
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
	out := []statusRow{}
	for _, e := range all {
		st := e.State
		row := statusRow{
			ID: e.ID, Phase: string(st.Phase), Begun: at(st.Begun), By: st.By, Guarded: e.Guarded(), Booted: st.Boot != s.Boot, Why: st.Why,
			Changes: []statusMade{}, Files: []string{}, Looks: []statusLooks{},
		}
		if e.Plan != nil {
			row.Suspect = e.Plan.For.Suspect
		}
		if st.Phase == apply.Unconfirmed && !row.Booted {
			deadline := at(s.DeadlineOf(st))
			row.Deadline = &deadline
		}
		if e.Damage != nil {
			damage := e.Damage.Error()
			row.Damage = &damage
		}
		for _, c := range st.Changes {
			row.Changes = append(row.Changes, statusMade{c.Target.String(), c.Old, c.New, c.Undone, c.Ended, c.Problem})
		}
		for _, f := range st.Files {
			row.Files = append(row.Files, f.Path)
		}
		for _, v := range st.Verified {
			row.Looks = append(row.Looks, statusLooks{at(v.At), v.Outcome, v.Text})
		}
		out = append(out, row)
	}
	return out
}
