package watch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// group is a call of three streams, with alarms that were held back before it.
func group() Call {
	one, two, three := frozen, frozen, frozen
	one.Server, two.Server = "a", "a"
	two.Stream, two.Event, two.For = "live/<b>&c", AlarmDown, 6*time.Second
	two.Judged, two.Verdict = &Judged{Culprit: "encoder-stall", Subject: "ffmpeg[40]", Confidence: 0.973, Proof: "1 proof, 1 strong sign", Recording: "/tmp/x/3"}, "it stalls"
	three.Stream, three.Layer, three.Over, three.Side = "live/cam3", "edge", true, "publisher"
	c := callOf(one, two, three)
	c.At = epoch.Add(4 * time.Second)
	c.Held = Held{Alarms: 5, Streams: []string{"live/cam3", "live/cam4"}, More: true}
	return c
}

func body(t *testing.T, form string, c Call) (text string, value any) {
	t.Helper()
	b, err := Forms[form](c)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &value); err != nil {
		t.Fatal(err)
	}
	return string(b), value
}

func TestSnagForm(t *testing.T) {
	text, _ := body(t, "snag", group())
	want := `{"id":"1","event":"freeze","stream":"live/cam1","url":"rtmp://a/live/cam1?key=…","onset":"2026-11-21T03:00:00Z","seconds":3.2,"verdict":"only this one","stream_count":3,"streams":[` +
		`{"event":"freeze","stream":"live/cam1","url":"rtmp://a/live/cam1?key=…","onset":"2026-11-21T03:00:00Z","seconds":3.2,"verdict":"only this one"},` +
		`{"event":"down","stream":"live/<b>&c","url":"rtmp://a/live/cam1?key=…","onset":"2026-11-21T03:00:00Z","seconds":6,"verdict":"it stalls","culprit":"encoder-stall","subject":"ffmpeg[40]","confidence":0.973,"recording":"/tmp/x/3"},` +
		`{"event":"freeze","stream":"live/cam3","side":"publisher","url":"rtmp://a/live/cam1?key=…","layer":"edge","onset":"2026-11-21T03:00:00Z","seconds":3.2,"over":true,"verdict":"only this one"}],` +
		`"held_back":{"alarms":5,"streams":["live/cam3","live/cam4"],"more_streams":true}}`
	if text != want {
		t.Errorf("it is\n%s", text)
	}
	if text, _ = body(t, "snag", callOf(frozen)); strings.Contains(text, "held_back") || strings.Contains(text, "over") {
		t.Errorf("what is not so is there: %s", text)
	}
}

// What Alertmanager's API asks of postableAlerts: labels and annotations that are
// texts, times that are RFC 3339, an end after the start.
func TestAlertmanagerForm(t *testing.T) {
	verdict, well, gone := frozen, frozen, frozen
	verdict.Event, verdict.Over = AlarmVerdict, true
	well.Event, well.Over = AlarmWell, true
	gone.Event = AlarmGone
	c := group()
	c.Alarms = append(c.Alarms, verdict, well, gone)
	text, value := body(t, "alertmanager", c)
	alerts, ok := value.([]any)
	if !ok || len(alerts) != 6 {
		t.Fatalf("it is %s", text)
	}
	firing := []bool{true, true, false, false, false, false}
	for i, a := range alerts {
		fields := a.(map[string]any)
		for name := range fields {
			if !slices.Contains([]string{"labels", "annotations", "startsAt", "endsAt", "generatorURL"}, name) {
				t.Errorf("an alert has no field %s", name)
			}
		}
		labels, annotations := texts(t, fields["labels"]), texts(t, fields["annotations"])
		if labels["alertname"] != "SnagStreamFault" || labels["stream"] != c.Alarms[i].Stream || annotations["summary"] == "" || annotations["url"] != frozen.URL {
			t.Errorf("%v %v", labels, annotations)
		}
		start, err := time.Parse(time.RFC3339, fields["startsAt"].(string))
		end, err2 := time.Parse(time.RFC3339, fields["endsAt"].(string))
		if err != nil || err2 != nil || !end.After(start) || !start.Equal(epoch) || end.After(c.At) != firing[i] {
			t.Errorf("%s from %v to %v", c.Alarms[i].Event, fields["startsAt"], fields["endsAt"])
		}
	}
	first, last := fmt.Sprint(texts(t, alerts[3].(map[string]any)["labels"])), fmt.Sprint(texts(t, alerts[4].(map[string]any)["labels"]))
	if first != last || strings.Contains(first, "freeze") {
		t.Errorf("an end has other labels than its alert: %s %s", first, last)
	}
	two := texts(t, alerts[1].(map[string]any)["annotations"])
	if two["culprit"] != "encoder-stall" || two["proof"] != "1 proof, 1 strong sign" || two["confidence"] != "" || two["description"] != "it stalls" || two["summary"] != "live/<b>&c is down for 6.0 s" {
		t.Errorf("%v", two)
	}
	if one := texts(t, alerts[0].(map[string]any)["annotations"]); one["held_back"] != "5 alarms of more than 2 streams (live/cam3, live/cam4 and others)" {
		t.Errorf("%v", one)
	}
	if three := texts(t, alerts[2].(map[string]any)["labels"]); three["layer"] != "edge" || three["side"] != "publisher" {
		t.Errorf("%v", three)
	}
}

func texts(t *testing.T, v any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, value := range v.(map[string]any) {
		text, ok := value.(string)
		if !ok || text == "" {
			t.Errorf("%s is %v", name, value)
		}
		out[name] = text
	}
	return out
}

func TestSlackForm(t *testing.T) {
	_, value := body(t, "slack", group())
	want := `3 streams:
live/cam1 is frozen for 3.2 s. only this one
live/&lt;b&gt;&amp;c is down for 6.0 s. it stalls
live/cam3 (edge) was frozen for 3.2 s and is healthy again. only this one
5 alarms of more than 2 streams (live/cam3, live/cam4 and others) had been postponed by a limit`
	if m := value.(map[string]any); m["text"] != want || len(m) != 1 {
		t.Errorf("it is %v", m)
	}
	many := callOf(frozen)
	for range 99 {
		many.Alarms = append(many.Alarms, frozen)
	}
	_, value = body(t, "slack", many)
	if text := value.(map[string]any)["text"].(string); len(text) > 4000 || strings.Count(text, "only this one") != 1 || !strings.HasSuffix(text, "and 80 streams more") {
		t.Errorf("it is %s", text)
	}
}

// What a command is told of a group, and of what was held back.
func TestEnvironmentOfAGroup(t *testing.T) {
	env := strings.Join(environment(group()), "|") + "|"
	for _, want := range []string{"SNAG_STREAM=live/cam1|", "SNAG_STREAMS=live/cam1\nlive/<b>&c\nlive/cam3|", "SNAG_STREAM_COUNT=3|", "SNAG_HELD=5|", "SNAG_HELD_STREAMS=live/cam3\nlive/cam4|"} {
		if !strings.Contains(env, want) {
			t.Errorf("%q is not in %q", want, env)
		}
	}
	c := group()
	c.Alarms, c.Held = c.Alarms[2:], Held{}
	env = strings.Join(environment(c), "|") + "|"
	if !strings.Contains(env, "SNAG_OVER=1|") || !strings.Contains(env, "SNAG_SIDE=publisher|") || strings.Contains(env, "SNAG_STREAMS") || strings.Contains(env, "SNAG_HELD") {
		t.Errorf("it is %q", env)
	}
	for _, name := range environment(group()) {
		if name, _, _ = strings.Cut(name, "="); !slices.Contains(variables, name) {
			t.Errorf("%s of an outer snag would be passed on", name)
		}
	}
}
