package ffprobe

import (
	"bytes"

	numbers "snag/internal/ffprobe"
)

// record is one packet or frame.
type record struct {
	frame           bool // of -show_frames: in the order of presentation
	kind            byte // 'v', 'a', 0 for others
	index           int
	pts, dts, best  int64 // ns; best is best_effort_timestamp_time
	hasPTS, hasDTS  bool
	hasBest, key    bool
	size            int
	width, height   int
	channels        int
	arrival         int64 // Unix ns; 0: its lines have no time
	typed, anything bool
}

func (r *record) clear() { *r = record{index: -1, size: -1} }

// whole reports whether it is of a track, with a time.
func (r *record) whole() bool {
	return r.typed && r.kind != 0 && (r.hasPTS || r.hasDTS || r.hasBest)
}

// time is where it stands on the stream's clock: frames come in the order in which they
// are shown, packets in that in which they are decoded.
func (r *record) time() (dts, pts int64) {
	switch {
	case r.frame && r.hasBest:
		return r.best, r.best
	case r.frame && r.hasPTS:
		return r.pts, r.pts
	case r.hasDTS && r.hasPTS:
		return r.dts, r.pts
	case r.hasDTS:
		return r.dts, r.dts
	case r.hasPTS:
		return r.pts, r.pts
	}
	return r.best, r.best
}

// set takes one field (ffprobe's print_format sections "packet" and "frame").
func (r *record) set(key, value []byte) {
	r.anything = true
	switch string(key) {
	case "codec_type", "media_type":
		r.typed = true
		switch string(value) {
		case "video":
			r.kind = 'v'
		case "audio":
			r.kind = 'a'
		}
		r.frame = r.frame || string(key) == "media_type"
	case "stream_index":
		r.index = numbers.Number(value)
	case "pts_time", "pkt_pts_time":
		r.pts, r.hasPTS = numbers.Seconds(value)
	case "dts_time", "pkt_dts_time":
		r.dts, r.hasDTS = numbers.Seconds(value)
	case "best_effort_timestamp_time":
		r.best, r.hasBest = numbers.Seconds(value)
	case "size", "pkt_size":
		r.size = numbers.Number(value)
	case "flags":
		r.key = len(value) > 0 && value[0] == 'K'
	case "key_frame":
		r.key = string(value) == "1"
	case "width":
		r.width = max(numbers.Number(value), 0)
	case "height":
		r.height = max(numbers.Number(value), 0)
	case "channels":
		r.channels = max(numbers.Number(value), 0)
	}
}

// compact reads "packet|codec_type=video|stream_index=0|…".
func (r *record) compact(line []byte) bool {
	head, rest, _ := bytes.Cut(line, []byte("|"))
	if string(head) != "packet" && string(head) != "frame" {
		return false
	}
	r.clear()
	r.frame = string(head) == "frame"
	for len(rest) > 0 {
		var field []byte
		field, rest, _ = bytes.Cut(rest, []byte("|"))
		key, value, ok := bytes.Cut(field, []byte("="))
		if ok {
			r.set(key, value)
		}
	}
	return true
}

// csv reads "packet,video,0,pts,pts_time,dts,dts_time,duration,duration_time,size,pos,flags"
// and "frame,video,0,key,pts,pts_time,dts,dts_time,best,best_time,duration,duration_time,
// pos,size,…": the fields of ffprobe 4.3 to 7 where none are picked (-show_entries), as
// values alone don't say what they are. Before 4.3 packets had a convergence duration.
func (r *record) csv(line []byte) bool {
	var f [24][]byte
	n := 0
	for n < len(f) {
		field, rest, more := bytes.Cut(line, []byte(","))
		f[n] = field
		n++
		if line = rest; !more {
			break
		}
	}
	r.clear()
	switch {
	case string(f[0]) == "packet" && n >= 12:
		r.set([]byte("codec_type"), f[1])
		flags := 11
		for i := 9; i < min(n, 15); i++ {
			if isFlags(f[i]) {
				flags = i
				break
			}
		}
		r.set([]byte("pts_time"), f[4])
		r.set([]byte("dts_time"), f[6])
		r.set([]byte("size"), f[flags-2])
		r.set([]byte("flags"), f[flags])
	case string(f[0]) == "frame" && n >= 14:
		r.set([]byte("media_type"), f[1])
		r.set([]byte("key_frame"), f[3])
		r.set([]byte("pts_time"), f[5])
		r.set([]byte("pkt_dts_time"), f[7])
		r.set([]byte("best_effort_timestamp_time"), f[9])
		r.set([]byte("size"), f[13])
	default:
		return false
	}
	r.index = numbers.Number(f[2])
	return r.typed
}

// isFlags tells "K_", "K__", "_D" and so on.
func isFlags(b []byte) bool {
	if len(b) < 2 || len(b) > 3 {
		return false
	}
	for _, c := range b {
		if c != 'K' && c != '_' && c != 'D' && c != 'C' {
			return false
		}
	}
	return true
}
