package knob

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"snag/remedies/plan"
)

// What tc of iproute2 6.1 sends as TCA_OPTIONS for these words (strace -xx).
var fromTC = map[string]string{
	"pfifo limit 5000":    "88130000",
	"bfifo limit 1000000": "40420f00",
	"fq limit 20000 flow_limit 1000 quantum 3028 initial_quantum 15140 maxrate 100mbit orphan_mask 2047 nopacing": "08000100204e0000" +
		"08000200e8030000" + "08000300d40b0000" + "08000400243b0000" + "0800050000000000" + "0800070020bcbe00" + "08000a00ff070000",
	"fq_codel limit 20480 flows 4096 target 10ms interval 200ms quantum 1514 memory_limit 33554432 ecn": "0800020000500000" +
		"0800050000100000" + "08000600ea050000" + "08000300400d0300" + "0800010010270000" + "0800040001000000" + "0800090000000002",
	"sfq limit 500 quantum 1514 perturb 10 flows 256 depth 100": "ea0500000a000000f4010000000000000001000064000000" + strings.Repeat("00", 48),
}

func TestOptionsAreSentAsTCSendsThem(t *testing.T) {
	for words, want := range fromTC {
		q, err := parseQdisc(words)
		if err != nil {
			t.Fatal(err)
		}
		b, err := q.kind.encodeOptions(q.values)
		if err != nil || hex.EncodeToString(b) != want {
			t.Errorf("%s:\n%x, %v\n%s", words, b, err, want)
		}
		again := qdiscText{kind: q.kind, name: q.name}
		if again.values, err = q.kind.decodeOptions(b); err != nil || !sameQdisc(again.text(), words) || !sameQdisc(words, again.text()) {
			t.Errorf("%s is read back as %q, %v", words, again.text(), err)
		}
	}
}

// tc's own struct for "tbf rate 10mbit burst 32768 limit 300000", without the table of
// 256 times that kernels before 3.8 wanted; and what a kernel of 6.18 answers to
// "rate 40gbit burst 1mb limit 30mb".
func TestTheRateOfTBF(t *testing.T) {
	k, _ := qdiscKindOf("tbf")
	tc, _ := hex.DecodeString("28000100" + "03010000ffff0000d0121300" + strings.Repeat("00", 12) + "e0930400f93f060000000000")
	v, err := k.decodeOptions(tc)
	if got := (qdiscText{kind: k, name: "tbf", values: v}).text(); err != nil || got != "tbf rate 10000000bit burst 32767 limit 300000" { // in ticks of 64 ns
		t.Errorf("%q, %v", got, err)
	}
	b, err := k.encodeOptions(qdiscValues{"rate": {5e9}, "burst": {1 << 20}, "limit": {30 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	// The kernel sends the rate beside it, and no burst but in ticks.
	if !strings.Contains(hex.EncodeToString(b), "0c00040000f2052a01000000") || !strings.Contains(hex.EncodeToString(b), "0800060000001000") {
		t.Errorf("%x", b)
	}
	if _, err := k.encodeOptions(qdiscValues{"rate": {5e9}}); err == nil {
		t.Error("a tbf without a burst is none")
	}
	peak := append([]byte(nil), tc...)
	peak[4+20] = 1
	if _, err := k.decodeOptions(peak); err == nil || !strings.Contains(err.Error(), "peakrate") {
		t.Errorf("a peakrate would be lost: %v", err)
	}
}

func TestWordsOfAQdisc(t *testing.T) {
	for words, want := range map[string]string{
		"pfifo limit 1000p":                     "pfifo limit 1000",
		"bfifo limit 32kb":                      "bfifo limit 32768",
		"fq nopacing maxrate 8mbit limit 100":   "fq limit 100 nopacing maxrate 8000000bit",
		"fq_codel noecn target 5ms":             "fq_codel target 5000us noecn",
		"fq timer_slack 10us horizon_cap":       "fq timer_slack 10000ns horizon_cap",
		"default noqueue":                       "default noqueue",
		"default cake":                          "default cake",
		"mq":                                    "mq",
		"tbf rate 1gbit burst 1mb limit 200000": "tbf rate 1000000000bit burst 1048576 limit 200000",
		"fq bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1 weights 589824 196608 65536": "fq bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1 weights 589824 196608 65536",
	} {
		q, err := parseQdisc(words)
		if err != nil || q.text() != want {
			t.Errorf("%s: %q, %v", words, q.text(), err)
		}
	}
	target := plan.Target{Kind: "qdisc", Device: "eth0"}
	for words, want := range map[string]string{
		"":                           "is not a qdisc",
		"netem delay 10ms":           "not a kind of qdisc that snag makes",
		"default":                    "followed by its kind",
		"pfifo limit":                "needs 1 numbers",
		"pfifo limit 0":              "1 to 2147483647",
		"pfifo limit -5":             "is a number",
		"pfifo limit 5ms":            "is a number",
		"pfifo limit 5.5":            "is a number",
		"fq limit 5 limit 6":         "twice",
		"fq buckets 1000":            "power of two",
		"fq; reboot":                 "not a kind of qdisc",
		"fq flow_limit 1e3":          "is a number",
		"tbf rate 1mbit":             "needs rate, burst and limit",
		"pfifo_fast limit 1":         "no option",
		"fq priomap 1 2 2":           "needs 16 numbers",
		"fq limit 99999999999999999": "1 to 2147483647",
	} {
		if err := (qdisc{}).Valid(target, words); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", words, err, want)
		}
	}
}

func TestSameQdisc(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"fq limit 10000 flow_limit 100", "fq flow_limit 100", true},
		{"fq limit 10000 flow_limit 100", "fq flow_limit 101", false},
		{"fq_codel target 5ms", "fq_codel target 4999us", true},
		{"fq_codel target 5ms", "fq_codel target 4ms", false},
		{"pfifo limit 100", "bfifo limit 100", false},
		{"default mq", "mq", false},
		{"default mq", "default noop", true},
		{"default mq", "default fq", false},
		{"tbf rate 1gbit burst 1000000 limit 5", "tbf rate 1gbit burst 999992 limit 5", true},
		{"tbf rate 1gbit burst 1000000 limit 5", "tbf rate 1gbit burst 900000 limit 5", false},
	} {
		if (qdisc{}).Same(plan.Target{}, c.a, c.b) != c.same || (qdisc{}).Same(plan.Target{}, c.b, c.a) != c.same {
			t.Errorf("%q and %q", c.a, c.b)
		}
	}
	if !(qdisc{}).Same(plan.Target{Name: "rate"}, "8000000", "8mbit") || (qdisc{}).Same(plan.Target{Name: "limit"}, "10", "11") || !(qdisc{}).Same(plan.Target{Name: "ecn"}, "on", "1") {
		t.Error("one option")
	}
}

// A kernel tells 4999 µs where 5 ms were set: put back as read, it must not become less.
func TestTimesOfCoDel(t *testing.T) {
	k, _ := qdiscKindOf("fq_codel")
	o, _ := k.option("target")
	for _, us := range []uint64{1, 127, 128, 129, 4999, 5000, 9999, 20000, 99999, 100000, 128000, 300001} {
		kept := us * 1000 >> 10
		told := kept << 10 / 1000
		read := o.decode(binary.NativeEndian.AppendUint32(nil, uint32(told)))[0]
		if read*1000>>10 != kept || !o.near(read, us) || us%1000 == 0 && read != us {
			t.Errorf("%d µs: the kernel tells %d, read as %d", us, told, read)
		}
	}
}

func TestPlacesOfAQdisc(t *testing.T) {
	three := 3
	for _, c := range []struct {
		target plan.Target
		want   qdiscPlace
	}{
		{plan.Target{}, qdiscPlace{rootPlace, -1}}, {plan.Target{Parent: "root"}, qdiscPlace{rootPlace, -1}},
		{plan.Target{Parent: "8001:1"}, qdiscPlace{0x80010001, -1}}, {plan.Target{Parent: "1:a"}, qdiscPlace{0x1000a, -1}},
		{plan.Target{Parent: ":4"}, qdiscPlace{0, 3}}, {plan.Target{Queue: &three}, qdiscPlace{0, 3}},
	} {
		got, err := placeOf(c.target)
		if err != nil || got != c.want {
			t.Errorf("%+v: %+v, %v", c.target, got, err)
		}
	}
	minus := -1
	for _, bad := range []plan.Target{{Parent: "8001:"}, {Parent: "x:1"}, {Parent: "ffff:fff1"}, {Parent: "1"}, {Parent: "12345:1"}, {Queue: &minus}, {Parent: ":1", Queue: &three}} {
		if got, err := placeOf(bad); err == nil {
			t.Errorf("%+v is %+v", bad, got)
		}
	}
}

func FuzzQdisc(f *testing.F) {
	for words, options := range fromTC {
		b, _ := hex.DecodeString(options)
		f.Add(words, b)
	}
	f.Fuzz(func(t *testing.T, words string, b []byte) {
		if q, err := parseQdisc(words); err == nil {
			again, err := parseQdisc(q.text())
			if err != nil || again.text() != q.text() || !sameQdisc(words, words) {
				t.Errorf("%q is written as %q, and that is read as %q (%v)", words, q.text(), again.text(), err)
			}
			if q.kind != nil {
				_, _ = q.kind.encodeOptions(q.values)
			}
		}
		for _, k := range qdiscKinds {
			_, _ = k.decodeOptions(b)
		}
		_, _ = decodeQdisc(b)
		_, _ = decodeNumbers(b)
		_, _ = decodeFeatures(b)
	})
}
