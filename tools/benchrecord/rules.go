package main

// The rules, the same for every tool. They are applied to what the tools printed:
//   - named the culprit: a figure of the culprit's own (a process, socket, disk or control
//     group by its name, and the kind of figure that the incident is about) has changed and,
//     where there are many such figures, is one of the three highest; or the tool names
//     it in a sentence on a cause of the right kind.
//   - showed the symptom: a figure that the incident moves has changed, or a sentence says
//     that a party of the incident was affected, or what kind of trouble there was.
//   - nothing: neither.
//
// A figure has changed when its mean during the fault is twice that before, or half where it
// is to fall. A list of all processes with the culprit in it names nobody.
type rules struct {
	incident, culprit string   // the culprit in words
	symptom           []figure // those that the incident moves
	parties           pattern  // in a sentence on harm: who is affected
	own               []figure // the culprit's own
	cause             pattern  // in a sentence on a cause: the kind of trouble
	who               pattern  // there: the culprit
}

// figure is one way to see something in figures.
type figure struct {
	name  pattern
	falls bool
	among pattern // those of which it must be one of the three highest
}

// pattern is a set of regular expressions that must all match, in any case of letters.
type pattern []string

var allRules = append([]rules{{
	incident: "stopped", culprit: "media-relay, stopped by backup-script",
	symptom: []figure{{name: pattern{`eth0|system\.ip|Ip(Ext)?In`, `bytes|octets|kb/s|received`}, falls: true}, {name: pattern{`media-relay`, `state (T|stopped)`}}, {name: pattern{`:9000 remark`, `zero ?window|window is full`}}},
	parties: pattern{`media-|:900[01]`},
	own:     []figure{{name: pattern{`media-relay|backup-script`, `state (T|stopped)|sends SIGSTOP`}}},
	cause:   pattern{`stopped|SIGSTOP`}, who: pattern{`media-relay|backup-script`},
}, {
	incident: "accept queue", culprit: "the listener playlist-srv at :8080",
	symptom: []figure{{name: pattern{`listen|overflow|retrans|ReqQFull`}}},
	parties: pattern{`playlist-|:8080`},
	own:     []figure{{name: pattern{`playlist-srv|:8080`, `queue|backlog|listen|overflow`}}},
	cause:   pattern{`listen|accept`, `queue|overflow|backlog`}, who: pattern{`playlist-srv|:8080`},
}, {
	incident: "CPU quota", culprit: "the control group of api-server",
	symptom: []figure{{name: pattern{`throttl`}}, {name: pattern{`cpu`, `pressure|some|waiting`}}, network(":8081")},
	parties: pattern{`api-|:8081`},
	own:     []figure{{name: pattern{`api-server|web`, `throttl`}}},
	cause:   pattern{`throttl|quota`}, who: pattern{`api-server|-web`},
}, {
	incident: "disk", culprit: "nightly-backup, which writes",
	symptom: []figure{{name: pattern{`loop|vda|sda|nvme`, `await|util|aqu|qops|queue|busy|backlog|io_time|time spend`}}, {name: pattern{`\bi/?o\b|[sf]io|io[_ ]`, `pressure|some|full|waiting|stalled|%`}}, network(":8082")},
	parties: pattern{`ledger-|:8082`},
	own:     []figure{{name: pattern{`^process nightly-backup (writes|sectors written)$`}, among: pattern{`^process .* (writes|sectors written)$`}}},
	cause:   pattern{`disk-stall|disk_(backlog|util)|iowait|(disk|I/O).*(busy|queue|stall|pressure)`}, who: pattern{`nightly-backup`},
}, {
	incident: "memory limit", culprit: "price-server, or its control group",
	symptom: []figure{{name: pattern{`oom`}}, {name: pattern{`:8084 remark`, `reset`}}},
	parties: pattern{`price-|shop|:8084`},
	own:     []figure{{name: pattern{`process price-server|little`, `rss|mem`}}},
	cause:   pattern{`oom|out of memory|memory limit|memory-limit`}, who: pattern{`price-|little`},
}, {
	incident: "CPU", culprit: "report-batch, which computes",
	symptom: []figure{{name: pattern{`cpu`, `pressure|some|waiting`}}, {name: pattern{`(\b|_)load ?\d|ldavg|procs_running|processes running|runq|%scpu`}}, {name: pattern{`idle`}, falls: true}, network(":8083")},
	parties: pattern{`api-|:8083`},
	own:     []figure{{name: pattern{`^process report-batch (cpu|cpu samples)$`}, among: pattern{`^process .* (cpu|cpu samples)$`}}},
	cause:   pattern{`cpu-saturated|run-queue|cpu_usage|load_average|cpu.*(saturat|busy|pressure)`}, who: pattern{`report-batch`},
}}, moreRules...)
