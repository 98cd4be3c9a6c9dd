package loaded

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"snag/load/elimination"
	"snag/suspects/remedy"
)

// Elimination is what experiments on a service left of the suspects.
type Elimination struct {
	Measures *elimination.Measures
	Story    elimination.Story
	Port     string // the service's, for commands
}

// Text says first what was found, then what was done, what is left and what could not be done.
func (e Elimination) Text(w io.Writer) {
	s := e.Story
	fmt.Fprintln(w, s.First)
	if len(s.Chapters) > 0 {
		fmt.Fprintln(w, "\ntried")
	}
	for _, c := range s.Chapters {
		fmt.Fprintf(w, "  %s: %s\n", c.What, c.Number)
		if len(c.Finds) > 0 {
			fmt.Fprintf(w, "      finds %s\n", strings.Join(c.Finds, ", "))
		}
		if len(c.Keeps) > 0 {
			fmt.Fprintf(w, "      leaves open %s\n", strings.Join(c.Keeps, ", "))
		}
		if len(c.RulesOut) > 0 {
			fmt.Fprintf(w, "      rules out %s\n", strings.Join(c.RulesOut, ", "))
		}
	}
	if len(s.Left) > 0 {
		fmt.Fprintln(w, "\nleft")
	}
	for _, st := range s.Left {
		e.left(w, st)
	}
	if len(s.Untried) > 0 {
		fmt.Fprintln(w, "\nnot measured")
	}
	for _, st := range s.Untried {
		fmt.Fprintf(w, "  %-18s %s\n", st.Suspect, strings.TrimPrefix(st.Why, "not measured: "))
	}
	if len(s.NotDone) > 0 {
		fmt.Fprintln(w, "\nnot done")
	}
	for _, n := range s.NotDone {
		fmt.Fprintf(w, "  %s: %s\n", n.What, n.Why)
	}
	if _, told := elimination.Told(s.Left); told && !e.complete() {
		fmt.Fprintln(w, "\nIt stopped at the first experiment that finds a suspect: --all goes on.")
	}
	if e.Measures.Server == nil && !e.Measures.Here && !e.Measures.Local {
		fmt.Fprintf(w, "\nTo rule out the path or the service, run this on the server with the same flags, and give its output to --server FILE:\n  snag eliminate %s --here --json\n", remedy.Quoted(e.Measures.Target))
	}
}

func (e Elimination) left(w io.Writer, st elimination.Standing) {
	mark := ""
	if st.State == elimination.Found {
		mark = "FOUND  "
	}
	fmt.Fprintf(w, "  %s%-18s %s: %s\n", mark, st.Suspect, elimination.About(st.Suspect), st.Why)
	next := strings.ReplaceAll(st.Find, "PORT", e.Port)
	if st.Cause != "" {
		next += fmt.Sprintf(" (%s: snag suspects %s)", st.Cause, st.Cause)
	}
	fmt.Fprintf(w, "      next: %s\n", next)
}

// complete reports whether each experiment ran or says why not.
func (e Elimination) complete() bool {
	for _, x := range elimination.Experiments {
		if e.Measures.Applies(x) && !e.Measures.Did(x.ID) && e.Measures.Missing[x.ID] == "" {
			return false
		}
	}
	return true
}

// JSON is one object; all times are in seconds.
func (e Elimination) JSON(w io.Writer) error {
	j := json.NewEncoder(w)
	j.SetIndent("", "  ")
	return j.Encode(map[string]any{"version": 1, "target": e.Measures.Target, "first": e.Story.First, "experiments": e.Story.Chapters, "left": e.Story.Left,
		"ruled_out": e.Story.RuledOut, "not_measured": e.Story.Untried, "not_done": e.Story.NotDone, "measures": e.Measures})
}
