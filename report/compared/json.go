package compared

import (
	"encoding/json"
	"fmt"
	"io"

	"snag/compare"
	"snag/recording"
)

// Document is a comparison as JSON (docs/compare.md).
type Document struct {
	Version  int             `json:"version"`
	Outcome  compare.Outcome `json:"outcome"`
	Sentence string          `json:"sentence"`
	A        Side            `json:"a"`
	B        Side            `json:"b"`
	// MuteA and MuteB are why a URL gave no answer or no frame; "" where it did.
	MuteA    string      `json:"mute_a"`
	MuteB    string      `json:"mute_b"`
	Compared int         `json:"compared"`
	Parties  []PartyRow  `json:"parties"`
	Amounts  []AmountRow `json:"amounts"`
	// Functions of the program whose answers changed most, those that changed by more than chance.
	Functions []FunctionRow `json:"functions"`
	Builds    []SettingRow  `json:"builds"`
	Settings  []SettingRow  `json:"settings"`
	OnlyA     []string      `json:"only_a"`
	OnlyB     []string      `json:"only_b"`
	TooFew    []string      `json:"too_few"`
	OneSided  []string      `json:"not_compared"`
	// Stopped had answers in A and none in B, or nearly none, though they were asked; Quiet were not.
	Stopped []SilentRow `json:"stopped"`
	Quiet   []SilentRow `json:"quiet"`
	// Felt is what viewers of streams noticed in B alone, too seldom to say that it was no chance.
	Felt []FeltRow `json:"felt"`
	// Gone are services of A that are not there in B.
	Gone []GoneRow `json:"gone"`
	// Streams gave frames in both; Lost did in A alone, or hardly in B.
	Streams []StreamRow `json:"streams"`
	Lost    []LostRow   `json:"lost"`
}

// Side is one recording.
type Side struct {
	Name    string  `json:"name"`
	Host    string  `json:"host"`
	Start   string  `json:"start"`
	Seconds float64 `json:"seconds"`
}

// PartyRow is a service, or calls to one. Times are seconds, rates answers per second.
type PartyRow struct {
	Role    string      `json:"role"`
	Subject string      `json:"subject"`
	Time    ChangeRow   `json:"time"`
	Failed  ChangeRow   `json:"failed"`
	RateA   float64     `json:"rate_a"`
	RateB   float64     `json:"rate_b"`
	Points  []PointsRow `json:"points"`
}

// SilentRow is a service, or calls to one, whose answers are missing in B.
type SilentRow struct {
	Subject string  `json:"subject"`
	RateA   float64 `json:"rate_a"`
	RateB   float64 `json:"rate_b"`
	Open    uint64  `json:"open"`
	Oldest  float64 `json:"oldest"`
	Cut     uint64  `json:"cut"`
	Failed  uint64  `json:"failed_connects"`
}

// FeltRow is a stream, what was noticed of it in B, and for how long.
type FeltRow struct {
	Stream  string  `json:"stream"`
	What    string  `json:"what"`
	Seconds float64 `json:"seconds"`
}

func feltRows(all []compare.Felt) []FeltRow {
	out := []FeltRow{}
	for _, f := range all {
		out = append(out, FeltRow(f))
	}
	return out
}

// GoneRow is a service of A that does not run in B, or whose program does not listen there.
type GoneRow struct {
	Subject string  `json:"subject"`
	RateA   float64 `json:"rate_a"`
	Runs    bool    `json:"program_runs"`
}

func goneRows(all []compare.Silent) []GoneRow {
	out := []GoneRow{}
	for _, q := range all {
		out = append(out, GoneRow{q.Name, q.RateA, q.Elsewhere})
	}
	return out
}

// silentRows are never null.
func silentRows(all []compare.Silent) []SilentRow {
	out := []SilentRow{}
	for _, q := range all {
		out = append(out, SilentRow{q.Name, q.RateA, q.RateB, q.Open, q.Oldest, q.Cut, q.Failed})
	}
	return out
}

// PointsRow is by how much an account of an answer grew, in parts of A's whole time.
type PointsRow struct {
	Account string  `json:"account"`
	Points  float64 `json:"points"`
}

// ChangeRow is a figure in A and B. Low and High bound B/A, null where one of them is 0 or it was not
// judged.
type ChangeRow struct {
	A       float64  `json:"a"`
	B       float64  `json:"b"`
	Low     *float64 `json:"low"`
	High    *float64 `json:"high"`
	Changed bool     `json:"changed"`
}

// AmountRow is a count or a time a second.
type AmountRow struct {
	What    string `json:"what"`
	Unit    string `json:"unit"`
	Bad     bool   `json:"bad"`
	LessBad bool   `json:"less_bad"`
	Stream  string `json:"stream"` // it is of; "" of the host
	ChangeRow
}

// StreamRow is a stream in both, with all its figures.
type StreamRow struct {
	Name    string      `json:"name"`
	URLA    string      `json:"url_a"`
	URLB    string      `json:"url_b"`
	Figures []AmountRow `json:"figures"`
}

// LostRow is a stream that gave frames in A, and none in B, or none in its last seconds.
type LostRow struct {
	Name  string  `json:"name"`
	URLA  string  `json:"url_a"`
	URLB  string  `json:"url_b"`
	FPS   float64 `json:"fps_a"`
	Since float64 `json:"silent_seconds"`
	Why   string  `json:"why"`
}

func amountRows(all []compare.Amount) []AmountRow {
	out := []AmountRow{}
	for _, a := range all {
		out = append(out, AmountRow{a.What, a.Unit, a.Bad, a.LessBad, a.Stream, changeRow(a.Change)})
	}
	return out
}

func (s *Shown) streamRows() (both []StreamRow, lost []LostRow) {
	both, lost = []StreamRow{}, []LostRow{}
	for _, st := range s.Streams {
		both = append(both, StreamRow{st.Name, st.URLA, st.URLB, amountRows(st.Figures)})
	}
	for _, l := range s.Lost {
		lost = append(lost, LostRow(l))
	}
	return both, lost
}

// FunctionRow is a function's share of the CPU samples.
type FunctionRow struct {
	Program  string  `json:"program"`
	Function string  `json:"function"`
	Object   string  `json:"object"`
	A        float64 `json:"a"`
	B        float64 `json:"b"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// SettingRow is a setting or a build.
type SettingRow struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// WriteJSON writes a comparison as JSON.
func (s *Shown) WriteJSON(w io.Writer) error {
	d := Document{
		Version: 1, Outcome: s.Outcome(), Sentence: s.Sentence(), A: side(s.NameA, s.A), B: side(s.NameB, s.B), Compared: s.Compared, MuteA: s.MuteA, MuteB: s.MuteB,
		Parties: []PartyRow{}, Amounts: amountRows(s.Amounts), Functions: []FunctionRow{},
		Builds: settingRows(s.Builds), Settings: settingRows(s.Settings), OnlyA: orNo(s.OnlyA), OnlyB: orNo(s.OnlyB), TooFew: orNo(s.TooFew), OneSided: orNo(s.OneSided),
		Stopped: silentRows(s.Stopped), Quiet: silentRows(s.Quiet), Gone: goneRows(s.Gone), Felt: feltRows(s.Felt),
	}
	d.Streams, d.Lost = s.streamRows()
	for _, p := range s.Parties {
		row := PartyRow{Role: string(p.B.Role), Subject: p.B.Subject.Name, Time: changeRow(p.Time), Failed: changeRow(p.Failed), RateA: p.RateA, RateB: p.RateB, Points: []PointsRow{}}
		for _, q := range p.Points {
			row.Points = append(row.Points, PointsRow{string(q.Account), q.Points})
		}
		d.Parties = append(d.Parties, row)
	}
	if s.Functions != nil {
		for _, f := range s.Functions.Self {
			if !f.Noise() {
				d.Functions = append(d.Functions, FunctionRow{s.Program, f.Function, f.Object, f.A, f.B, f.Low, f.High})
			}
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}

func side(name string, r *recording.Recording) Side {
	return Side{name, r.Manifest.Host, r.Manifest.Start.Wall().UTC().Format("2006-01-02T15:04:05.000Z"), r.Length().Seconds()}
}

func span(r *recording.Recording) string {
	text := r.Manifest.Start.Wall().UTC().Format("2006-01-02 15:04:05 UTC")
	if r.Manifest.Host != "" { // a capture does not say whose it is
		text += " of " + r.Manifest.Host
	}
	if r.Manifest.Kernel != "" {
		text += ", kernel " + r.Manifest.Kernel
	}
	return fmt.Sprintf("%s, %.0f s", text, r.Length().Seconds())
}

func changeRow(c compare.Change) ChangeRow {
	row := ChangeRow{A: c.A, B: c.B, Changed: c.Differs()}
	if c.Low > 0 {
		row.Low, row.High = &c.Low, &c.High
	}
	return row
}

func settingRows(all []compare.Setting) []SettingRow {
	out := []SettingRow{}
	for _, s := range all {
		out = append(out, SettingRow(s))
	}
	return out
}

func orNo(all []string) []string {
	if all == nil {
		return []string{}
	}
	return all
}
