package watch

import "strings"

// mostLines is how many streams a Slack message lists: it is for a person.
const mostLines = 20

// slackForm is the body of an incoming webhook.
func slackForm(c Call) ([]byte, error) {
	var lines []string
	n := len(c.Alarms)
	if n > 1 {
		lines = append(lines, counted(n, "stream")+":")
	}
	verdict := "" // streams that stopped together often have the same
	for _, a := range c.Alarms[:min(n, mostLines)] {
		line := a.sentence()
		if a.Verdict != "" && a.Verdict != verdict {
			line += ". " + a.Verdict
			verdict = a.Verdict
		}
		lines = append(lines, line)
	}
	if n > mostLines {
		lines = append(lines, "and "+counted(n-mostLines, "stream")+" more")
	}
	if c.Held.Alarms > 0 {
		lines = append(lines, c.Held.String()+" had been postponed by a limit")
	}
	if c.Lost.Alarms > 0 {
		lines = append(lines, c.Lost.String()+" could not be delivered before")
	}
	text := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(strings.Join(lines, "\n"))
	return plainJSON(map[string]string{"text": text})
}

// sentence is what an alarm says, for a person.
func (a Alarm) sentence() string {
	name := a.Stream
	if a.Layer != "" {
		name += " (" + a.Layer + ")"
	}
	switch a.Event {
	case AlarmWell:
		if a.First {
			return name + " has its first frame, " + short(a.For) + " after it was asked for"
		}
		return name + " is healthy again, after " + short(a.For)
	case AlarmGone:
		return name + " is no longer watched; it had stopped, and how it is now is not known"
	case AlarmVerdict:
		if a.Over {
			return name + " had stopped for " + short(a.For)
		}
		return name + " stopped " + short(a.For) + " ago"
	}
	if a.Over {
		return name + " was " + a.condition() + " and is healthy again"
	}
	return name + " is " + a.condition()
}
