// Package streams makes what a page shows of live streams: a row for each, its figures
// over time, what happened to it, and where a stream that was watched at several places
// was hurt first. It is made of a recording (Of), or of what a running watch remembers
// (History); docs/page.md reports what a reader sees.
package streams

// Data are all streams of a page. Times are seconds since the window's start.
type Data struct {
	Rows  []Row `json:"rows"`
	Total int   `json:"total"` // rows there are; more than len(Rows) where some were left out
	// Details are the courses of the rows that have one, in the order of the rows.
	Details []Detail `json:"details"`
	Groups  []Group  `json:"groups"`
	// SparkSeconds is how many seconds the curves of the rows cover, up to the end.
	SparkSeconds float64 `json:"spark_seconds"`
}

// Row is one stream as one place saw it. What was not measured is null, never 0.
type Row struct {
	ID       string   `json:"id"` // name, layer and side: the only one of its kind
	State    string   `json:"state"`
	Rank     int      `json:"rank"` // of the state: what to look at first has the least
	Sick     bool     `json:"sick"`
	Since    *float64 `json:"since"` // when the state began
	Why      string   `json:"why"`
	Name     string   `json:"name"`
	Layer    string   `json:"layer"`
	Side     string   `json:"side"`
	Protocol string   `json:"protocol"`
	URL      string   `json:"url"`
	Codec    string   `json:"codec"`
	Size     string   `json:"size"`
	FPS      *float64 `json:"fps"`
	Kbps     *float64 `json:"kbps"`
	GOP      *float64 `json:"gop"`
	Drift    *float64 `json:"drift"`
	Skew     *float64 `json:"skew"`
	Freezes  *int     `json:"freezes"`
	Frozen   *float64 `json:"frozen"` // seconds
	Spark    string   `json:"spark"`
	// From is when the first thing hurt it, and Trouble what that was.
	From    *float64 `json:"from"`
	Trouble string   `json:"trouble"`
}

// Detail is one stream's course. Each value holds for the time since the one before.
type Detail struct {
	ID string    `json:"id"`
	T  []float64 `json:"t"`
	// Note says where a value stands for more than a second; "" where none does.
	Note string `json:"note"`
	// Figures are those that were measured at all.
	Figures   []Figure `json:"figures"`
	Threshold *float64 `json:"threshold"` // seconds without a frame that are a freeze
	// Frames are single frames, where they were written (snag watch --frames); else nil.
	Frames    *FrameCourse `json:"frames"`
	Marks     []Mark       `json:"marks"`
	MoreMarks int          `json:"more_marks"`
}

// Figure is one quantity over time: the least and the most of each step. Where both are
// the same High is absent.
type Figure struct {
	Name string     `json:"name"`
	Low  []*float64 `json:"low"`
	High []*float64 `json:"high,omitempty"`
}

// FrameCourse is how much later than the least of the last minute each frame came: of many
// the least and, in Most, the most of each step.
type FrameCourse struct {
	T    []float64 `json:"t"`
	Late []float64 `json:"late"`
	Most []float64 `json:"most,omitempty"`
}

// Mark is something that happened to the stream, or a verdict on it.
type Mark struct {
	T    float64  `json:"t"`
	End  *float64 `json:"end"` // null: an instant, or it still goes on (Open)
	Open bool     `json:"open"`
	Kind string   `json:"kind"` // freeze late slow skipped jump audio changed ended refused published first-frame observer verdict
	Text string   `json:"text"`
}

// Group is one stream at several places, in the order in which it passes them.
type Group struct {
	Name   string   `json:"name"`
	IDs    []string `json:"ids"`
	Places []string `json:"places"`
	Hurts  []Hurt   `json:"hurts"`
	More   int      `json:"more"`
}

// Hurt is one trouble of such a stream, and the first place that shows it.
type Hurt struct {
	T     float64  `json:"t"`
	Kind  string   `json:"kind"`
	First int      `json:"first"` // index of the place
	Sure  bool     `json:"sure"`  // the place before it was watched then, or there is none before
	Also  []string `json:"also"`  // what the others showed, one for each place after it
	Text  string   `json:"text"`
}

// Limits bound the data.
type Limits struct {
	Rows   int // in the table
	Values int // of all courses together
	Finest int // times of one course at the most
	Marks  int // of one stream
}

// Quantities of a course.
const (
	late = iota
	clock
	fps
	video
	audio
	gop
	gap
	skew
	lost
	quantities
)

// names are the quantities as the page's script knows them.
var names = [quantities]string{"late", "clock", "fps", "video", "audio", "gop", "gap", "skew", "lost"}
