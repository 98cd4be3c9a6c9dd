package objects

import (
	"errors"
	"fmt"
	"strings"

	"snag/internal/post"
)

// credentials sign requests. Their texts are secrets, but for the key.
type credentials struct{ key, secret, token string }

// credentials reads those of the file or of the environment. They are read again for each request, as they may be
// renewed. No error has them.
func (w Where) credentials() (credentials, error) {
	file := w.Credentials
	if file == "" {
		c := credentials{w.Env("AWS_ACCESS_KEY_ID"), w.Env("AWS_SECRET_ACCESS_KEY"), w.Env("AWS_SESSION_TOKEN")}
		switch {
		case c.key != "" && c.secret != "":
			return c.checked("the environment")
		case c.key != "" || c.secret != "":
			return c, errors.New("one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set: set both, or give --incidents-credentials FILE")
		}
		file = w.Env("AWS_SHARED_CREDENTIALS_FILE")
	}
	if file == "" {
		return credentials{}, errors.New("no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give --incidents-credentials FILE, a file as ~/.aws/credentials")
	}
	b, err := post.ReadSmall(file)
	if err != nil {
		return credentials{}, fmt.Errorf("read the credentials: %w", err)
	}
	profile := w.Env("AWS_PROFILE")
	if profile == "" {
		profile = "default"
	}
	c := profileOf(string(b), profile)
	if c.key == "" || c.secret == "" {
		return c, fmt.Errorf("read the credentials: %s has no aws_access_key_id and aws_secret_access_key in [%s]: write it as ~/.aws/credentials is, or set AWS_PROFILE", file, profile)
	}
	return c.checked(file)
}

// checked refuses what no header can have: the error of a request could show it.
func (c credentials) checked(from string) (credentials, error) {
	for _, text := range []string{c.key, c.secret, c.token} {
		if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return credentials{}, fmt.Errorf("read the credentials: those of %s have a space or another character that credentials cannot have", from)
		}
	}
	return c, nil
}

// profileOf reads the section of a profile; what is before the first section is of "default".
func profileOf(text, profile string) (c credentials) {
	section := "default"
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, is := strings.CutPrefix(line, "["); is {
			name, _, _ = strings.Cut(name, "]")
			section = strings.TrimSpace(name)
			continue
		}
		name, value, found := strings.Cut(line, "=")
		if !found || section != profile || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "aws_access_key_id":
			c.key = value
		case "aws_secret_access_key":
			c.secret = value
		case "aws_session_token":
			c.token = value
		}
	}
	return c
}

// clean is a text of the store's without our secrets where it repeats them.
func (c credentials) clean(text string) string {
	for _, secret := range []string{c.secret, c.token} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	return text
}
