// Package rtmp loads an RTMP server as its users do: players that count frames, and publishers that send an FLV
// file at its own times.
package rtmp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"snag/internal/rtmp"
	"snag/load"
)

// Plan is who plays and who publishes.
type Plan struct {
	Target     rtmp.Target
	Players    int
	Publishers int
	File       File // what publishers send
	For        time.Duration
	Timeout    time.Duration // for a connection, and for each answer before the stream
	Options    load.SocketOptions
	Insecure   bool // RTMPS: any certificate is accepted
}

// Parse reads rtmp://HOST/APP/STREAM or rtmps://.
func Parse(text string) (rtmp.Target, error) {
	u, err := url.Parse(text)
	if err != nil {
		return rtmp.Target{}, fmt.Errorf("%q is not a URL: rtmp://HOST/APP/STREAM", text)
	}
	t, err := rtmp.ParseTarget(u)
	if err == nil && t.Name == "" {
		err = fmt.Errorf("%s: no stream: the form is rtmp://host[:1935]/app/name", t.Shown)
	}
	return t, err
}

// Check says what is wrong with a plan before anything is sent.
func (p Plan) Check() error {
	switch {
	case p.Players < 0 || p.Publishers < 0 || p.Players+p.Publishers < 1 || p.Players+p.Publishers > load.MostConns:
		return fmt.Errorf("%d players and %d publishers: from 1 to %d together", p.Players, p.Publishers, load.MostConns)
	case p.Publishers > 0 && len(p.File.Tags) == 0:
		return errors.New("publishers need a file to send")
	case p.For <= 0:
		return errors.New("a load needs some time: longer than 0 s")
	case p.Timeout <= 0:
		return errors.New("an answer needs a time after which it is given up: longer than 0 s")
	}
	return nil
}

// Here reports whether the server's address is this host's own.
func (p Plan) Here(ctx context.Context) (bool, error) {
	return load.Target{Address: p.Target.Address()}.Here(ctx)
}

// Asks is how many times per second something is sent at the most: clients that join, and messages.
func (p Plan) Asks() float64 {
	joining := float64(p.Players+p.Publishers) / p.joins().Seconds()
	return joining + float64(p.Publishers)*p.File.Rate()
}

// joins is the time over which the clients join: all at the same moment would be another load.
func (p Plan) joins() time.Duration { return min(p.For/10, time.Second) }

// published is the name of a publisher's stream.
func published(name string, i int) string { return fmt.Sprintf("%s-%d", name, i+1) }

// plays is what a player plays: of several publishers' streams each has as many players.
func (p Plan) plays(i int) rtmp.Target {
	t := p.Target
	if p.Publishers > 0 {
		t.Name = published(t.Name, i%p.Publishers)
	}
	return t
}
