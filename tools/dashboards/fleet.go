package main

var fleet = board{
	name: "fleet", title: "snag: fleet", variables: []variable{ofHost},
	about: "All hosts with a recorder: who is affected, by what, and which recorder is silent.",
	panels: []panel{
		{kind: number, title: "Hosts affected", answer: "How many hosts have clients or streams that are affected now?", width: quarter, height: low, red: 1, empty: "no recorder is seen",
			asks: []ask{{"sum(snag_verdict_hurt" + of + ")", ""}}},
		{kind: number, title: "Hosts that are seen", answer: "How many recorders sent something within the last minutes?", width: quarter, height: low, empty: "no recorder is seen",
			asks: []ask{{"count(snag_record_up" + of + ")", ""}}},
		{kind: number, title: "Silent recorders", answer: "Of how many hosts is nothing known now? They sent something within the last day, and not now.", width: quarter, height: low, red: 1, empty: "no recorder is seen",
			asks: []ask{{"count(count by (instance) (" + silent + ")) or 0 * count(snag_record_up" + of + ")", ""}}},
		{kind: number, title: "Paused recorders", answer: "How many recorders are paused, as the disk is full?", width: quarter, height: low, red: 1, empty: "no recorder is seen",
			asks: []ask{{"count(snag_record_up" + of + " == 0) or 0 * count(snag_record_up" + of + ")", ""}}},
		{kind: lines, title: "Hosts affected", answer: "Since when, and how many at a time?", width: full, height: middle, empty: "no recorder is seen",
			asks: []ask{{"sum(snag_verdict_hurt" + of + ")", "affected"}, {"count(snag_record_up" + of + ")", "seen"}}},
		{kind: rows, title: "Causes by host", answer: "What holds up each host, by its own recorder? `snag find --fleet` follows it from host to host.", width: half, height: 10, empty: "no culprit proved on any host", links: "snag-host",
			asks:    []ask{{"sort(snag_incident_culprit" + of + ")", ""}},
			columns: []column{{"instance", "host", ""}, {"Value", "place", ""}, {"suspect", "suspect", ""}, {"subject", "subject", ""}}},
		{kind: rows, title: "Who is affected", answer: "Which services and streams of which hosts have a symptom?", width: half, height: 10, empty: "nobody is affected", links: "snag-host",
			asks:    []ask{{"snag_incident_symptom" + of, ""}},
			columns: []column{{"instance", "host", ""}, {"symptom", "symptom", ""}, {"subject", "subject", ""}}},
		{kind: lines, title: "Causes over time", answer: "Which causes are named, on how many hosts?", width: half, height: middle, empty: "no culprit proved on any host",
			asks: []ask{{"count by (suspect) (snag_incident_culprit" + of + " == 1)", "{{suspect}}"}}},
		{kind: rows, title: "Silent and paused recorders", answer: "Of which hosts is nothing known now? `systemctl status snag-record` on the host says why.", width: half, height: middle, empty: "all recorders are seen", links: "snag-host",
			asks:    []ask{{"count by (instance) (" + silent + ") or count by (instance) (snag_record_up" + of + " == 0)", ""}},
			columns: []column{{"instance", "host", ""}}},
		{kind: rows, title: "Links by answer time", answer: "Which calls from a host to a server take the longest, and how many are there?", width: full, height: 10, empty: "nothing was asked", links: "snag-host",
			asks: []ask{
				{slowest, ""},
				{link("answers") + " and " + slowest, ""},
			},
			columns: []column{{"instance", "host", ""}, {"process", "process", ""}, {"server", "asks", ""}, {"Value #A", "answer time", "s"}, {"Value #B", "answers per second", "reqps"}}},
		{kind: lines, title: "Time in calls", answer: "Which server takes the most time of all hosts together?", width: half, height: middle, empty: "nothing was asked",
			asks: []ask{{"topk(10, sum by (server) (rate(snag_dependency_answer_seconds_total" + of + "[$__rate_interval])))", "{{server}}"}}},
		{kind: lines, title: "Left out, lost, refused", answer: "Which recorders send not all: series above the bound, requests that the store refused or that were lost?", width: half, height: middle, empty: "nothing is sent",
			asks: []ask{
				{"snag_remote_write_names_left_out" + of + " > 0", "{{instance}}: names left out"},
				{"increase(snag_remote_write_refused_total" + of + "[$__rate_interval]) > 0", "{{instance}}: requests refused"},
				{"increase(snag_remote_write_lost_total" + of + "[$__rate_interval]) > 0", "{{instance}}: requests lost"},
			}},
	},
}

// silent are recorders that sent something within the last day, and not now.
const silent = "max_over_time(snag_record_up" + of + "[1d]) unless on (instance) snag_record_up" + of

// slowest are the links with answers, by their mean answer time.
var slowest = "topk(30, " + link("answer_seconds") + " / (" + link("answers") + " > 0))"

func link(counter string) string {
	return "sum by (instance, process, server) (rate(snag_dependency_" + counter + "_total" + of + "[$__rate_interval]))"
}
