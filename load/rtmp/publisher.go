package rtmp

import (
	"context"
	"sync"
	"time"

	"snag/internal/rtmp"
)

// Publisher is what came of one.
type Publisher struct {
	Outcome Outcome
	Stream  string
	Sent    int64         // tags
	Bytes   int64         // of their bodies
	Behind  time.Duration // how late the last tag was taken whole
	Worst   time.Duration
}

// publisher is one while it runs. The server is heard beside the sending: both change what is to be said.
type publisher struct {
	run *run
	c   *client
	out Publisher

	mu    sync.Mutex
	spare []byte
	heard error // why the hearing ended
}

// publish runs one publisher until ctx is done. ready is called once it is let in, or is not.
func (r *run) publish(ctx context.Context, i int, ready func()) Publisher {
	ready = sync.OnceFunc(ready)
	defer ready()
	to := r.plan.Target
	to.Name = published(to.Name, i)
	p := &publisher{run: r, out: Publisher{Stream: to.Name}}
	var err error
	if p.c, err = r.open(ctx, rtmp.NewPublisher(to)); err != nil {
		if ctx.Err() == nil {
			p.out.Outcome = outcomeOf(to, err, true)
		}
		return p.out
	}
	ready()
	defer p.c.Close()
	sending, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(sending, func() { p.c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var hearing sync.WaitGroup
	hearing.Go(func() {
		p.hear(sending)
		cancel()
	})
	err = p.send(sending)
	cancel()
	hearing.Wait()
	switch {
	case ctx.Err() != nil:
		p.goodbye()
	case p.heard != nil: // the server's own words before what the socket says
		p.out.Outcome = outcomeOf(to, p.heard, false)
	case err != nil:
		p.out.Outcome = outcomeOf(to, err, false)
	}
	return p.out
}

// hear reads what the server says. Its answers go out with the next tag.
func (p *publisher) hear(ctx context.Context) {
	err := p.c.SetReadDeadline(time.Time{})
	for err == nil && ctx.Err() == nil {
		var n int
		if n, err = p.c.Read(p.c.buf); n > 0 {
			p.mu.Lock()
			err = p.c.talk.Feed(p.c.buf[:n], 0)
			p.mu.Unlock()
		}
	}
	if ctx.Err() == nil {
		p.heard = err
	}
}

// send sends the file's tags as they are due.
func (p *publisher) send(ctx context.Context) error {
	began := p.run.now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	free := began
	for i := 0; ; i++ {
		at, stamp, tag := p.run.plan.File.next(i)
		due := began + at
		if wait := due - p.run.now(); wait > 0 {
			timer.Reset(wait)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-timer.C:
			}
		}
		p.run.note(p.run.out.Lag, p.run.now()-max(due, free))
		err := p.write(stamp, tag)
		free = p.run.now()
		p.out.Behind = free - due
		p.out.Worst = max(p.out.Worst, p.out.Behind)
		p.run.note(p.run.out.Behind, p.out.Behind)
		if err != nil {
			return err
		}
		p.out.Sent++
		p.out.Bytes += int64(len(tag.Body))
	}
}

func (p *publisher) write(stamp uint32, tag *rtmp.Tag) error {
	p.mu.Lock()
	p.c.talk.Publish(tag.Type, stamp, body(tag))
	out := p.c.talk.Out
	p.c.talk.Out = p.spare[:0]
	p.mu.Unlock()
	p.spare = out
	if err := p.c.SetWriteDeadline(time.Now().Add(p.run.plan.Timeout)); err != nil {
		return err
	}
	_, err := p.c.Write(out)
	return err
}

// setDataFrame wraps metadata, as encoders do, so that a server keeps it for players that join later.
var setDataFrame = []byte("\x02\x00\x0d@setDataFrame")

func body(t *rtmp.Tag) []byte {
	if t.Type == rtmp.TypeDataAMF0 && string(t.Body[:min(len(t.Body), len(setDataFrame))]) != string(setDataFrame) {
		return append(append([]byte(nil), setDataFrame...), t.Body...)
	}
	return t.Body
}

// goodbye says that the stream is over, where the server takes it at once.
func (p *publisher) goodbye() {
	p.c.talk.Out = p.c.talk.Out[:0] // a tag may have been cut off: nothing of it counts any more
	p.c.talk.Unpublish()
	if p.c.SetWriteDeadline(time.Now().Add(100*time.Millisecond)) == nil {
		_ = p.c.say()
	}
}
