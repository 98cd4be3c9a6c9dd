package verdict

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
	"snag/suspects"
)

// TestSuspectCases judges each suspect's written cases. Every suspect must have
// guilty, innocent and blind ones (guilty.txtar or guilty-….txtar); a folder
// without a suspect, a case without a want section, or a want line that is not
// of the form below is a failure, so that a mistyped marker can't pass.
//
//	state suspect [part of the subject's name]    an entry that must be there
//	no state [suspect]                            no entry of that state (and suspect)
//	chain suspect > suspect > symptom             the chain of the first culprit
//	symptom name [part of the subject's name]
//	told suspect words                            in its text, evidence or remedy
//	sets suspect words → value                    one of its settings, as Setting.String has it
//	sets suspect nothing                          it has none
//	calls suspect words                           one of its calls
//	here state suspect                            an entry of that state that concerns the target
//	elsewhere state suspect                       one that does not; it comes after all that do
//	standing word                                 what the first line says
//	now suspect command                           its remedy for now, the whole line; or nothing
//	abstained                                     no culprit named though there are symptoms
func TestSuspectCases(t *testing.T) {
	const dir = "../suspects/testdata"
	folders, err := os.ReadDir(dir)
	if err != nil && len(suspects.All) > 0 {
		t.Fatal(err)
	}
	for _, f := range folders {
		if suspects.ByName(f.Name()) == nil && f.Name() != "verdict" {
			t.Errorf("%s/%s: no such suspect", dir, f.Name())
		}
	}
	for _, s := range suspects.All {
		for kind, state := range map[string]string{"guilty": "culprit", "innocent": "no culprit", "blind": "not-seen"} {
			files, _ := filepath.Glob(filepath.Join(dir, s.Name, kind+"*.txtar"))
			if len(files) == 0 {
				t.Errorf("%s has no %s case in %s", s.Name, kind, filepath.Join(dir, s.Name))
			}
			for _, file := range files {
				t.Run(s.Name+"/"+filepath.Base(file), func(t *testing.T) {
					judgeCase(t, file, state+" "+s.Name)
				})
			}
		}
	}
}

// TestVerdictCases judges written cases of more than one suspect: chains,
// abstention, mutations.
func TestVerdictCases(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { judgeCase(t, file, "") })
	}
}

// Trouble that was there at an earlier time of the host too is found all the same: nobody said that
// the time was a good one.
func TestTroubleThatIsThereAllTheTime(t *testing.T) {
	files, _ := filepath.Glob("../suspects/testdata/*/guilty*.txtar")
	n := 0
	for _, file := range files {
		c, err := rectest.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if r := c.Recording; r.Baseline == nil && r.Earlier == nil && len(r.Turns) > 0 {
			n++
			before := *r
			r.Earlier = []*recording.Recording{&before}
			name := filepath.Base(filepath.Dir(file))
			if v := Judge(r); holds(v, "culprit "+name) != nil {
				t.Errorf("%s: no culprit if it was so before\n%s", file, dump(v))
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d cases", n)
	}
}

func judgeCase(t *testing.T, file, always string) {
	c, err := rectest.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	want, ok := c.Files["want"]
	if !ok || len(c.Files) != 1 {
		t.Fatalf("%s: wants one section \"want\" besides the recording's, has %d sections more", file, len(c.Files))
	}
	if c.About == "" {
		t.Errorf("%s: say first what the case shows", file)
	}
	v := Judge(c.Recording)
	lines := bufio.NewScanner(strings.NewReader(always + "\n" + want))
	for lines.Scan() {
		if l := strings.TrimSpace(lines.Text()); l != "" && !strings.HasPrefix(l, "#") {
			if err := holds(v, l); err != nil {
				t.Errorf("%s: want %q: %v\n%s", file, l, err, dump(v))
			}
		}
	}
}

func holds(v *Verdict, line string) error {
	f := strings.Fields(line)
	rest := func(n int) string { return strings.Join(f[min(n, len(f)):], " ") }
	switch f[0] {
	case "abstained":
		if v.Abstained == "" || len(v.With(Culprit)) > 0 {
			return fmt.Errorf("did not abstain")
		}
		if !strings.Contains(v.Abstained, rest(1)) {
			return fmt.Errorf("abstained: %s", v.Abstained)
		}
	case "no":
		if f[1] == "abstention" && v.Abstained != "" {
			return fmt.Errorf("abstained: %s", v.Abstained)
		}
		for _, e := range v.Entries {
			if string(e.State) == f[1] && (len(f) < 3 || e.Suspect.Name == f[2]) && (len(f) < 4 || strings.Contains(e.Subject.Name, f[3])) {
				return fmt.Errorf("%s %s on %s", e.State, e.Suspect.Name, e.Subject.Name)
			}
		}
	case "here", "elsewhere":
		past := false
		for _, e := range v.Entries {
			past = past || e.Elsewhere
			if string(e.State) != f[1] || e.Suspect.Name != f[2] {
				continue
			}
			if e.Elsewhere != (f[0] == "elsewhere") || past != e.Elsewhere {
				return fmt.Errorf("elsewhere: %v, behind others that are: %v", e.Elsewhere, past)
			}
			return nil
		}
		return fmt.Errorf("no such entry")
	case "standing":
		if got := string(v.Standing()); got != f[1] {
			return fmt.Errorf("the standing is %s", got)
		}
	case "says":
		for _, e := range v.With(Culprit) {
			if strings.Contains(e.Text, rest(1)) {
				return nil
			}
		}
		return fmt.Errorf("no culprit says so")
	case "first": // first SUSPECT: the culprit that is named before all others
		if c := v.With(Culprit); len(c) == 0 || c[0].Suspect.Name != f[1] {
			return fmt.Errorf("it is not the first culprit")
		}
	case "foremost": // foremost SYMPTOM, or nothing
		sym, next, ok := v.Foremost()
		if got := sym.Name; ok && (got != f[1] || next == "") || !ok && f[1] != "nothing" {
			return fmt.Errorf("it is %q, next %q", got, next)
		}
	case "symptom":
		for _, s := range v.Symptoms {
			if s.Name == f[1] && strings.Contains(s.Subject.Name, rest(2)) {
				return nil
			}
		}
		return fmt.Errorf("no such symptom")
	case "told": // told SUSPECT words: they stand in its text, a piece of its evidence, or its remedy
		for _, e := range v.Entries {
			all := strings.Join([]string{e.Text, e.Remedy.Now, e.Remedy.Permanently, e.Remedy.Program}, "\n")
			for _, p := range e.Evidence {
				all += "\n" + p.Text
			}
			if e.Suspect.Name == f[1] && len(f) > 2 && strings.Contains(all, rest(2)) {
				return nil
			}
		}
		return fmt.Errorf("it is not told")
	case "sets", "calls":
		var got []string
		for _, e := range v.Entries {
			if e.Suspect.Name != f[1] {
				continue
			}
			for _, s := range e.Settings {
				if f[0] == "sets" {
					got = append(got, s.String())
				}
			}
			for _, c := range e.Calls {
				if f[0] == "calls" {
					got = append(got, c.Do+": "+c.Why)
				}
			}
		}
		has := slices.ContainsFunc(got, func(s string) bool { return s == rest(2) || f[0] == "calls" && strings.Contains(s, rest(2)) })
		if len(f) < 3 || !has && (rest(2) != "nothing" || len(got) > 0) {
			return fmt.Errorf("it has %q", got)
		}
	case "now":
		var got []string
		for _, e := range v.Entries {
			if e.Suspect.Name == f[1] && e.Remedy.Now != "" {
				got = append(got, e.Remedy.Now)
			}
		}
		if len(f) < 3 || !slices.Contains(got, rest(2)) && (rest(2) != "nothing" || len(got) > 0) {
			return fmt.Errorf("it has %q", got)
		}
	case "chain":
		var got []string
		if c := v.With(Culprit); len(c) > 0 {
			for _, l := range c[0].Chain {
				got = append(got, l.Name)
			}
		}
		if have := strings.Join(got, " > "); have != rest(1) {
			return fmt.Errorf("the chain is %q", have)
		}
	default:
		if _, ok := stateOrder[State(f[0])]; !ok || len(f) < 2 {
			return fmt.Errorf("not a want line")
		}
		if suspects.ByName(f[1]) == nil {
			return fmt.Errorf("no suspect of that name")
		}
		for _, e := range v.Entries {
			if string(e.State) == f[0] && e.Suspect.Name == f[1] && strings.Contains(e.Subject.Name, rest(2)) {
				return nil
			}
		}
		return fmt.Errorf("no such entry")
	}
	return nil
}

func dump(v *Verdict) string {
	var b strings.Builder
	for _, s := range v.Symptoms {
		fmt.Fprintf(&b, "symptom %s %q %s share %.2f amount %g %s\n", s.Name, s.Subject.Name, s.Text, s.Share, s.Amount, s.Unit)
	}
	for _, e := range v.Entries {
		if e.State == Cleared && len(e.Evidence) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s %s %q %.2f %s\n", e.State, e.Suspect.Name, e.Subject.Name, e.Confidence, e.Text)
		for _, p := range e.Evidence {
			fmt.Fprintf(&b, "    %s %d %s\n", p.Side, p.Grade, p.Text)
		}
	}
	if v.Abstained != "" {
		fmt.Fprintf(&b, "abstained: %s\n", v.Abstained)
	}
	return b.String()
}
