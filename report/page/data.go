// Package page makes the one self-contained HTML page of a verdict: its data as
// plain values (report/page.schema.json), and the file that holds them together
// with the bundle that ui/ builds. docs/page.md reports what a reader sees.
package page

import (
	"snag/report"
	"snag/report/page/streams"
)

// DataVersion is the version of the page's data. The bundle in the same file
// reads it, so that it may change at any time.
const DataVersion = 1

// Data is all that a page shows. Times are seconds since the window's start,
// text is plain text: whoever draws it must not take it for markup.
type Data struct {
	Version int             `json:"version"`
	Verdict report.Document `json:"verdict"`
	// Comparison is there on pages of snag compare alone.
	Comparison *Comparison `json:"comparison,omitempty"`
	Scene      Scene       `json:"scene"`
	// Streams are the live streams that were watched; nil where there are none.
	Streams *streams.Data `json:"streams"`
	Events  []Event       `json:"events"`
	Charts  []Chart       `json:"charts"`
	Flames  []Flame       `json:"flames"`
	Tables  []Table       `json:"tables"`
	// LeftOut says, a sentence each, what was not put on the page to keep it small.
	LeftOut []string `json:"left_out"`
}

// Scene is the part of the scene around what was found, as paths of the data.
type Scene struct {
	Paths []Path `json:"paths"`
	// Rest sums up what is not drawn; "" if all is.
	Rest string `json:"rest"`
}

// Lanes of a path, from where data come to where they go.
const (
	LanePeerIn = iota
	LaneDeviceIn
	LaneSocketIn
	LaneProcess
	LaneSocketOut
	LaneDeviceOut
	LanePeerOut
)

// Path is one process with what its data cross: peers, interface with its
// qdiscs, socket, process, socket, interface, peers.
type Path struct {
	Title string `json:"title"`
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
}

// Node is one hop. Marks say what was found on it.
type Node struct {
	ID      string   `json:"id"` // unique in its path
	Lane    int      `json:"lane"`
	Kind    string   `json:"kind"`
	Title   string   `json:"title"`
	Note    string   `json:"note"`
	Numbers []Number `json:"numbers"`
	Marks   []Mark   `json:"marks"`
}

// Number is a number on a hop, ready to read; Bad where it is one that hurts.
type Number struct {
	Label string `json:"label"`
	Value string `json:"value"`
	Bad   bool   `json:"bad"`
}

// Mark ties a hop to an entry of the verdict or to a symptom.
type Mark struct {
	State string `json:"state"` // a verdict state, or "symptom"
	Name  string `json:"name"`  // suspect or symptom
	Entry string `json:"entry"` // the entry's id; "" for a symptom
}

// Edge is data going from one hop to the next.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Text string `json:"text"`
}

// Event is something that happened once.
type Event struct {
	T    float64  `json:"t"`
	End  *float64 `json:"end"`
	Kind string   `json:"kind"`
	// Subject is whom it happened to, as a row of the timeline names it: of a thread its process.
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

// Chart is the series that one selector stands for.
type Chart struct {
	ID    string `json:"id"` // the selector
	Title string `json:"title"`
	About string `json:"about"` // of whom
	Unit  string `json:"unit"`  // "s", "bytes", "bytes/s", "/s", "ratio", ""
	Lines []Line `json:"lines"`
	// Flat: every line holds one value for the whole window; of a rate, 0.
	Flat bool `json:"flat"`
	// More lines than are shown.
	More int `json:"more"`
}

// Line is one series over time.
type Line struct {
	Label string    `json:"label"`
	T     []float64 `json:"t"`
	V     []float64 `json:"v"`
}

// Table is rows under named columns. A cell is a string, a number, or null where
// it was not measured.
type Table struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Columns []Column `json:"columns"`
	Rows    [][]any  `json:"rows"`
	// Total rows there are; more than len(Rows) where some were left out.
	Total int    `json:"total"`
	Note  string `json:"note"`
}

// Column says how its cells read. Kind is text, count, bytes, seconds, clock
// (seconds since the window's start), ratio, rate (a second), lines (text of several
// lines) or parts (up to three numbers, per mille of the widest row, drawn as a bar).
type Column struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// Limits bound a page, so that any recording opens at once.
type Limits struct {
	Entries, Intervals, Charts, Lines, Points, Rows, Paths, Events, Flame int
	Streams                                                               streams.Limits
}

// limits, from generous to bare: the first whose page is small enough is taken.
var limits = []Limits{
	{Entries: 400, Intervals: 200, Charts: 24, Lines: 6, Points: 600, Rows: 400, Paths: 4, Events: 300, Flame: 6000, Streams: streams.Limits{Rows: 2000, Values: 180_000, Finest: 3000, Marks: 200}},
	{Entries: 200, Intervals: 100, Charts: 16, Lines: 4, Points: 300, Rows: 200, Paths: 3, Events: 100, Flame: 3000, Streams: streams.Limits{Rows: 1000, Values: 90_000, Finest: 1500, Marks: 60}},
	{Entries: 60, Intervals: 40, Charts: 8, Lines: 3, Points: 150, Rows: 60, Paths: 2, Events: 40, Flame: 1000, Streams: streams.Limits{Rows: 400, Values: 40_000, Finest: 800, Marks: 20}},
	{Entries: 15, Intervals: 10, Charts: 4, Lines: 2, Points: 80, Rows: 20, Paths: 1, Events: 10, Flame: 200, Streams: streams.Limits{Rows: 100, Values: 10_000, Finest: 300, Marks: 10}},
}
