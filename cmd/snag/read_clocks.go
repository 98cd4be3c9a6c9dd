package main

import (
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones for --tz on hosts that have none

	"snag/internal/cli"
	"snag/readers"
)

// clocks reads what was asked for of the files' zones, clocks and hosts.
func (f *readFlags) clocks(p *readers.Plan) error {
	p.Zones, p.Offsets, p.Hosts = map[string]*time.Location{}, map[string]time.Duration{}, map[string]string{}
	for _, text := range f.zones {
		file, name, one := cutLast(text)
		zone, err := parseZone(name)
		switch {
		case err != nil:
			return cli.Usage("--tz %s: %v", text, err)
		case one:
			p.Zones[file] = zone
		default:
			p.Zone = zone
		}
	}
	for _, text := range f.offsets {
		file, value, one := cutLast(text)
		d, err := time.ParseDuration(value)
		if err != nil || !one {
			return cli.Usage("--offset %s: give FILE=+3.2s, or -150ms: what to add to its times", text)
		}
		p.Offsets[file] = d
	}
	for _, text := range f.hosts {
		file, name, one := cutLast(text)
		if !one || name == "" {
			return cli.Usage("--host %s: give FILE=NAME", text)
		}
		p.Hosts[file] = name
	}
	return nil
}

// cutLast parts FILE=VALUE at its last "=": a file's name may hold one.
func cutLast(text string) (file, value string, ok bool) {
	i := strings.LastIndexByte(text, '=')
	if i <= 0 {
		return "", text, false
	}
	return strings.TrimSuffix(text[:i], "/"), text[i+1:], true
}

// parseZone reads the name of a zone, or how far it is from UTC: +02:00, -0330.
func parseZone(name string) (*time.Location, error) {
	if sign := strings.IndexAny(name, "+-"); sign == 0 || sign == 3 && strings.HasPrefix(name, "UTC") {
		digits := strings.ReplaceAll(name[sign+1:], ":", "")
		if len(digits) <= 2 {
			digits += "00"
		}
		n, err := strconv.Atoi(digits)
		if err == nil && n >= 0 && n/100 <= 14 && n%100 < 60 {
			east := n/100*3600 + n%100*60
			if name[sign] == '-' {
				east = -east
			}
			return time.FixedZone(name, east), nil
		}
	}
	return time.LoadLocation(name)
}
