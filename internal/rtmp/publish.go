package rtmp

import "encoding/binary"

// publishChunkSize is that of what a publisher sends: as OBS has it, so that a picture is few chunks.
const publishChunkSize = 4096

// Chunk streams of a publisher's media, as ffmpeg has them.
const (
	audioChunk = 4
	videoChunk = 6
	dataChunk  = 5
)

// announce is what encoders say before createStream. Some servers wait for it
// (librtmp's SendReleaseStream and SendFCPublish); others ignore it.
func (c *Client) announce() {
	c.send(controlChunk, TypeSetChunkSize, 0, binary.BigEndian.AppendUint32(nil, publishChunkSize))
	c.size = publishChunkSize
	c.command(commandChunk, 0, "releaseStream", 3, nil, c.to.Name)
	c.command(commandChunk, 0, "FCPublish", 4, nil, c.to.Name)
}

// Publish appends a message of the stream to Out. body is audio, video or data, as an FLV tag has it.
func (c *Client) Publish(kind uint8, stamp uint32, body []byte) {
	chunk := uint32(dataChunk)
	switch kind {
	case TypeAudio:
		chunk = audioChunk
	case TypeVideo:
		chunk = videoChunk
	}
	c.Out = AppendMessage(c.Out, Header{Chunk: chunk, Type: kind, Stream: c.Stream, Timestamp: stamp}, c.size, body)
}

// Unpublish appends what a publisher says before it closes.
func (c *Client) Unpublish() {
	c.command(commandChunk, 0, "FCUnpublish", 6, nil, c.to.Name)
	c.command(commandChunk, 0, "deleteStream", 7, nil, float64(c.Stream))
}
