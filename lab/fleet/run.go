package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"snag/lab"
	"snag/lab/drawn"
	"snag/recorder"
)

// Options of a run.
type Options struct {
	Snag, Thanos string
	Dir          string // where what was said is kept; "": nowhere
	Seed         uint64
	// Healthy is how long nothing is broken, Broken how long something is, before the fleet is asked.
	Healthy, Broken time.Duration
	// Kill has one receiver killed in the middle of the time in which something is broken.
	Kill bool
	Log  func(format string, args ...any)
}

// Outcome is what snag find --fleet said of one incident, and before it of the healthy fleet.
type Outcome struct {
	Incident string         `json:"incident"`
	Seed     uint64         `json:"seed"`
	Amount   string         `json:"amount"`
	Values   map[string]any `json:"values"`
	Healthy  Mark           `json:"healthy"`
	Mark     Mark           `json:"mark"`
	Samples  Samples        `json:"samples"`
	Killed   bool           `json:"killed_receiver,omitempty"`
	// Before and After are what it said.
	Before Document `json:"before"`
	After  Document `json:"after"`
	Served Document `json:"served"` // what the page of snag serve said then
	Load   float64  `json:"load"`   // the machine's, of one minute, at the end
}

// Run makes a fleet, asks about it, breaks something and asks again.
func Run(ctx context.Context, i Incident, o Options) (out Outcome, err error) {
	for _, t := range Tools {
		if !t.Installed() {
			return out, fmt.Errorf("lab: a fleet needs the command %s: apt-get install %s", t.Command, t.Package)
		}
	}
	stage, err := lab.NewStage(ctx, lab.Options{Log: o.Log})
	if err != nil {
		return out, err
	}
	f := &Fleet{Stage: stage, Draw: drawn.NewDraw(o.Seed, "fleet/"+i.Name), snag: o.Snag, thanos: o.Thanos, procs: map[string]*lab.Process{}}
	back, err := f.apart()
	if err != nil {
		return out, errors.Join(err, stage.Close())
	}
	defer func() { err = errors.Join(err, back(), stage.Close()) }()
	out = Outcome{Incident: i.Name, Seed: o.Seed, Values: f.Values, Killed: o.Kill}
	f.network()
	f.store()
	f.services()
	began := time.Now()
	f.recorders()
	f.clients()
	if err := f.Err(); err != nil {
		return out, err
	}
	o.Log("%s: twelve recorders after %.0f s", i.Name, time.Since(began).Seconds())
	if out.Before, err = f.phase(o, "healthy", o.Healthy, func() {}); err != nil {
		return out, err
	}
	out.Healthy = MarkOf(nil, out.Before)
	if out.After, err = f.phase(o, i.Name, o.Broken, func() { i.Break(f) }); err != nil {
		return out, err
	}
	if out.Served, err = f.served(); err != nil {
		return out, err
	}
	out.Mark, out.Amount, out.Load = MarkOf(&i.Want, out.After), f.amount, load()
	if out.Samples, err = f.samples(began); err != nil {
		return out, err
	}
	for _, end := range f.ended {
		end()
	}
	if o.Dir != "" {
		err = f.keep(o, out)
	}
	return out, err
}

// phase does something, waits, and asks; in the middle of the wait a receiver is killed, if it is asked for and
// something was broken.
func (f *Fleet) phase(o Options, what string, d time.Duration, do func()) (Document, error) {
	end := time.Now().Add(d)
	do()
	if o.Kill && what != "healthy" {
		f.Pause(time.Until(end) / 2)
		f.Stop(f.Store.Receivers[0])
	}
	f.Pause(max(0, time.Until(end)))
	if err := errors.Join(f.Err(), f.recordersAlive()); err != nil {
		return Document{}, err
	}
	return f.ask(o, what)
}

// ask runs snag find --fleet in the store's namespace.
func (f *Fleet) ask(o Options, what string) (d Document, err error) {
	file := filepath.Join(f.Dir(), "said.json")
	// Its exit code says what was found; a failure leaves no document.
	if _, err = f.Output(f.Name("monitor"), "sh", "-c", `"$0" find --fleet "$1" >"$2.text"; "$0" find --fleet "$1" --json >"$2"; test $? -ne 1`, f.snag, f.Store.Query, file); err != nil {
		return d, err
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return d, err
	}
	text, _ := os.ReadFile(file + ".text") // for people
	o.Log("%s:\n%s", what, text)
	return d, json.Unmarshal(raw, &d)
}

// keep writes an outcome, and what the recorders have of their incidents.
func (f *Fleet) keep(o Options, out Outcome) error {
	raw, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%d", out.Incident, out.Seed)
	for _, h := range Hosts {
		if said, err := f.Output("", "sh", "-c", `"$0" incidents --ring "$1" --json; cat "$2"`, f.snag, filepath.Join(f.Dir(), "ring-"+h.Name), f.procs["record-"+h.Name].Output); err == nil {
			err = os.WriteFile(filepath.Join(o.Dir, name+"-"+h.Name+".txt"), []byte(said), 0o644)
			if err != nil {
				return err
			}
		}
		if err := f.keepRecordings(h.Name, filepath.Join(o.Dir, name+"-recordings")); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(o.Dir, name+".json"), raw, 0o644)
}

// keepRecordings copies the recordings of a host's incidents, for snag judge.
func (f *Fleet) keepRecordings(host, to string) error {
	ring := recorder.Ring{Dir: filepath.Join(f.Dir(), "ring-"+host)}
	all, err := ring.Incidents()
	for _, i := range all {
		raw, err := os.ReadFile(ring.Recording(i.ID))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has only begun
		}
		if err := errors.Join(err, os.MkdirAll(to, 0o755)); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, fmt.Sprintf("%s-%d.snag", host, i.ID)), raw, 0o644); err != nil {
			return err
		}
	}
	var none *recorder.NoneError
	if errors.As(err, &none) {
		return nil
	}
	return err
}

// load is the machine's load of the last minute.
func load() float64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return float64(info.Loads[0]) / 65536
}

// Kept is the outcome of an incident that was made before.
func Kept(dir, incident string, seed uint64) (out Outcome, ok bool) {
	if dir == "" {
		return out, false
	}
	raw, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%s-%d.json", incident, seed)))
	return out, err == nil && json.Unmarshal(raw, &out) == nil
}
