package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
)

// multiply writes a file's lines again and again until it has size bytes, each time
// as shift makes them: turn counts from 0.
func multiply(ctx context.Context, from, to string, size int64, shift func(dst, line []byte, turn int) []byte) error {
	seed, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	var out []byte
	var done int64
	for turn := 0; done < size && ctx.Err() == nil; turn++ {
		for rest := seed; len(rest) > 0; {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				break // a last line that is not whole would run into the first
			}
			out = shift(out[:0], rest[:i+1], turn)
			rest = rest[i+1:]
			n, err := w.Write(out)
			if err != nil {
				return err
			}
			done += int64(n)
		}
		if done == 0 {
			return errEmpty
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return ctx.Err()
}

// number reads the decimal digits at b's beginning.
func number(b []byte) (n int64, rest []byte) {
	i := 0
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		n = n*10 + int64(b[i]-'0')
		i++
	}
	return n, b[i:]
}

// appendStamp writes seconds and digits of a fraction: 12.000345.
func appendStamp(dst []byte, units, perSecond int64) []byte {
	dst = appendInt(dst, units/perSecond)
	dst = append(dst, '.')
	rest := units % perSecond
	for perSecond /= 10; perSecond > 0; perSecond /= 10 {
		dst = append(dst, byte('0'+rest/perSecond%10))
	}
	return dst
}

func appendInt(dst []byte, n int64) []byte {
	if n >= 10 {
		dst = appendInt(dst, n/10)
	}
	return append(dst, byte('0'+n%10))
}

// stamp reads seconds with a fraction of six digits (or three) as units of it.
func stamp(b []byte) (units, perSecond int64, rest []byte, ok bool) {
	sec, rest := number(b)
	if len(rest) == len(b) || len(rest) == 0 || rest[0] != '.' {
		return 0, 0, b, false
	}
	frac, after := number(rest[1:])
	perSecond = 1
	for range len(rest) - 1 - len(after) {
		perSecond *= 10
	}
	return sec*perSecond + frac, perSecond, after, true
}
