package picture

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"snag/probes/streams/decoder"
)

// Decode has ffmpeg decode a key picture, a byte stream of codec (h264, hevc).
func Decode(ctx context.Context, codec string, b []byte) (Picture, error) {
	out := &bounded{most: fullPoints + 1}
	said, err := decoder.Run(ctx, "picture", b, out, func() bool { return len(out.b) == fullPoints }, "-f", codec, "-i", "pipe:0",
		"-frames:v", "1", "-filter_threads", "1", "-vf", fmt.Sprintf("scale=%d:%d:flags=area,format=gray", Width, Height), "-f", "rawvideo", "pipe:1")
	if err != nil {
		return Picture{}, err
	}
	return Picture{out.b, garbled(said)}, nil
}

// damage is what ffmpeg prints of a picture in which it met errors, and whose rest it made up.
var damage = []string{"error while decoding MB", "concealing ", "corrupt decoded frame"}

// garbled tells from what ffmpeg printed whether a picture is damaged.
func garbled(said string) bool {
	return slices.ContainsFunc(damage, func(text string) bool { return strings.Contains(said, text) })
}

// bounded keeps the first bytes.
type bounded struct {
	b    []byte
	most int
}

func (w *bounded) Write(b []byte) (int, error) {
	w.b = append(w.b, b[:min(len(b), w.most-len(w.b))]...)
	return len(b), nil
}
