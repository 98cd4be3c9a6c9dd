package broadcast

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/origin"
)

// FilmTurns is how long after it began a film becomes another picture.
const FilmTurns = 10 * time.Second

// What a film becomes, as ffmpeg's filters.
var (
	TurnsBlack = fmt.Sprintf("drawbox=color=black:t=fill:enable='gte(t,%.0f)'", FilmTurns.Seconds())
	TurnsQuiet = fmt.Sprintf("noise=alls=6:allf=t:enable='lt(t,%.0f)'", FilmTurns.Seconds())
)

// Film starts ffmpeg that makes a picture as it goes, and publishes it; filter changes the
// picture, "" does not.
func (b *Broadcast) Film(filter string) *lab.Process {
	if filter == "" {
		filter = "null"
	}
	p := b.Stage.Run(b.Encoder, "encoder-film", []string{"ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-progress", "pipe:1", "-stats_period", "0.5",
		"-re", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-vf", filter, "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-threads", "1",
		"-g", "50", "-crf", "28", "-pix_fmt", "yuv420p", "-t", fmt.Sprint(int(lab.MaxLife.Seconds())), "-f", "flv", origin.URL(Ingest, origin.Stream)})
	b.Stage.AwaitOutput(p, "frames are sent", origin.Moving)
	return p
}
