// Package rtp sends media over RTP at a bit rate, and measures how late each packet was sent. There is no
// answer: what arrived only the receiver knows, who may report it by RTCP (RFC 3550, section 6.4).
package rtp

import (
	"math"
	"time"
)

// Shape is what the media of one sender consist of.
type Shape struct {
	Bitrate float64       // bit/s of payload
	FPS     float64       // frames/s
	GOP     time.Duration // from key frame to key frame
	KeySize float64       // of a key frame, times an ordinary one
	Pace    bool          // a frame's packets go out evenly until the next frame, and not at once
}

// mostPayload is what a packet carries, bytes: with its headers it fits into 1,280 bytes, which every way of IPv6
// takes (RFC 8200, section 5).
const mostPayload = 1200

// clock is that of video (RFC 3551, section 5).
const clock = 90_000

// keyEvery is how many frames there are from key frame to key frame.
func (s Shape) keyEvery() int64 { return max(1, int64(math.Round(s.GOP.Seconds()*s.FPS))) }

// size is how many bytes a frame has, so that the whole has the bit rate.
func (s Shape) size(frame int64) int {
	return max(1, int(math.Round(s.before(frame+1))-math.Round(s.before(frame))))
}

// before is how many bytes all frames before one have.
func (s Shape) before(frame int64) float64 {
	n := s.keyEvery()
	mean := s.Bitrate / 8 / s.FPS
	ordinary := mean * float64(n) / (float64(n) - 1 + s.KeySize)
	whole := mean * float64(frame-frame%n)
	if rest := frame % n; rest > 0 {
		whole += ordinary * (s.KeySize + float64(rest-1))
	}
	return whole
}

// packets is how many a frame takes.
func (s Shape) packets(frame int64) int { return (s.size(frame) + mostPayload - 1) / mostPayload }

// payload is how many bytes the i-th packet of a frame carries.
func (s Shape) payload(frame int64, i int) int {
	return min(mostPayload, s.size(frame)-i*mostPayload)
}

// due is when the i-th packet of a frame is to be sent, after the first frame.
func (s Shape) due(frame int64, i int) time.Duration {
	at := float64(frame) / s.FPS
	if s.Pace {
		at += float64(i) / float64(s.packets(frame)) / s.FPS
	}
	return time.Duration(at * float64(time.Second))
}

// stamp is a frame's RTP timestamp.
func (s Shape) stamp(frame int64) uint32 {
	return uint32(int64(math.Round(float64(frame) * clock / s.FPS)))
}

// PacketRate is packets per second, on average.
func (s Shape) PacketRate() float64 {
	n := s.keyEvery()
	all := float64(s.packets(0))
	if n > 1 {
		all += float64(n-1) * float64(s.packets(1))
	}
	return all / float64(n) * s.FPS
}

// between is how many packets are due from a packet on and before end.
func (s Shape) between(frame int64, i int, end time.Duration) (n int64) {
	for ; s.due(frame, i) < end; frame, i = frame+1, 0 {
		if !s.Pace {
			n += int64(s.packets(frame) - i)
			continue
		}
		for ; i < s.packets(frame) && s.due(frame, i) < end; i++ {
			n++
		}
	}
	return n
}
