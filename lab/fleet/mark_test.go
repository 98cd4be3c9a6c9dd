package fleet

import (
	"strings"
	"testing"
)

func TestMarkOf(t *testing.T) {
	want := Want{"origin-2", []string{"process-stopped"}, `playlist-srv`}
	outside := Want{"", []string{"", "slow-dependency"}, database}
	right := Cause{Host: "origin-2", Suspect: "process-stopped", Subject: "playlist-srv[7]"}
	proved := Cause{Host: "edge-1"} // is affected, and nobody is named
	for name, c := range map[string]struct {
		want   *Want
		causes []Cause
		mark   Mark
	}{
		"right":                 {&want, []Cause{right, proved}, Mark{Host: true, Right: true}},
		"after one not proved":  {&want, []Cause{proved, right}, Mark{Host: true, Right: true}},
		"another beside":        {&want, []Cause{right, {Host: "lb", Suspect: "x"}}, Mark{Host: true, Right: true, Accused: 1}},
		"another first":         {&want, []Cause{{Host: "lb", Suspect: "x"}, right}, Mark{Accused: 1}},
		"the host, another":     {&want, []Cause{{Host: "origin-2", Suspect: "process-stopped", Subject: "auth-srv"}}, Mark{Host: true, Accused: 1}},
		"nobody":                {&want, []Cause{proved}, Mark{}},
		"a server outside":      {&outside, []Cause{{Server: database}}, Mark{Host: true, Right: true}},
		"another server":        {&outside, []Cause{{Server: "10.90.0.13:8080"}}, Mark{Host: true, Accused: 1}},
		"healthy":               {nil, []Cause{proved}, Mark{}},
		"accused while healthy": {nil, []Cause{right, {Server: database}}, Mark{Accused: 2}},
	} {
		if got := MarkOf(c.want, Document{Causes: c.causes}); got != c.mark {
			t.Errorf("%s: %+v, want %+v", name, got, c.mark)
		}
	}
}

func TestCountSamples(t *testing.T) {
	series := func(at ...float64) (s found) {
		for _, t := range at {
			s.Points = append(s.Points, point{t, 1})
		}
		return s
	}
	for name, c := range map[string]struct {
		series          found
		asked, answered int
	}{
		"all":                   {series(1000, 1015, 1030, 1045), 4, 4},
		"one is missing":        {series(1000, 1030, 1045), 4, 3},
		"two are missing":       {series(1000, 1045), 4, 2},
		"the end is missing":    {series(1000, 1015), 4, 2},
		"the newest on its way": {series(1000, 1015, 1030), 3, 3},
	} {
		s := countSamples([]found{c.series}, 1055)
		if s.Asked != c.asked || s.Answered != c.answered || s.Hosts != 1 {
			t.Errorf("%s: %+v, want %d of %d", name, s, c.answered, c.asked)
		}
	}
}

func TestParseFound(t *testing.T) {
	all, err := parseFound([]byte(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"instance":"lb"},"values":[[1000.5,"1"],[1015.5,"2"]]}]}}`))
	if err != nil || len(all) != 1 || all[0].Labels["instance"] != "lb" || len(all[0].Points) != 2 || all[0].last() != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := parseFound([]byte(`{"status":"error","error":"no"}`)); err == nil || !strings.Contains(err.Error(), "no") {
		t.Error(err)
	}
}

func TestSum(t *testing.T) {
	all := []Outcome{
		{Incident: "a", Mark: Mark{Host: true, Right: true}, Samples: Samples{Asked: 10, Answered: 10}},
		{Incident: "b", Mark: Mark{Host: true, Accused: 1}, Samples: Samples{Asked: 10, Answered: 9}},
	}
	text := SumOf(all).String()
	for _, want := range []string{"subject first: 1 of 2, 0.50 (0.09 to 0.91)", "host first: 2 of 2", "in 1 of 2 incidents, in 0 of 2 healthy", "19 of 20"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if table := Table(all); !strings.Contains(table, "| a, 0 |") || !strings.Contains(table, "9 of 10") {
		t.Error(table)
	}
}

func TestParseCPUTime(t *testing.T) {
	v, err := parseCPUTime("12 (a b) c) S 1 1 1 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 1 0 99")
	if err != nil || v != 2 {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := parseCPUTime("12 (a) S"); err == nil {
		t.Error("too few fields are taken")
	}
}

// Every incident has a host and a service of the fleet.
func TestIncidents(t *testing.T) {
	kinds := map[string]bool{}
	for _, i := range Incidents {
		kinds[i.Name] = true
		if i.Want.Host != "" {
			addr(i.Want.Host) // panics of a host that there is not
		}
	}
	if len(Incidents) != 10 || len(kinds) < 6 || len(Hosts) != 12 {
		t.Errorf("%d incidents of %d kinds at %d hosts", len(Incidents), len(kinds), len(Hosts))
	}
}

func TestGroupOf(t *testing.T) {
	const both = "2:cpuacct:/x\n1:cpu:/a/b\n0::/u\n"
	for version, want := range map[int]string{1: "/a/b", 2: "/u"} {
		if got := groupOf(both, version); got != want {
			t.Errorf("version %d: %q, want %q", version, got, want)
		}
	}
	if got := groupOf("3:cpu,cpuacct:/c\n", 1); got != "/c" {
		t.Error(got)
	}
	if got := groupOf("", 2); got != "/" {
		t.Error(got)
	}
}
