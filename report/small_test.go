package report

import (
	"bytes"
	"strings"
	"testing"

	"snag/internal/shown"
	"snag/suspects/suspect"
	"snag/verdict"
)

// onTerminal is what a terminal of 24 rows and 80 columns shows: the prompt and the line about a plan have a row each.
func onTerminal(t *testing.T, v *verdict.Verdict) (string, []string) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, v, Options{Width: 80, Height: 22}); err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		for shown.Columns(line) > 80 { // a command is not broken by snag, but by the terminal
			head := shown.Cut(line, 80)
			rows, line = append(rows, head), strings.TrimPrefix(line, head)
		}
		rows = append(rows, line)
	}
	return b.String(), rows
}

// squeezed has no spaces: lines are broken anywhere.
func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }

// Of one culprit all is on a small terminal: who, what, how much, what to do now.
func TestACulpritFitsASmallTerminal(t *testing.T) {
	n := 0
	for _, v := range cases(t) {
		culprits := v.Here(verdict.Culprit)
		if _, _, unexplained := v.Foremost(); len(culprits) != 1 || unexplained {
			continue
		}
		n++
		text, lines := onTerminal(t, v)
		if len(lines) > 22 {
			t.Errorf("%d lines:\n%s", len(lines), text)
		}
	}
	if n < 100 {
		t.Errorf("only %d cases", n)
	}
}

// Whatever else there is to say, the first culprit's remedy ends within the first 24 rows, before its evidence.
func TestTheRemedyIsNotScrolledAway(t *testing.T) {
	for _, v := range cases(t) {
		culprits := v.Here(verdict.Culprit)
		if len(culprits) == 0 {
			continue
		}
		text, lines := onTerminal(t, v)
		seen := squeezed(strings.Join(lines[:min(24, len(lines))], "\n"))
		e := culprits[0]
		for _, part := range []string{e.Remedy.Now, e.Remedy.Permanently, e.Remedy.Program} {
			if !strings.Contains(seen, squeezed(part)) {
				t.Errorf("%q is beyond row 24:\n%s", part, text)
			}
		}
		if end := e.Chain[len(e.Chain)-1]; !strings.Contains(seen, squeezed(without(end.Text, end.Subject.Name))) {
			t.Errorf("the harm %q is cut or beyond row 24:\n%s", end.Text, text)
		}
	}
}

// Without a culprit the symptoms are the answer: they are whole.
func TestSymptomsAreWhole(t *testing.T) {
	n := 0
	for _, v := range cases(t) {
		if v.Standing() != verdict.Unproved || len(v.Symptoms) == 0 || v.Symptoms[0].Elsewhere {
			continue
		}
		n++
		text, _ := onTerminal(t, v)
		if !strings.Contains(squeezed(text), squeezed(v.Symptoms[0].Text)) {
			t.Errorf("the harm %q is cut:\n%s", v.Symptoms[0].Text, text)
		}
	}
	if n < 5 {
		t.Errorf("only %d cases", n)
	}
}

func TestASubjectIsNotRepeated(t *testing.T) {
	for _, c := range []struct{ text, subject, want string }{
		{"ledger[80] waited for a disk", "ledger[80]", "waited for a disk"},
		{"ledger[801] waited", "ledger[80]", "ledger[801] waited"},
		{"it waited", "", "it waited"},
		{"sda", "sda", "sda"},
	} {
		if got := without(c.text, c.subject); got != c.want {
			t.Errorf("without(%q, %q) = %q, want %q", c.text, c.subject, got, c.want)
		}
	}
	for _, v := range cases(t) {
		for _, e := range v.Here(verdict.Culprit) {
			again := ": " + e.Subject.Name + ", "
			text, _ := onTerminal(t, v)
			for i, l := range e.Chain {
				if i == 1 && l.Subject.Name == e.Subject.Name && strings.Contains(squeezed(text), squeezed(l.Name+again)) {
					t.Errorf("%s is named twice:\n%s", e.Subject.Name, text)
				}
			}
		}
	}
}

func TestProofSaysWhatDistinguishes(t *testing.T) {
	piece := func(side suspect.Side, grade suspect.Grade, origin, doubt string) suspect.Evidence {
		return suspect.Evidence{Side: side, Grade: grade, Origin: origin, Doubt: doubt}
	}
	proved := piece(suspect.For, suspect.Decisive, "a", "")
	for _, c := range []struct {
		evidence   []suspect.Evidence
		confidence float64
		want       string
	}{
		{[]suspect.Evidence{proved}, 0.97, "1 proof"},
		{[]suspect.Evidence{proved, proved}, 0.97, "1 proof"},
		{[]suspect.Evidence{proved, piece(suspect.For, suspect.Decisive, "b", ""), piece(suspect.For, suspect.Strong, "c", "")}, 0.99, "2 proofs, 1 strong sign"},
		{[]suspect.Evidence{piece(suspect.For, suspect.Strong, "c", ""), piece(suspect.For, suspect.Strong, "d", "sampled")}, 0.9, "2 strong signs, 1 doubt"},
		{[]suspect.Evidence{proved, piece(suspect.Against, suspect.Strong, "c", ""), piece(suspect.Missing, suspect.Weak, "d", "")}, 0.82, "1 proof, 1 against, 1 doubt, confidence 0.82"},
		{[]suspect.Evidence{piece(suspect.For, suspect.Weak, "c", "")}, 0.95, "weak signs only"},
	} {
		if got := proof(verdict.Entry{Evidence: c.evidence, Confidence: c.confidence}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Two culprits are an honest answer: where there is no room for all of the second, it is named all the same.
func TestEachCulpritIsNamed(t *testing.T) {
	n := 0
	for _, v := range cases(t) {
		culprits := v.Here(verdict.Culprit)
		if len(culprits) < 2 {
			continue
		}
		n++
		text, _ := onTerminal(t, v)
		for _, e := range culprits[:min(len(culprits), 1+mostNamed)] {
			if !strings.Contains(text, "CULPRIT  "+capital(e.Suspect.Title)) {
				t.Errorf("%s is not named:\n%s", e.Suspect.Name, text)
			}
		}
	}
	if n == 0 {
		t.Error("no case has two culprits")
	}
}
