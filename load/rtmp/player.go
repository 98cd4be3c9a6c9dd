package rtmp

import (
	"context"
	"time"

	"snag/internal/rtmp"
)

// Player is what came of one.
type Player struct {
	Outcome    Outcome
	FirstFrame time.Duration // since it began to connect; 0: none came
	Frames     int64
	Rate, Own  float64       // frames/s as they came, and by their timestamps; 0: too few
	Behind     time.Duration // how much later the stream comes at the end than at its earliest
	Freezes    int
	Frozen     time.Duration
	Sound      bool // its frames are audio: there was no video
}

// player counts what a server sends.
type player struct{ video, audio track }

// Appeared implements rtmp.Listener.
func (p *player) Appeared(int64) {}

// Media implements rtmp.Listener.
func (p *player) Media(m *rtmp.Message, at int64) bool {
	switch {
	case m.Picture():
		p.video.frame(time.Duration(at), m.Timestamp)
	case m.Sound():
		p.audio.frame(time.Duration(at), m.Timestamp)
	default:
		return false
	}
	return true
}

// result is what came until at.
func (p *player) result(joined, at time.Duration, o Outcome) Player {
	t, sound := &p.video, false
	if t.frames == 0 && p.audio.frames > 0 {
		t, sound = &p.audio, true
	}
	if o == "" {
		t.end(at)
	}
	out := Player{Outcome: o, Frames: t.frames, Behind: t.fellBehind(), Freezes: t.freezes, Frozen: t.frozen, Sound: sound}
	if t.frames > 0 {
		out.FirstFrame = t.first - joined
	}
	out.Rate, out.Own = t.rate()
	return out
}

// play runs one player until ctx is done.
func (r *run) play(ctx context.Context, i int) Player {
	p := &player{}
	joined := r.now()
	to := r.plan.plays(i)
	c, err := r.open(ctx, rtmp.NewPlayer(to, p))
	if err != nil {
		if ctx.Err() != nil {
			return p.result(joined, r.now(), "")
		}
		return p.result(joined, r.now(), outcomeOf(to, err, true))
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	// The stream may begin late: its publisher does.
	if err = c.SetReadDeadline(time.Time{}); err == nil && ctx.Err() == nil {
		for err == nil {
			if err = c.hear(r.now); err == nil {
				err = c.answer(r.plan.Timeout)
			}
		}
	}
	if ctx.Err() != nil {
		return p.result(joined, r.now(), "")
	}
	return p.result(joined, r.now(), outcomeOf(to, err, false))
}

// answer sends what the protocol asks for: acknowledgements, answers to pings.
func (c *client) answer(within time.Duration) error {
	if len(c.talk.Out) == 0 {
		return nil
	}
	if err := c.SetWriteDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	return c.say()
}
