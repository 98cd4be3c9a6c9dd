package main

// of are the hosts that are chosen.
const of = `{instance=~"$instance"}`

var host = board{
	name: "host", title: "snag: host", variables: []variable{{name: "instance", title: "Host", query: ofHost.query, one: true}},
	about: "Who is affected on a host, and by what, how long its services take and what they wait for.",
	panels: []panel{
		{kind: number, title: "Clients or streams affected", answer: "Is anybody affected now? 1 while an incident lasts.", width: quarter, height: low, red: 1, empty: "not measured",
			asks: []ask{{"max(snag_verdict_hurt" + of + ")", ""}}},
		{kind: number, title: "Affected for", answer: "How long has the incident lasted?", unit: "s", width: quarter, height: low, empty: "no incident",
			asks: []ask{{"time() - min(snag_incident_begin_timestamp_seconds" + of + ")", ""}}},
		{kind: number, title: "Incidents in this range", answer: "How often was somebody affected?", width: quarter, height: low, empty: "not measured",
			asks: []ask{{"sum(increase(snag_incidents_total" + of + "[$__range]))", ""}}},
		{kind: number, title: "Recorder", answer: "Does the recorder record? 0: it is paused, as the disk is full. Without a value nothing is known of this host now.", width: quarter, height: low, empty: "silent",
			asks: []ask{{"min(snag_record_up" + of + ")", ""}}},
		{kind: rows, title: "Culprits", answer: "What causes the incident? The first is the first of the verdict. `sudo snag incidents` on the host has the evidence.", width: half, height: middle, empty: "no culprit proved",
			asks:    []ask{{"sort(snag_incident_culprit" + of + ")", ""}},
			columns: []column{{"Value", "place", ""}, {"suspect", "suspect", ""}, {"subject", "subject", ""}}},
		{kind: rows, title: "Symptoms", answer: "Who is affected, and how?", width: half, height: middle, empty: "no symptom",
			asks:    []ask{{"snag_incident_symptom" + of, ""}},
			columns: []column{{"symptom", "symptom", ""}, {"subject", "subject", ""}}},
		{kind: states, title: "Affected parties", answer: "Who was affected when?", width: full, height: middle, red: 1, empty: "nobody",
			asks: []ask{{"max by (party) (snag_party_hurt" + of + ")", "{{party}}"}}},

		{kind: separator, title: "What this host answers"},
		{kind: lines, title: "Answer time, mean", answer: "How long does each service take to answer?", unit: "s", width: half, height: middle, empty: "no service answered",
			asks: []ask{{perSecond("service", "answer_seconds", "process, listener") + " / " + perSecond("service", "answers", "process, listener"), "{{process}} {{listener}}"}}},
		{kind: lines, title: "Answer time, 99 of 100", answer: "How long do the slowest answers of each service take? Bounds are a factor of two apart.", unit: "s", width: half, height: middle, empty: "no service answered",
			asks: []ask{{"histogram_quantile(0.99, sum by (process, listener, le) (rate(snag_service_answer_seconds_bucket" + of + "[$__rate_interval])))", "{{process}} {{listener}}"}}},
		{kind: lines, title: "Answers per second", answer: "How much is each service asked?", unit: "reqps", width: half, height: middle, empty: "no service answered",
			asks: []ask{{perSecond("service", "answers", "process, listener"), "{{process}} {{listener}}"}}},
		{kind: lines, title: "Errors and requests without an answer", answer: "How many answers were errors, and how many requests were cut off?", unit: "reqps", width: half, height: middle, empty: "no service answered",
			asks: []ask{
				{perSecond("service", "failed_answers", "process, listener"), "errors of {{process}} {{listener}}"},
				{perSecond("service", "cut_requests", "process, listener"), "cut off at {{process}} {{listener}}"},
			}},
		{kind: lines, title: "Open requests", answer: "How many requests wait for an answer?", width: half, height: middle, empty: "no service answered",
			asks: []ask{{"sum by (process, listener) (snag_service_open_requests" + of + ")", "{{process}} {{listener}}"}}},
		{kind: lines, title: "Until the process reads a request", answer: "How long do requests wait before the service reads them? A service that is too busy reads late.", unit: "s", width: half, height: middle, empty: "no service answered",
			asks: []ask{{perSecond("service", "unread_seconds", "process, listener") + " / " + perSecond("service", "answers", "process, listener"), "{{process}} {{listener}}"}}},

		{kind: separator, title: "What this host asks"},
		{kind: lines, title: "Calls to others, answer time", answer: "How long does each server take that processes of this host ask?", unit: "s", width: half, height: middle, empty: "nothing was asked",
			asks: []ask{{perSecond("dependency", "answer_seconds", "process, server") + " / " + perSecond("dependency", "answers", "process, server"), "{{process}} asks {{server}}"}}},
		{kind: lines, title: "Calls to others, waits per second", answer: "Which server takes the most time of this host's processes? 1: one request is always open.", width: half, height: middle, empty: "nothing was asked",
			asks: []ask{{"topk(10, " + perSecond("dependency", "answer_seconds", "process, server") + ")", "{{process}} asks {{server}}"}}},
		{kind: lines, title: "Oldest open call", answer: "Which server does not answer at all?", unit: "s", width: half, height: middle, empty: "nothing was asked",
			asks: []ask{{"max by (process, server) (snag_dependency_oldest_request_seconds" + of + ")", "{{process}} asks {{server}}"}}},
		{kind: lines, title: "Calls that failed", answer: "Which server answers with errors or cuts requests off?", unit: "reqps", width: half, height: middle, empty: "nothing was asked",
			asks: []ask{
				{perSecond("dependency", "failed_answers", "process, server"), "errors of {{server}} for {{process}}"},
				{perSecond("dependency", "cut_requests", "process, server"), "cut off by {{server}} for {{process}}"},
			}},

		{kind: separator, title: "What the recorder costs"},
		{kind: lines, title: "CPU of the probes", answer: "How much of a CPU does each probe take, in the program and in the kernel?", unit: "percentunit", width: half, height: middle, empty: "not measured",
			asks: []ask{
				{"sum by (probe) (rate(snag_probe_cpu_seconds_total" + of + "[$__rate_interval]))", "{{probe}}"},
				{"sum by (probe) (rate(snag_probe_kernel_cpu_seconds_total" + of + "[$__rate_interval]))", "{{probe}}, kernel"},
			}},
		{kind: lines, title: "Memory and ring", answer: "How much memory and disk space does the recorder take?", unit: "bytes", width: half, height: middle, empty: "not measured",
			asks: []ask{{"snag_record_live_bytes" + of, "memory"}, {"snag_ring_bytes" + of, "ring on the disk"}}},
		{kind: lines, title: "Lost events", answer: "Did probes lose events? Counts are lower bounds then.", unit: "cps", width: half, height: middle, empty: "not measured",
			asks: []ask{{"sum by (probe) (rate(snag_probe_lost_events_total" + of + "[$__rate_interval]))", "{{probe}}"}}},
		{kind: lines, title: "Waiting to be sent", answer: "Does the store take what the recorder sends? Requests that wait on the disk.", width: half, height: middle, empty: "nothing is sent",
			asks: []ask{{"snag_remote_write_waiting" + of, "remote write"}, {"snag_influx_waiting" + of, "InfluxDB"}}},
	},
}

// perSecond is a counter of services or dependencies, summed by labels.
func perSecond(role, counter, by string) string {
	return "sum by (" + by + ") (rate(snag_" + role + "_" + counter + "_total" + of + "[$__rate_interval]))"
}
