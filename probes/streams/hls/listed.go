package hls

// Listed are the URIs that a playlist lists: of a master playlist those of its media
// playlists, else those of its segments and parts.
func Listed(b []byte) (uris []string, master bool, err error) {
	if len(b) > maxPlaylist {
		b = b[:maxPlaylist]
	}
	p, err := parse(b)
	if err != nil {
		return nil, false, err
	}
	for _, v := range p.variants {
		uris = append(uris, v.uri)
	}
	for _, r := range p.renditions {
		uris = append(uris, r.uri)
	}
	for _, s := range p.segments {
		if s.uri != "" {
			uris = append(uris, s.uri)
		}
		for _, part := range s.parts {
			uris = append(uris, part.uri)
		}
	}
	for _, part := range p.parts {
		uris = append(uris, part.uri)
	}
	return uris, p.master, nil
}
