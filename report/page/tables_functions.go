package page

import (
	"path"

	"snag/report/profile"
)

// mostFunctions of a profile are in its table, a row each.
const mostFunctions = 200

// functions are what a profile's flame graph shows, as text: each function with its
// own share of the time and that of what it called, the heaviest first.
func (b *builder) functions(kind, title string) Table {
	t := Table{Name: "functions-" + kind, Title: title, Columns: []Column{
		{"function", "text"}, {"in", "text"}, {"itself", "ratio"}, {"with what it called", "ratio"}, {"itself before", "ratio"}, {"with what it called before", "ratio"}, {"thread", "text"}, {"waits for", "text"},
	}}
	p, err := profile.From(b.r, profile.Options{Kind: kind})
	if err != nil {
		return t // not recorded: the coverage says why
	}
	t.Note = "the flame graph in words, by function"
	top := p.Top(mostFunctions)
	type function struct{ name, object string }
	before := map[function]profile.Line{}
	var whole float64
	if b.r.Baseline != nil {
		if p, err := profile.From(b.r.Baseline, profile.Options{Kind: kind}); err == nil {
			all := p.Top(1 << 20)
			whole = all.Total
			for _, l := range all.Lines {
				before[function{l.Function, l.Object}] = l
			}
			t.Note += "; before: in the baseline"
		}
	}
	for _, l := range top.Lines {
		var self, total any // not measured
		if whole > 0 {
			was := before[function{l.Function, l.Object}]
			self, total = round(was.Self/whole), round(was.Total/whole)
		}
		object := l.Object
		if object != "kernel" && object != "" {
			object = path.Base(object)
		}
		t.Rows = append(t.Rows, []any{l.Function, object, round(l.Self / top.Total), round(l.Total / top.Total), self, total, l.Thread, l.Reason})
	}
	return t
}
