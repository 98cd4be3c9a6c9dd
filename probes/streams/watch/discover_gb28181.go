package watch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"snag/probes/streams/gb28181"
	"snag/probes/streams/stream"
)

// maxCameras are kept of catalogues that do not come whole.
const maxCameras = 10000

// gb28181URL reads //HOST[:PORT]/DEVICE_ID: the scheme is the kind's name.
func gb28181URL(raw string) (*url.URL, error) {
	u, err := url.Parse(gb28181.Scheme + ":" + raw)
	if err != nil {
		return nil, errors.New("//HOST[:5060]/DEVICE_ID")
	}
	a, err := gb28181.Parse(u)
	switch {
	case err != nil:
		return nil, fmt.Errorf("//HOST[:5060]/DEVICE_ID: %w", err)
	case a.Channel != "":
		return nil, errors.New("//HOST[:5060]/DEVICE_ID: this names one camera, which is read without --discover")
	}
	return u, nil
}

// address is who is asked, and by whom.
func (d *Discovery) address() (gb28181.Address, error) {
	u := *d.api
	u.User = d.web.user
	return gb28181.Parse(&u)
}

// askGB28181 asks for the catalogue. Of one that does not come whole, the cameras that
// are missing are those of the one before.
func askGB28181(ctx context.Context, d *Discovery) ([]vars, []Problem, error) {
	if d.web.token != "" {
		return nil, nil, errors.New("its credentials are a token, and SIP wants user= and password=")
	}
	a, err := d.address()
	if err != nil {
		return nil, nil, err
	}
	l, err := gb28181.Catalogue(ctx, a, stream.Options{Timeout: askTimeout, Netns: d.inside})
	if err != nil {
		return nil, nil, err
	}
	var told []Problem
	if !l.Whole() {
		told = append(told, Problem{File: d.Name(), Why: inPart(l)})
	}
	cameras := d.withMissing(l)
	found, off := d.watched(cameras, a)
	return found, append(told, off...), nil
}

// leaveGB28181 ends the registration, unless streams still use it.
func leaveGB28181(d *Discovery) {
	if a, err := d.address(); err == nil {
		gb28181.Leave(a, d.inside)
	}
}

func inPart(l gb28181.List) string {
	why := fmt.Sprintf("its catalogue did not come whole: %d of %d items", l.Got, l.Of)
	if l.Torn > 0 {
		why += fmt.Sprintf(", and %d answers that can't be read", l.Torn)
	}
	return why + "; those that it listed before are watched on"
}

// withMissing are the cameras of a catalogue, and of one that is not whole those that
// were there before.
func (d *Discovery) withMissing(l gb28181.List) []gb28181.Item {
	all := l.Cameras
	if !l.Whole() {
		all = slices.Concat(all, d.cameras)
	}
	there := map[string]bool{}
	var out []gb28181.Item
	for _, i := range all {
		if !there[i.ID] && len(out) < maxCameras {
			there[i.ID] = true
			out = append(out, i)
		}
	}
	d.cameras = out
	return out
}

// watched are the cameras that are on; of the others it says that they are off.
func (d *Discovery) watched(cameras []gb28181.Item, a gb28181.Address) ([]vars, []Problem) {
	query := d.api.Query()
	if d.web.user != nil {
		query.Set("id", a.ID) // the user is not in the streams' URLs
	}
	names := map[string]int{}
	for _, c := range cameras {
		names[c.Name]++
	}
	var found []vars
	var off problems
	for _, c := range cameras {
		name := strings.TrimSpace(c.Name)
		if names[c.Name] > 1 && name != "" {
			name += " " + c.ID
		}
		switch {
		case !gb28181.IsID(c.ID):
			off.add(Problem{File: d.Name(), Why: fmt.Sprintf("%q can't be watched: its id %q is none of SIP's", Clean(name, 60), Clean(c.ID, 40))})
		case !c.On:
			off.add(Problem{File: d.Name(), Why: fmt.Sprintf("%q (%s) is OFF: it is not watched until the catalogue has it ON", Clean(name, 60), c.ID)})
		default:
			found = append(found, vars{"host": a.Host, "port": a.Port, "device": a.Device, "stream": c.ID, ownName: name, ownQuery: query.Encode()})
		}
	}
	return found, off.all(d.Name(), "more cameras are OFF or can't be watched")
}
