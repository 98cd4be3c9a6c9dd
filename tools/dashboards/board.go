package main

// board is one dashboard.
type board struct {
	name, title, about string // name: of its file
	variables          []variable
	panels             []panel
}

// variable is a choice at the top: the values of a label.
type variable struct {
	name, title, query string
	one                bool // of one value; else of all, or several
}

// panel is one picture, and the question that it answers.
type panel struct {
	kind          kind
	title, answer string
	unit          string // Grafana's name of a unit
	width, height uint32 // of 24 columns; of 30 pixels or so
	asks          []ask
	// columns of a table, by label or "Value", with their titles: others are not shown.
	columns []column
	// red is from where on a value is; 0: nowhere.
	red float64
	// links opens a dashboard for the host of a row.
	links string
	// empty is shown where there is no series.
	empty string
}

// ask is a query: PromQL, and how its series are called.
type ask struct{ expr, legend string }

type column struct {
	label, title string
	unit         string
}

type kind int

const (
	lines kind = iota
	number
	rows      // a table of the series now
	states    // a line of coloured times for each series
	separator // a title over what follows
)

var boards = []board{host, streams, fleet}

// Heights and widths that fit together.
const (
	low, middle         = 5, 8
	quarter, half, full = 6, 12, 24
)

var ofHost = variable{name: "instance", title: "Host", query: "label_values(snag_record_up, instance)"}
