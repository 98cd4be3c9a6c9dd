package agent

import (
	"fmt"
	"reflect"

	"snag/report"
)

// Lists of a finding that are cut whatever the size.
const (
	mostActive   = 3
	mostChain    = 4
	mostSettings = 5
	mostCommand  = 1500 // bytes; half a command must not be run
	mostNames    = 80
)

// fit cuts an answer to a size, and says in LeftOut what that took.
func (a *Answer) fit(s size) {
	first(&a.Symptoms, s.symptoms, "symptoms", &a.LeftOut)
	first(&a.Findings, s.findings, "findings", &a.LeftOut)
	first(&a.Others, s.others, "other findings", &a.LeftOut)
	first(&a.Blind, s.others, "probes that did not measure all", &a.LeftOut)
	first(&a.Warnings, s.symptoms, "warnings", &a.LeftOut)
	first(&a.Cleared, mostNames, "cleared suspects", &a.LeftOut)
	first(&a.NotSeen, mostNames, "suspects not seen", &a.LeftOut)
	for i := range a.Symptoms {
		first(&a.Symptoms[i].Active, mostActive, "", nil)
	}
	for i := range a.Findings {
		a.Findings[i] = fitted(a.Findings[i], s, &a.LeftOut)
	}
	path, uri := a.Path, a.URI
	shorten(reflect.ValueOf(a).Elem(), s.runes)
	a.Path, a.URI = path, uri
}

// fitted is a finding cut to a size. The document's own row stays as it is.
func fitted(e report.Entry, s size, left *[]string) report.Entry {
	of := " of " + e.ID
	first(&e.Evidence, s.evidence, "evidence"+of, left)
	e.Evidence = append([]report.Evidence{}, e.Evidence...)
	for i := range e.Evidence {
		e.Evidence[i].Series = nil // the whole verdict has them
	}
	first(&e.Active, mostActive, "", nil)
	first(&e.Chain, mostChain, "", nil)
	first(&e.LeadsTo, mostSettings, "", nil)
	first(&e.Settings, mostSettings, "settings"+of, left)
	first(&e.Calls, mostSettings, "calls"+of, left)
	if e.Remedy != nil {
		r := *e.Remedy
		if r.Now != nil && len(*r.Now) > mostCommand {
			r.Now = nil
			*left = append(*left, "the command that helps now"+of+", which is long")
		}
		e.Remedy = &r
	}
	return e
}

// first keeps the first of a list, in a list of its own, and notes how many are left out.
func first[T any](list *[]T, most int, what string, left *[]string) {
	n := len(*list) - most
	*list = append([]T{}, (*list)[:min(most, len(*list))]...)
	if n > 0 && left != nil {
		*left = append(*left, fmt.Sprintf("%d more %s", n, what))
	}
}

// shorten cuts all texts but commands. Pointers lead to copies: the document stays as it is.
func shorten(v reflect.Value, most int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(cut(v.String(), most))
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		c := reflect.New(v.Type().Elem())
		c.Elem().Set(v.Elem())
		shorten(c.Elem(), most)
		v.Set(c)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type() != reflect.TypeFor[report.Remedy]() || v.Type().Field(i).Name != "Now" {
				shorten(v.Field(i), most)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			shorten(v.Index(i), most)
		}
	}
}

// cut keeps so many characters of a text, and shows that there are more.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	n := 0
	for i := range text {
		if n++; n == most {
			return fmt.Sprintf("%s…", text[:i])
		}
	}
	return text
}
