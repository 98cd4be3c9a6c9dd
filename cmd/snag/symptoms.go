package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"snag/internal/cli"
	"snag/internal/shown"
	"snag/recording"
	"snag/verdict"
)

// mostSymptom is how long the words of one --symptom may be, bytes: they are in every report.
const mostSymptom = 500

const symptomExample = "such as --symptom 'freeze 14:17:28 on port 1935'"

var (
	timeOfDay = regexp.MustCompile(`^\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?Z?$`)
	portAfter = regexp.MustCompile(`(?i)\bport (\d+)`)
)

// checkSymptoms refuses words that say nothing, and times and ports that there are not: they would be taken for words.
func checkSymptoms(all []string) error {
	for _, text := range all {
		if why := wrongSymptom(text); why != "" {
			return cli.Usage("--symptom %q: %s; say what you saw, and when, %s", shown.Text(text), why, symptomExample)
		}
	}
	return nil
}

func wrongSymptom(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "it is empty"
	case !utf8.ValidString(text) || !shown.Safe(text):
		return "it has characters that cannot be shown"
	case len(text) > mostSymptom:
		return fmt.Sprintf("it is longer than %d bytes", mostSymptom)
	}
	for _, word := range strings.Fields(text) {
		word = strings.Trim(word, ".,;!?()'\"")
		if !timeOfDay.MatchString(word) {
			continue
		}
		if _, _, ok := recording.FindMoment(word, recording.Time(0), 0); !ok {
			return word + " is not a time of day"
		}
	}
	for _, m := range portAfter.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[1]); err != nil || n < 1 || n > 65535 {
			return m[1] + " is not a port (1 to 65535)"
		}
	}
	return ""
}

// vagueSymptoms says of which words no kind of trouble is known: they stand for any trouble of the whole host, unless
// they name a process or an address of it.
func vagueSymptoms(all []string) string {
	for _, text := range all {
		if _, known := verdict.SymptomOf(text); !known {
			return fmt.Sprintf("--symptom %q names no kind of trouble that snag knows (%s): any trouble is looked for", text, strings.Join(verdict.SymptomWords(), ", "))
		}
	}
	return ""
}
