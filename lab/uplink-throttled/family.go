package uplinkthrottled

import (
	"fmt"

	"snag/lab"
	"snag/lab/broadcast"
	"snag/lab/drawn"
)

// Family draws the incident: an uplink that carries a part of what the stream needs; the
// shaper is the encoder's own, or stands somewhere on the way.
var Family = drawn.Family{
	Name: "uplink-throttled", Kind: drawn.Streams, Origin: drawn.Lab, Needs: append([]lab.Tool{lab.TC}, broadcast.Tools...),
	Faults: []drawn.Fault{
		{Name: "own-shaper", Suspects: []string{"uplink-throttled"}, Subject: `10\.88\.1\.|eth0`, Also: []string{"bufferbloat", "qdisc-drop"}, Account: "queue", Place: drawn.OnUplink},
		{Name: "on-the-way", Suspects: []string{"uplink-throttled"}, Subject: `10\.88\.1\.`, Also: []string{"bufferbloat", "packet-loss"}, Account: "queue", Place: drawn.OnUplink},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	p := broadcast.PictureOf(b)
	part := b.Uniform("part of the stream that is carried", 0.1, 0.75)
	kbit := part * float64(p.Kbit)
	queue := b.Int("bytes that wait on the way", 20_000, 1_000_000)
	var path []string
	if b.Fault.Name == "on-the-way" {
		path = []string{"--rate", fmt.Sprint(kbit * 1000 / 8), "--queue", fmt.Sprint(queue)}
	}
	w := broadcast.NewShow(b, broadcast.Kind{Path: path})
	b.Amount("%.0f kbit/s for the encoders there, %d needed by the one that is watched", kbit, p.Kbit)
	b.Switch("own-shaper", func() {
		b.Command(w.Encoder, "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", fmt.Sprintf("%.0fkbit", kbit), "burst", "16kb", "limit", fmt.Sprint(queue))
	}, func() { b.Command(w.Encoder, "tc", "qdisc", "del", "dev", "eth0", "root") })
	b.Switch("on-the-way", w.Turn, w.Turn)
	w.View()
}
