package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/lab"
	"snag/lab/all"
	"snag/lab/busy"
	"snag/lab/calibrate"
	"snag/lab/score"
	"snag/recording"
	"snag/verdict"
)

// calibrateCommand makes `snag-lab calibrate`.
func calibrateCommand() *cobra.Command {
	var from []string
	var file, page string
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Fit the confidence of verdicts to what came true in kept recordings",
		Long: `Judges the recordings of a score again, holds every accusation, and every finding
that was suspected and not proved, against the truth, and fits the weights of the
confidence (verdict/weights.go). Prints how the weights hold on incidents that the
fit has not seen, beside those before.`,
		Args: cli.UsageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if len(from) == 0 {
				return cli.Usage("give --from DIR, the folder of a score")
			}
			var samples []calibrate.Sample
			for _, dir := range from {
				some, err := samplesOf(score.Folder(dir))
				if err != nil {
					return err
				}
				samples = append(samples, some...)
			}
			return runCalibrate(c.OutOrStdout(), samples, file, page)
		},
	}
	c.Flags().StringSliceVar(&from, "from", nil, "folders of kept recordings")
	c.Flags().StringVar(&file, "write", "", "write the weights to this Go file")
	c.Flags().StringVar(&page, "markdown", "", "write the tables into this file, between its lines <!-- calibration --> and <!-- /calibration -->")
	return c
}

// samplesOf judges every recording of every case that the folder has.
func samplesOf(folder score.Folder) ([]calibrate.Sample, error) {
	cases := score.Repeat(score.Plan(all.Incidents, all.Pairs, lab.Levels), 3)
	cases = append(cases, healthyCases(30*len(busy.Loads))...)
	var out []calibrate.Sample
	for _, c := range cases {
		k, r, err := folder.Load(c.Key())
		if errors.Is(err, fs.ErrNotExist) || err == nil && r == nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		some, err := samplesIn(c, k, r)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// samplesIn are the entries of one verdict that accuse or nearly do.
func samplesIn(c score.Case, k score.Kept, r *recording.Recording) ([]calibrate.Sample, error) {
	v := verdict.Judge(r)
	here := k.Here()
	var out []calibrate.Sample
	told := map[string]bool{} // a suspect on twenty sockets is one accusation
	for _, e := range v.Entries {
		if here != nil && e.Subject.Netns != 0 && !here[e.Subject.Netns] {
			continue
		}
		parts, err := json.Marshal(e.Subject)
		if err != nil {
			return nil, err
		}
		a := lab.AnswerEntry{Suspect: e.Suspect.Name, Subject: lab.Subject(e.Subject.Name), Ref: lab.Subject(parts)}
		right := false
		for _, w := range c.Wants() {
			ok, err := w.Allows(a)
			if err != nil {
				return nil, err
			}
			right = right || ok
		}
		if here != nil && e.Subject.Netns == 0 && !right {
			continue // of the whole machine, on which others made incidents: the truth is not known
		}
		signs := verdict.SignsOf(e.Evidence, e.Suspect, r)
		suspected := e.State == verdict.NotSeen && (signs.Decisive || signs.Support > 0)
		if key := e.Suspect.Name + string(e.State); (e.State == verdict.Culprit || suspected) && !told[key] {
			told[key] = true
			out = append(out, calibrate.Sample{Group: c.Name(), Terms: signs.Terms(), Right: right})
		}
	}
	return out, nil
}

func runCalibrate(w io.Writer, samples []calibrate.Sample, file, page string) error {
	if len(samples) == 0 {
		return errors.New("calibrate: no recording of a score in there: snag-lab score --dir makes them")
	}
	weights, err := calibrate.Fit(samples, verdict.Prior)
	if err != nil {
		return err
	}
	unseen, err := calibrate.Unseen(samples, verdict.Prior)
	if err != nil {
		return err
	}
	var before, after, unseenClaims []score.Claim
	right := 0
	for i, s := range samples {
		if s.Right {
			right++
		}
		before = append(before, score.Claim{Confidence: verdict.Probability(s.Terms, verdict.Prior), Right: s.Right})
		after = append(after, score.Claim{Confidence: verdict.Probability(s.Terms, weights), Right: s.Right})
		unseenClaims = append(unseenClaims, score.Claim{Confidence: unseen[i], Right: s.Right})
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %d accusations and near ones, %d of them right.\n\n| weight | before | fitted |\n|---|---|---|\n",
		time.Now().UTC().Format("2006-01-02"), len(samples), right)
	for i, name := range verdict.SignNames {
		fmt.Fprintf(&text, "| %s | %.2f | %.2f |\n", name, verdict.Prior[i], weights[i])
	}
	for _, t := range []struct {
		name   string
		claims []score.Claim
	}{{"Before", before}, {"Fitted, each incident by the others' fit", unseenClaims}, {"Fitted, by the fit on all", after}} {
		c := score.Calibrate(t.claims)
		fmt.Fprintf(&text, "\n%s. %s", t.name, c.Table())
	}
	if _, err := io.WriteString(w, text.String()); err != nil {
		return err
	}
	if page != "" {
		if err := score.Insert(page, "calibration", text.String()); err != nil {
			return err
		}
	}
	if file == "" {
		return nil
	}
	if err := os.WriteFile(file, []byte(weightsFile(weights, len(samples), right)), 0o644); err != nil {
		return fmt.Errorf("write the weights: %w", err)
	}
	return nil
}

func weightsFile(weights []float64, n, right int) string {
	var text []string
	for _, w := range weights {
		text = append(text, fmt.Sprintf("%.3f", w))
	}
	return fmt.Sprintf(`package verdict

// weights of Signs.Terms, by snag-lab calibrate on %s: %d accusations and near ones
// of the lab's runs, %d of them right (docs/score.md).
var weights = [...]float64{%s}
`, time.Now().UTC().Format("2006-01-02"), n, right, strings.Join(text, ", "))
}
