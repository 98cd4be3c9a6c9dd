package codec

// WholeADTS gives the frames of ADTS that are whole in b and follow each other: from the first header
// that another follows, or the end, to the end of the last.
func WholeADTS(b []byte) []byte {
	for from := range b {
		to := from
		for {
			h, err := ADTS(b[to:])
			if err != nil || to+h.Size > len(b) {
				break
			}
			to += h.Size
		}
		if rest := b[to:]; to > from && (len(rest) < 2 || rest[0] == 0xff && rest[1]&0xf6 == 0xf0) {
			return b[from:to:to]
		}
	}
	return nil
}
