package pages

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"snag/internal/private"
)

// mostToken is how long a token's file is at most, in bytes.
const mostToken = 4 << 10

// Token reads the token in a file, which nobody else may read. If there is no such file, it makes one.
func Token(name string) (string, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return made(name)
	}
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return "", fmt.Errorf("read the token: %w", err)
	case !st.Mode().IsRegular():
		return "", fmt.Errorf("read the token: %s is not a file", name)
	case st.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("read the token: others can read %s (mode %04o): chmod 600 %s, and change what is in it", name, st.Mode().Perm(), name)
	}
	b, err := io.ReadAll(io.LimitReader(f, mostToken))
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if len(token) < LeastToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("read the token: %s must hold one word of %d or more ASCII characters; remove the file, and snag serve makes one", name, LeastToken)
	}
	return token, nil
}

func made(name string) (string, error) {
	token := rand.Text()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	if err := private.Write(name, []byte(token+"\n")); err != nil {
		return "", fmt.Errorf("make a token in %s: %w: name another file with --token-file", name, err)
	}
	return token, nil
}
