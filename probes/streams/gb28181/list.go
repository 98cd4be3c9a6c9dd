package gb28181

import (
	"fmt"
	"strings"
)

// maxItems are taken of a catalogue; more is said and left.
const maxItems = 10000

// Item is a camera of a catalogue.
type Item struct {
	ID   string
	Name string // as it came: not fit to be printed
	On   bool
}

// List is a catalogue, or what came of it.
type List struct {
	Cameras []Item
	Of      int // items that were announced
	Got     int // items that came: cameras, folders, alarm inputs
	Torn    int // answers that could not be read
}

// Whole reports whether all came that was announced.
func (l *List) Whole() bool { return l.Got >= l.Of }

// add takes one answer.
func (l *List) add(d document) error {
	if d.SumNum == nil || *d.SumNum < 0 {
		return fmt.Errorf("its catalogue does not say how many items it has (SumNum)")
	}
	l.Of = *d.SumNum
	for _, i := range d.Items {
		l.Got++
		item := Item{ID: strings.TrimSpace(i.DeviceID), Name: strings.TrimSpace(i.Name), On: isOn(i.Status)}
		if isCamera(item.ID, strings.TrimSpace(i.Parental) == "1") && len(l.Cameras) < maxItems {
			l.Cameras = append(l.Cameras, item)
		}
	}
	return nil
}

// isOn reads a Status: ON or OFF by the standard, ONLINE or OK of some devices. One
// that says nothing is taken as there: whether it gives a stream is then seen.
func isOn(status string) bool {
	switch strings.ToUpper(strings.TrimSpace(status)) {
	case "", "ON", "ONLINE", "OK":
		return true
	}
	return false
}

// isCamera reports what can be watched from what else a catalogue lists by its id (annex
// D): administrative regions have 2 to 8 digits; digits 11 to 13 of the others are the
// type: a recorder (below 131) lists its cameras beside itself; displays, alarm and
// sound inputs and outputs, platforms, groups and users (from 133 on) are none.
func isCamera(id string, parent bool) bool {
	if !isStandard(id) {
		return len(id) > 8
	}
	switch kind := id[10:13]; {
	case kind < "131":
		return !parent
	case kind < "133":
		return true
	}
	return false
}
