package main

// network are the services whose answers a capture shows to be later, of an incident that is
// not the network's: the acknowledgement of a request comes with the answer, or 40 ms after it.
func network(port string) figure {
	return figure{name: pattern{`^\S+` + port + ` (acknowledges|answers) after`}}
}

// moreRules are those of the incidents of scenes_more.go.
var moreRules = []rules{{
	incident: "Nagle", culprit: "the connection of order-client: Nagle's algorithm and the delayed acknowledgement",
	symptom: []figure{{name: pattern{`delayed.?ack`}}, network(":9006")},
	parties: pattern{`order-|:9006`},
	// A capture shows nothing but this: the second part leaves when the first is acknowledged, 40 ms later.
	own:   []figure{{name: pattern{`:9006 acknowledges after`}, among: pattern{`acknowledges after`}}},
	cause: pattern{`nagle|delayed.ack`}, who: pattern{`order-|:9006`},
}, {
	incident: "UDP buffer", culprit: "the socket of rtp-sink at :5004",
	symptom: []figure{{name: pattern{`udp`, `rcvbuf|inerr|errors|drop`}}, {name: pattern{`idgmerr`}}},
	parties: pattern{`rtp-|:5004`},
	own:     []figure{{name: pattern{`rtp-sink|:5004`, `rcvbuf|drop|receive.?buffer`}}},
	cause:   pattern{`receive.?buffer|rcvbuf|datagrams.lost`}, who: pattern{`rtp-sink|:5004`},
}, {
	incident: "spin lock", culprit: "the lock of thread-server, in pthread_spin_lock",
	symptom: []figure{{name: pattern{`^process thread-server (cpu|cpu samples|user %)$`}}, {name: pattern{`cpu`, `pressure|some|waiting`}},
		{name: pattern{`(\b|_)load ?\d|ldavg|procs_running|processes running|runq`}}, {name: pattern{`idle`}, falls: true}, network(":8085")},
	parties: pattern{`thread-server|quote-|:8085`},
	own:     []figure{{name: pattern{`^function of thread-server .*spin_lock`}, among: pattern{`^function of `}}},
	cause:   pattern{`spin.?lock|cpu-saturated|run-queue|cpu_usage|load_average|cpu.*(saturat|busy|pressure)`}, who: pattern{`spin.?lock`},
}, {
	incident: "upstream", culprit: "the upstream at :8000, catalog-api",
	symptom: []figure{network(":8086")},
	parties: pattern{`nginx|web-client|:8086`},
	own:     []figure{{name: pattern{`:8000 answers after`}, among: pattern{`answers after`}}},
	cause:   pattern{`slow-dependency|upstream|dependency`}, who: pattern{`:8000|catalog-api`},
}}
