package main

// ofStreams are the streams that are chosen.
const ofStreams = `{instance=~"$instance", stream=~"$stream"}`

// Of a stream there may be several layers and sides.
const each = "stream, layer, side"

const called = "{{stream}} {{layer}}"

var streams = board{
	name: "streams", title: "snag: streams",
	variables: []variable{
		{name: "instance", title: "Read on", query: "label_values(snag_stream_gap_seconds, instance)"},
		{name: "stream", title: "Stream", query: `label_values(snag_stream_gap_seconds{instance=~"$instance"}, stream)`},
	},
	about: "Live streams as a viewer has them, of `snag record --stream` and of `snag watch --listen`.",
	panels: []panel{
		{kind: number, title: "Streams without a frame for 1 s", answer: "How many streams are frozen now?", width: quarter, height: low, red: 1, empty: "no stream is read",
			asks: []ask{{"count(max by (stream) (snag_stream_gap_seconds" + ofStreams + ") > 1) or 0 * count(snag_stream_gap_seconds" + ofStreams + ")", ""}}},
		{kind: number, title: "Streams that are read", answer: "How many streams were read in the last minute?", width: quarter, height: low, empty: "no stream is read",
			asks: []ask{{"count(count by (stream) (snag_stream_gap_seconds" + ofStreams + "))", ""}}},
		{kind: number, title: "Streams by state", answer: "How are the streams that `snag watch` reads?", width: half, height: low, empty: "no snag watch is scraped",
			asks: []ask{{"sum by (state) (snag_watch_streams{instance=~\"$instance\"}) > 0", "{{state}}"}}},
		{kind: states, title: "Frozen", answer: "Which stream had no frame for more than 1 s, and when?", width: full, height: middle, red: 1, empty: "no stream is read",
			asks: []ask{{"max by (" + each + ") (snag_stream_gap_seconds" + ofStreams + ") > bool 1", called}}},
		{kind: states, title: "State", answer: "Does `snag watch` get frames? Red: not now.", width: full, height: middle, red: 1, empty: "no snag watch is scraped",
			asks: []ask{{"1 - min by (" + each + ") (snag_stream_up" + ofStreams + ")", called}}},
		{kind: lines, title: "Longest time without a frame", answer: "How long did a viewer see no new picture?", unit: "s", width: half, height: middle, empty: "no stream is read",
			asks: []ask{{"max by (" + each + ") (snag_stream_gap_seconds" + ofStreams + ")", called}}},
		{kind: lines, title: "Frozen, share of the time", answer: "Which part of the time is a stream frozen? Of `snag watch`.", unit: "percentunit", width: half, height: middle, empty: "no snag watch is scraped",
			asks: []ask{{"sum by (" + each + ") (rate(snag_stream_freeze_seconds_total" + ofStreams + "[$__rate_interval]))", called}}},
		{kind: lines, title: "Frames per second", answer: "Does the picture have all its frames?", width: half, height: middle, empty: "no stream is read",
			asks: []ask{{`sum by (` + each + `) (rate(snag_stream_frames_total{instance=~"$instance", stream=~"$stream", kind="video"}[$__rate_interval]))`, called}}},
		{kind: lines, title: "Bit rate", answer: "How much does the stream carry, by picture and sound?", unit: "bps", width: half, height: middle, empty: "no stream is read",
			asks: []ask{{"8 * sum by (" + each + ", kind) (rate(snag_stream_bytes_total" + ofStreams + "[$__rate_interval]))", called + " {{kind}}"}}},
		{kind: lines, title: "Lateness", answer: "How much later than its timestamps say does a stream come, compared with its best of the last minute?", unit: "s", width: half, height: middle, empty: "no stream is read",
			asks: []ask{{"max by (" + each + ") (snag_stream_drift_seconds" + ofStreams + ")", called}}},
		{kind: lines, title: "Pace", answer: "Do the timestamps move as the clock does? Under 0.95 the stream is slow.", width: half, height: middle, empty: "no stream is read",
			asks: []ask{{"max by (" + each + ") (rate(snag_stream_media_seconds_total" + ofStreams + "[$__rate_interval]))", called}}},
		{kind: lines, title: "Sound against picture", answer: "By how much does the sound lead the picture?", unit: "s", width: half, height: middle, empty: "no stream with both is read",
			asks: []ask{{"max by (" + each + ") (abs(snag_stream_skew_seconds" + ofStreams + "))", called}}},
		{kind: lines, title: "Doubt: the reader's own lateness", answer: "Was snag itself late? Above 0.25 s doubt what the stream shows.", unit: "s", width: half, height: middle, empty: "no stream is read",
			asks: []ask{{"max by (" + each + ") (snag_stream_reader_late_seconds" + ofStreams + ")", called}}},
	},
}
