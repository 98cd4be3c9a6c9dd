// Package gb28181 is a client of GB/T 28181 (2016, 2022): over SIP (RFC 3261) it
// registers, asks for the catalogue of cameras, and has one of them send its program
// stream, which package ps reads.
package gb28181

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Scheme is that of the URLs.
const Scheme = "gb28181"

// Port is SIP's, where a URL has none (RFC 3261 19.1.2).
const Port = "5060"

// Address is what a URL says: gb28181://HOST[:PORT]/DEVICE_ID[/CHANNEL_ID].
type Address struct {
	Host, Port string
	Device     string // id of the platform or device at HOST
	Channel    string // id of one camera; "" for the catalogue
	ID         string // snag's own (?id=)
	TCP        bool   // SIP over TCP (?transport=tcp)
	Media      Media
	Register   bool // ?register=no talks to a device that takes no registration
	User       *url.Userinfo
}

// Media is the way on which a camera's stream comes.
type Media uint8

// The ways: RTP over UDP; over TCP, to which the camera connects (?media=tcp), or snag
// does (?media=tcp&setup=active).
const (
	OverUDP Media = iota
	OverTCP
	ToCamera
)

// Parse reads a URL.
func Parse(u *url.URL) (Address, error) {
	a := Address{Host: u.Hostname(), Port: u.Port(), User: u.User, Register: true}
	if a.Port == "" {
		a.Port = Port
	}
	ids := strings.Split(strings.Trim(u.Path, "/"), "/")
	if a.Host == "" || ids[0] == "" || len(ids) > 2 {
		return a, errors.New("write gb28181://HOST[:5060]/DEVICE_ID, and /CHANNEL_ID after it for one camera")
	}
	a.Device = ids[0]
	if len(ids) == 2 {
		a.Channel = ids[1]
	}
	if err := a.query(u.Query()); err != nil {
		return a, err
	}
	if a.ID == "" {
		a.ID = ownID(a.User, a.Device)
	}
	for _, id := range append(ids, a.ID) {
		if !IsID(id) {
			return a, errors.New("an id has 1 to 64 letters, digits, and - . _ (by the standard 20 digits)")
		}
	}
	return a, nil
}

func (a *Address) query(q url.Values) error {
	for _, key := range slices.Sorted(maps.Keys(q)) {
		value := q.Get(key)
		switch key + "=" + value {
		case "transport=udp", "setup=passive", "register=yes":
		case "transport=tcp":
			a.TCP = true
		case "media=tcp":
			a.Media = OverTCP
		case "setup=active":
		case "register=no":
			a.Register = false
		case "id=" + value:
			a.ID = value
		default:
			return fmt.Errorf("after the ? there are transport=udp or tcp, media=tcp, setup=passive or active, id=OWN_ID and register=no: not %q", short(key+"="+value))
		}
	}
	switch {
	case q.Has("setup") && a.Media != OverTCP:
		return errors.New("setup= says who connects over TCP: write media=tcp&setup=active")
	case q.Get("setup") == "active":
		a.Media = ToCamera
	}
	return nil
}

// ownID is snag's id where nobody gave one: the user's name, if that is an id, for
// platforms know their clients by it; else a terminal user (type 400, annex D) in the
// device's domain.
func ownID(user *url.Userinfo, device string) string {
	if name := user.Username(); isStandard(name) {
		return name
	}
	domain := "34020000"
	if isStandard(device) {
		domain = device[:8]
	}
	return domain + "00" + "400" + "0000001"
}

// isStandard tells an id as annex D has them: 20 digits.
func isStandard(id string) bool {
	return len(id) == 20 && strings.Trim(id, "0123456789") == ""
}

// IsID reports whether a text can be an id. It stands in SIP's lines and in URLs.
func IsID(id string) bool {
	other := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("-._", r)
	}
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, other)
}

// domain is the first part of an id, which stands for its SIP domain.
func domain(id string) string {
	if isStandard(id) {
		return id[:10]
	}
	return id
}
