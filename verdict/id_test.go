package verdict

import (
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"snag/recording/rectest"
	"snag/suspects"
	"snag/suspects/suspect"
)

var form = regexp.MustCompile(`^[a-z-]+(#[0-9a-f]{6}(-[0-9]+)?)?$`)

// An id is of a suspect and a subject: judging again gives the same ones, and so does a catalogue in another order, or
// one without a suspect that found something.
func TestIDsAreOfTheSubject(t *testing.T) {
	files, err := filepath.Glob("../suspects/testdata/*/guilty*.txtar")
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	backwards := slices.Clone(suspects.All)
	slices.Reverse(backwards)
	several := 0
	for i := 0; i < len(files); i += 4 { // each is judged four times
		file := files[i]
		ids := func(all []*suspect.Suspect) map[string]string {
			c, err := rectest.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			out, seen := map[string]string{}, map[string]bool{}
			for _, e := range judge(c.Recording, all).Entries {
				if seen[e.ID] || !form.MatchString(e.ID) || (e.Subject.Kind == "") != (e.ID == e.Suspect.Name) {
					t.Errorf("%s: id %q of %s", file, e.ID, e.Subject.Name)
				}
				seen[e.ID] = true
				out[e.Suspect.Name+" "+e.Subject.Name+" "+e.Text] = e.ID
			}
			return out
		}
		once := ids(suspects.All)
		own := filepath.Base(filepath.Dir(file))
		without := slices.DeleteFunc(slices.Clone(suspects.All), func(s *suspect.Suspect) bool { return s.Name == own })
		for _, again := range []map[string]string{ids(suspects.All), ids(backwards), ids(without)} {
			for what, id := range again {
				if first, ok := once[what]; ok && id != first {
					t.Errorf("%s: %s is %s, then %s", file, what, first, id)
				}
			}
		}
		if len(once) > len(suspects.All) { // each has a row at least
			several++
		}
	}
	if several == 0 {
		t.Error("no verdict has two subjects of one suspect")
	}
}
