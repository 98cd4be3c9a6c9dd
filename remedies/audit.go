package remedies

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"snag/recording"
	"snag/remedies/audit"
	"snag/remedies/plan"
	"snag/suspects/suspect"
)

// Audit makes a plan for a host's role, without a symptom: what is too small for it,
// each with its source and with the measurement that would show that it matters.
func Audit(r *recording.Recording, role audit.Role, d audit.Design, here Here) (*plan.Plan, error) {
	if !slices.Contains(audit.Roles, role) {
		var all []string
		for _, known := range audit.Roles {
			all = append(all, string(known))
		}
		return nil, fmt.Errorf("%q is not a role: it is one of %s", role, strings.Join(all, ", "))
	}
	risks, covered := audit.Of(r, role, d)
	b := builder{here: here, at: map[string]int{}, p: &plan.Plan{
		Version: plan.Version, Made: plan.At(time.Now()), Host: r.Manifest.Host, Kernel: r.Manifest.Kernel,
		For: plan.Cause{Role: string(role)}, Covered: covered,
	}}
	b.fine = func(t plan.Target, now string) { b.p.Covered = append(b.p.Covered, t.String()+": "+now) }
	for i, k := range risks {
		if k.Setting.Kind != "" && (i == 0 || k.Setting.Group == "" || risks[i-1].Setting.Group != k.Setting.Group) {
			before := len(b.p.Changes)
			b.settings(together(risks[i:]), "", "it matters if: "+k.Shows)
			for i := before; i < len(b.p.Changes); i++ {
				b.p.Changes[i].Source = k.Source
			}
		}
		if k.Call.Do != "" {
			b.advise(plan.Advice{Who: k.Call.Whose(), Do: k.Call.Do, Why: k.Call.Why + "; it matters if: " + k.Shows + " [" + k.Source + "]"})
		}
	}
	b.p.For.Text = tells(len(b.p.Changes)+len(b.p.Advice), b.p.Covered)
	return b.done(), nil
}

// together are the first of some settings and those after it of the same group.
func together(risks []audit.Risk) []suspect.Setting {
	all := []suspect.Setting{risks[0].Setting}
	for _, k := range risks[1:] {
		if g := k.Setting.Group; g == "" || g != all[0].Group {
			break
		}
		all = append(all, k.Setting)
	}
	return all
}

func tells(risks int, covered []string) string {
	unseen := ""
	seen := len(covered)
	for _, c := range covered {
		if strings.Contains(c, audit.NotSeen) {
			seen--
		}
	}
	if n := len(covered) - seen; n > 0 {
		unseen = fmt.Sprintf("; %d could not be seen", n)
	}
	if risks == 0 {
		return fmt.Sprintf("nothing is too small for it: %d settings were looked at, and the host's own values cover the role%s", seen, unseen)
	}
	return fmt.Sprintf("risks, not faults: no client was seen to suffer from them; %d more settings are as the role needs them%s", seen, unseen)
}
