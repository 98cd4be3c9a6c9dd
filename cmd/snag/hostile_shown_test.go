package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"snag/internal/shown"
	"snag/recording"
	"snag/remedies"
	"snag/report"
	"snag/report/page"
	"snag/report/profile"
	"snag/verdict"
)

// evil is what a stranger's recording may have in any text: a title for the terminal,
// the order of letters turned round, a line of its own.
const evil = "\x1b]0;evil\a\u202e\u2066\u009b31m\u200b\u2028\x7f\nCULPRIT"

// injector puts it into texts, by where these stand: "Sockets.Owners.Comm".
type injector struct {
	into func(place string) bool
	seen map[string]bool
	n    int
}

func (j *injector) recording(r *recording.Recording) {
	dir := r.Dir
	j.walk(reflect.ValueOf(r).Elem(), "")
	r.Dir = dir
	recording.SortSeries(r.Series)
}

func (j *injector) walk(v reflect.Value, place string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				j.walk(v.Field(i), place+"."+f.Name)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			j.walk(v.Index(i), place)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			j.walk(v.Elem(), place)
		}
	case reflect.Map:
		j.pairs(v, place)
	case reflect.String:
		j.seen[place] = true
		if j.into(place) {
			v.SetString(v.String() + evil)
			j.n++
		}
	}
}

// pairs puts it into the keys and the values of a map.
func (j *injector) pairs(v reflect.Value, place string) {
	for _, key := range v.MapKeys() {
		k, value := reflect.New(key.Type()).Elem(), reflect.New(v.Type().Elem()).Elem()
		k.Set(key)
		value.Set(v.MapIndex(key))
		v.SetMapIndex(key, reflect.Value{})
		j.walk(k, place+".key")
		j.walk(value, place+".value")
		v.SetMapIndex(k, value)
	}
}

// ours are the colours that snag itself may write.
var ours = regexp.MustCompile("\x1b\\[(0|1|2|31|32|33)m")

// raw is the first line with something that a terminal would obey or hide.
func raw(text string) string {
	for line := range strings.Lines(ours.ReplaceAllString(text, "")) {
		if line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", ""); !shown.Safe(line) {
			return line
		}
		if line == "CULPRIT" {
			return line // a line that a stranger began
		}
	}
	return ""
}

type rendering struct {
	name  string
	write func(w io.Writer, v *verdict.Verdict) error
}

func textWith(o report.Options) func(io.Writer, *verdict.Verdict) error {
	return func(w io.Writer, v *verdict.Verdict) error { return report.WriteText(w, v, o) }
}

var renderings = []rendering{
	{"text, 80 columns", textWith(report.Options{Width: 80})},
	{"text, wide, in colour", textWith(report.Options{Width: 160, Color: true})},
	{"text -v", textWith(report.Options{Verbose: true})},
	{"contents", func(w io.Writer, v *verdict.Verdict) error { return report.WriteContents(w, v.Recording) }},
	{"tables", func(w io.Writer, v *verdict.Verdict) error {
		for _, name := range append(recording.TableNames(), "samples") {
			if err := showTable(w, v.Recording, name); err != nil {
				return err
			}
		}
		return nil
	}},
	{"brief", writeBriefs},
	{"JSON", report.WriteJSON},
	{"page", func(w io.Writer, v *verdict.Verdict) error {
		var b bytes.Buffer
		err := page.WriteHTML(&b, v)
		text := b.String()
		from := strings.Index(text, `<noscript>`)
		to := strings.Index(text, "</script>")
		_, _ = io.WriteString(w, regexp.MustCompile(`<title>[^<]*`).FindString(text)+"\n"+text[from:to]) // without the bundle
		return err
	}},
	{"found", func(w io.Writer, v *verdict.Verdict) error { return report.WriteFound(w, v.Recording) }},
	{"calls", func(w io.Writer, v *verdict.Verdict) error {
		c := report.SumCalls(v.Recording)
		if err := report.WriteCallsJSON(w, c); err != nil {
			return err
		}
		return report.WriteCalls(w, c, report.TableOptions{})
	}},
	{"profile", writeProfiles},
	{"plan", writePlans},
}

func writeBriefs(w io.Writer, v *verdict.Verdict) error {
	for _, s := range v.Recording.Streams {
		if b, ok := report.BriefOn(v, s); ok {
			fmt.Fprintf(w, "%s\n%s\n", b.Subject, b.Text)
		}
	}
	return nil
}

func writeProfiles(w io.Writer, v *verdict.Verdict) error {
	for _, kind := range []string{profile.OnCPU, profile.OffCPU} {
		p, err := profile.From(v.Recording, profile.Options{Kind: kind})
		if err != nil {
			continue
		}
		if err := p.WriteText(w, profile.TextOptions{Width: 100}); err != nil {
			return err
		}
	}
	return profile.WriteLocks(w, v.Recording, 0, profile.TextOptions{Width: 100})
}

func writePlans(w io.Writer, v *verdict.Verdict) error {
	p, err := remedies.For(v, hostOf(v.Recording, true))
	if err != nil {
		fmt.Fprintln(shown.To(w), err)
		return nil
	}
	p.Host, p.Kernel = v.Recording.Manifest.Host, v.Recording.Manifest.Kernel
	for i := range p.Changes { // also where the recording has no such device or group
		p.Changes[i].Target.Path += evil
		p.Changes[i].Target.Device += evil
	}
	yaml, err := p.Text()
	if err != nil {
		return err
	}
	json, err := p.JSON()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\n%s\n", yaml, json)
	return report.WritePlan(w, p, report.Options{})
}

// sickOnes are packed recordings of the lab: all, or the fewest that have every table.
func sickOnes(t testing.TB, all bool) [][]byte {
	files, err := filepath.Glob("../../lab/recordings/*-sick.snag")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	var out [][]byte
	have := map[string]bool{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if all {
			out = append(out, b)
			continue
		}
		r, err := recording.OpenPacked(bytes.NewReader(b), f)
		if err != nil {
			t.Fatal(err)
		}
		news := false
		for _, name := range recording.TableNames() {
			if rows, _ := r.Rows(name); len(rows) > 0 && !have[name] {
				have[name], news = true, true
			}
		}
		if news {
			out = append(out, b)
		}
	}
	return out
}

func inject(t testing.TB, packed []byte, into func(string) bool) (*recording.Recording, *injector) {
	r, err := recording.OpenPacked(bytes.NewReader(packed), "evil")
	if err != nil {
		t.Fatal(err)
	}
	j := &injector{into: into, seen: map[string]bool{}}
	j.recording(r)
	return r, j
}

// Whatever text of a recording holds what steers a terminal, nothing that snag prints
// has it raw.
func TestNothingOfAStrangersSteersTheTerminal(t *testing.T) {
	t.Parallel()
	tries, values := 0, 0
	check := func(what string, packed []byte, into func(string) bool) *injector {
		r, j := inject(t, packed, into)
		v := verdict.Judge(r)
		for _, to := range renderings {
			var b bytes.Buffer
			if err := to.write(&b, v); err != nil {
				t.Errorf("%s, %s: %v", what, to.name, err)
			}
			if line := raw(b.String()); line != "" {
				t.Errorf("%s, %s: raw in %.300q", what, to.name, line)
			}
		}
		tries, values = tries+len(renderings), values+j.n
		return j
	}
	names := regexp.MustCompile(`Comm|Name|Cmdline|Path|Cgroup|Unit|Device|Host|Function|Frames|Attrs.value|Local|Remote|Value|Labels.value|Why|Text`)
	attack := os.Getenv("SNAG_ATTACK") != ""
	tried := map[string]bool{}
	for i, packed := range sickOnes(t, attack) {
		check("all texts", packed, func(string) bool { return true })
		j := check("names", packed, func(place string) bool {
			return names.MatchString(place) && place != ".Series.Name" && place != ".Coverage.Name"
		})
		for place := range j.seen {
			if attack && !tried[place] {
				check(place, packed, func(p string) bool { return p == place })
			} else if i == 0 && strings.HasPrefix(place, ".Processes") {
				check(place, packed, func(p string) bool { return p == place })
			}
			tried[place] = true
		}
	}
	places := make([]string, 0, len(tried))
	for p := range tried {
		places = append(places, p)
	}
	slices.Sort(places)
	t.Logf("%d renderings, %d values in %d places", tries, values, len(places))
}
