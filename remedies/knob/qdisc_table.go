package knob

// qdiscUnit is what an option's number counts, and how tc(8) writes it.
type qdiscUnit int

const (
	plainNumber  qdiscUnit = iota
	packetCount            // 1000, 1000p
	byteCount              // 1514, 1514b, 32kb (1,024)
	bitRate                // bits per second: 8000000bit, 8mbit; the kernel counts bytes
	microseconds           // 5000us, 5ms; a bare number is µs, as tc has it
	nanoseconds            // 10000ns
	wholeSeconds           // 10
	toggle                 // the bare word, or its opposite
)

// qdiscOption is one option of a kind of qdisc.
type qdiscOption struct {
	Doc
	unit        qdiscUnit
	attr        uint16 // of TCA_OPTIONS; 0: the kind's own codec has it
	size        int    // bytes of the attribute
	least, most uint64
	count       int // numbers of the value; 0 is one
	// creation: the kernel takes it only when the qdisc is made.
	creation bool
	// kept: it is put back with the whole qdisc, and has no name of its own for a plan.
	kept bool
	log2 bool // the kernel keeps its logarithm
	// codel: the kernel keeps it in units of 1.024 µs (include/net/codel.h, CODEL_SHIFT).
	codel bool
	off   string // of a toggle: the word for no
	// slack is by how much the kernel may round, in the option's unit.
	slack uint64
}

// qdiscKind is a kind of qdisc that snag can make again as it was.
type qdiscKind struct {
	name    string
	about   string
	options []qdiscOption
	// decode and encode TCA_OPTIONS; nil: one attribute an option, and what is not
	// sent stays as it is.
	decode func(k *qdiscKind, b []byte) (qdiscValues, error)
	encode func(k *qdiscKind, v qdiscValues) ([]byte, error)
}

// qdiscValues are options by name.
type qdiscValues map[string][]uint64

const maxUint32 = 1<<32 - 1

const sinceFQ = "3.12"

func fifoLimit(unit qdiscUnit, of string) []qdiscOption {
	return []qdiscOption{{Doc: Doc{"limit", "how much may wait before the rest is dropped", of, "1 to 2147483647 " + of, "2.2",
		"bursts that are larger than the queue (drops of the qdisc, none on the line)", "latency: a full queue of this length is waited through by every packet", "net/sched/sch_fifo.c"},
		unit: unit, least: 1, most: maxInt32}}
}

var qdiscKinds = []*qdiscKind{
	{name: "pfifo", about: "first in, first out; bounded by packets", options: fifoLimit(packetCount, "packets"), decode: decodeFIFO, encode: encodeFIFO},
	{name: "bfifo", about: "first in, first out; bounded by bytes", options: fifoLimit(byteCount, "bytes"), decode: decodeFIFO, encode: encodeFIFO},
	{name: "pfifo_fast", about: "three queues by priority, each as long as the interface's txqueuelen", decode: decodeNone, encode: encodeNone},
	{name: "mq", about: "one qdisc for each queue of the interface", decode: decodeNone, encode: encodeNone},
	{name: "noqueue", about: "no queue: what the interface can't take at once is dropped", decode: decodeNone, encode: encodeNone},
	{name: "tbf", about: "sends at a rate at most", decode: decodeTBF, encode: encodeTBF, options: []qdiscOption{
		{Doc: Doc{"rate", "what it sends at most", "bit/s", "64 bit/s to 8 Tbit/s", "2.2 (above 34 Gbit/s since 3.14)", "a shaper that is slower than what must pass", "a bottleneck behind it fills instead, unseen", "net/sched/sch_tbf.c"},
			unit: bitRate, least: 8, most: 1e12},
		{Doc: Doc{"burst", "what it may send at once after a pause", "bytes", "1 to 4294967295; no less than rate / HZ, or the rate is not reached", "2.2", "a rate that is not reached, short bursts", "larger bursts behind it", "net/sched/sch_tbf.c; tc-tbf(8)"},
			unit: byteCount, least: 1, most: maxUint32, slack: 16},
		{Doc: Doc{"limit", "how much may wait for its turn", "bytes", "1 to 4294967295", "2.2", "bursts that are dropped although the rate would do", "latency: limit / rate", "net/sched/sch_tbf.c"},
			unit: byteCount, least: 1, most: maxUint32},
	}},
	{name: "sfq", about: "fair queues for flows, by a hash", decode: decodeSFQ, encode: encodeSFQ, options: []qdiscOption{
		{Doc: Doc{"limit", "packets that may wait in all", "packets", "1 to 65535", "2.2", "drops of bursts of many flows", "latency", "net/sched/sch_sfq.c"}, unit: packetCount, least: 1, most: 65535},
		{Doc: Doc{"quantum", "what a flow may send in its turn", "bytes", "the MTU to 2147483647", "2.2", "as much as a packet with all its headers", "less fair where it is large", "net/sched/sch_sfq.c"}, unit: byteCount, least: 68, most: maxInt32},
		{Doc: Doc{"perturb", "after how long the hash is changed", "s", "0 (never) to 2147483", "2.2", "flows that share a queue by chance", "packets change their order at each change", "net/sched/sch_sfq.c"}, unit: wholeSeconds, most: 2147483},
		{Doc: Doc{"divisor", "size of the hash table", "entries", "a power of two to 65536", "2.6.39", "many flows", "memory", "net/sched/sch_sfq.c"}, unit: plainNumber, least: 1, most: 65536, creation: true},
		{Doc: Doc{"flows", "flows with their own queue", "flows", "1 to 65408", "3.3", "many flows", "memory", "net/sched/sch_sfq.c"}, unit: plainNumber, least: 1, most: 65408},
		{Doc: Doc{"depth", "packets of one flow that may wait", "packets", "1 to 126", "3.3", "bursts of one flow", "latency of that flow", "net/sched/sch_sfq.c"}, unit: packetCount, least: 1, most: 126},
		{Doc: Doc{"headdrop", "whether the oldest packet is dropped in place of the newest", "0 or 1", "0 or 1", "3.3", "the sender hears of the loss earlier", "packets that waited longest are lost", "net/sched/sch_sfq.c"}, unit: toggle, most: 1, off: "noheaddrop"},
	}},
	{name: "fq", about: "fair queues for flows, with the pacing that TCP asks for", options: []qdiscOption{
		{Doc: Doc{"limit", "packets that may wait in all", "packets", "1 to 2147483647", sinceFQ, "drops of the whole qdisc (not flows_plimit)", "memory; latency where the line is slow", "net/sched/sch_fq.c (fq_change, TCA_FQ_PLIMIT)"}, unit: packetCount, attr: 1, size: 4, least: 1, most: maxInt32},
		{Doc: Doc{"flow_limit", "packets of one flow that may wait", "packets", "1 to 2147483647", sinceFQ, "bursts of one UDP flow (flows_plimit in tc -s): 100 packets are a key frame's", "latency of that flow; it may hold more of the whole limit", "net/sched/sch_fq.c (fq_enqueue, TCA_FQ_FLOW_PLIMIT)"}, unit: packetCount, attr: 2, size: 4, least: 1, most: maxInt32},
		{Doc: Doc{"quantum", "what a flow may send in its turn", "bytes", "1 to 1048576", sinceFQ, "two packets by default; larger on fast lines costs less CPU time", "less fair", "net/sched/sch_fq.c (TCA_FQ_QUANTUM)"}, unit: byteCount, attr: 3, size: 4, least: 1, most: 1 << 20},
		{Doc: Doc{"initial_quantum", "what a new flow may send in its first turn", "bytes", "0 to 2147483647", sinceFQ, "short answers: ten packets by default", "new flows before old ones", "net/sched/sch_fq.c (TCA_FQ_INITIAL_QUANTUM)"}, unit: byteCount, attr: 4, size: 4, most: maxInt32},
		{Doc: Doc{"pacing", "whether flows are paced at all", "0 or 1", "0 or 1", sinceFQ, "bbr before 4.13 needs it", "without it bursts go out as they come", "net/sched/sch_fq.c (TCA_FQ_RATE_ENABLE)"}, unit: toggle, attr: 5, size: 4, most: 1, off: "nopacing"},
		{Doc: Doc{"maxrate", "what one flow may send at most", "bit/s", "8 to 34359738360, which is not a limit", sinceFQ, "a sender that fills a small buffer down the way", "a flow is never faster", "net/sched/sch_fq.c (TCA_FQ_FLOW_MAX_RATE)"}, unit: bitRate, attr: 7, size: 4, least: 1, most: maxUint32},
		{Doc: Doc{"buckets", "size of the hash table of flows", "entries", "a power of two, 1 to 262144", sinceFQ, "more flows than that at once", "memory", "net/sched/sch_fq.c (TCA_FQ_BUCKETS_LOG)"}, unit: plainNumber, attr: 8, size: 4, least: 1, most: 1 << 18, log2: true},
		{Doc: Doc{"refill_delay", "after how long of silence a flow gets new credit", "µs", "0 to 4294967295, rounded to ticks", "3.16", "flows that send rarely, and a burst each time", "bursts, where it is short", "net/sched/sch_fq.c (TCA_FQ_FLOW_REFILL_DELAY)"}, unit: microseconds, attr: 9, size: 4, most: maxUint32, slack: 10000},
		{Doc: Doc{"orphan_mask", "into how many flows packets without a socket are parted, less one", "mask", "0 to 4294967295", "4.2", "a router or a bridge: forwarded flows that share a queue, and its flow_limit", "memory", "net/sched/sch_fq.c (fq_classify, TCA_FQ_ORPHAN_MASK)"}, unit: plainNumber, attr: 10, size: 4, most: maxUint32},
		{Doc: Doc{Name: "low_rate_threshold"}, unit: bitRate, attr: 11, size: 4, most: maxUint32, kept: true},
		{Doc: Doc{"ce_threshold", "a packet that waited longer is marked with ECN", "µs", "0 to 4294967295, which is never", "4.20", "DCTCP", "the sender slows down", "net/sched/sch_fq.c (TCA_FQ_CE_THRESHOLD)"}, unit: microseconds, attr: 12, size: 4, most: maxUint32, slack: 1},
		{Doc: Doc{Name: "timer_slack"}, unit: nanoseconds, attr: 13, size: 4, most: maxUint32, kept: true},
		{Doc: Doc{"horizon", "how far ahead a packet may ask to be sent", "µs", "0 to 4294967295", "5.8", "senders that give their packets a time (SO_TXTIME) further ahead", "packets beyond are dropped, or sent at the horizon", "net/sched/sch_fq.c (TCA_FQ_HORIZON)"}, unit: microseconds, attr: 14, size: 4, most: maxUint32, slack: 1},
		{Doc: Doc{Name: "horizon_drop"}, unit: toggle, attr: 15, size: 1, most: 1, off: "horizon_cap", kept: true},
		{Doc: Doc{Name: "priomap"}, unit: plainNumber, attr: 16, size: 20, most: 2, count: 16, kept: true},
		{Doc: Doc{Name: "weights"}, unit: plainNumber, attr: 17, size: 12, most: maxInt32, count: 3, kept: true},
		{Doc: Doc{Name: "offload_horizon"}, unit: microseconds, attr: 18, size: 4, most: maxUint32, kept: true, slack: 1},
	}},
	{name: "fq_codel", about: "fair queues for flows, each kept short by CoDel (RFC 8290)", options: []qdiscOption{
		{Doc: Doc{"limit", "packets that may wait in all", "packets", "1 to 2147483647", "3.5", "drop_overlimit in tc -s", "memory", "net/sched/sch_fq_codel.c (TCA_FQ_CODEL_LIMIT)"}, unit: packetCount, attr: 2, size: 4, least: 1, most: maxInt32},
		{Doc: Doc{"flows", "queues that flows are hashed into", "queues", "1 to 65536", "3.5", "many flows that share queues by chance", "memory; only a new qdisc takes it: what waits is dropped", "net/sched/sch_fq_codel.c (TCA_FQ_CODEL_FLOWS)"}, unit: plainNumber, attr: 5, size: 4, least: 1, most: 65536, creation: true},
		{Doc: Doc{"quantum", "what a flow may send in its turn", "bytes", "256 to 1048576", "3.5", "300 on slow lines: small packets go first", "CPU time where it is small", "net/sched/sch_fq_codel.c (TCA_FQ_CODEL_QUANTUM)"}, unit: byteCount, attr: 6, size: 4, least: 256, most: 1 << 20},
		{Doc: Doc{"interval", "how long the delay may stay above target before a packet is dropped", "µs", "1 to 4294967295", "3.5", "the largest usual RTT: larger on long ways", "slower answers to a queue that stands", "net/sched/sch_fq_codel.c; RFC 8289, section 4.3"}, unit: microseconds, attr: 3, size: 4, least: 1, most: maxUint32, slack: 2, codel: true},
		{Doc: Doc{"target", "the delay that it aims at", "µs", "1 to 4294967295", "3.5", "5 to 10 % of interval; above one packet's time on slow lines", "latency", "net/sched/sch_fq_codel.c; RFC 8289, section 4.4"}, unit: microseconds, attr: 1, size: 4, least: 1, most: maxUint32, slack: 2, codel: true},
		{Doc: Doc{"ecn", "whether packets that can be marked are marked in place of dropped", "0 or 1", "0 or 1", "3.5", "no loss where both ends know ECN", "none where the other end obeys the marks", "net/sched/sch_fq_codel.c (TCA_FQ_CODEL_ECN)"}, unit: toggle, attr: 4, size: 4, most: 1, off: "noecn"},
		{Doc: Doc{"ce_threshold", "a packet that waited longer is marked with ECN at once", "µs", "1 to 4294967295", "4.2", "DCTCP", "the sender slows down", "net/sched/sch_fq_codel.c (TCA_FQ_CODEL_CE_THRESHOLD)"}, unit: microseconds, attr: 7, size: 4, least: 1, most: maxUint32, slack: 2, codel: true},
		{Doc: Doc{"drop_batch", "packets of the longest flow that one overflow drops", "packets", "1 to 2147483647", "4.7", "CPU time in a flood", "more packets of one flow lost at once", "net/sched/sch_fq_codel.c (TCA_FQ_CODEL_DROP_BATCH_SIZE)"}, unit: packetCount, attr: 8, size: 4, least: 1, most: maxInt32, kept: true},
		{Doc: Doc{"memory_limit", "memory that may wait in all", "bytes", "1 to 2147483647", "4.7", "drops with few packets but large ones (drop_overmemory)", "memory", "net/sched/sch_fq_codel.c (TCA_FQ_CODEL_MEMORY_LIMIT)"}, unit: byteCount, attr: 9, size: 4, least: 1, most: maxInt32},
	}},
}

func qdiscKindOf(name string) (*qdiscKind, bool) {
	for _, k := range qdiscKinds {
		if k.name == name {
			return k, true
		}
	}
	return nil, false
}

func (k *qdiscKind) option(name string) (*qdiscOption, bool) {
	for i := range k.options {
		if k.options[i].Name == name {
			return &k.options[i], true
		}
	}
	return nil, false
}
