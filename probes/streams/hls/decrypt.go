package hls

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
)

// decrypter undoes AES-128 in CBC mode with PKCS #7 padding (RFC 8216 4.3.2.4) as
// the bytes come. It holds back a block, which may be the padding.
type decrypter struct {
	mode cipher.BlockMode
	hold []byte
}

func newDecrypter(secret []byte, k *key, sequence uint64) (*decrypter, error) {
	block, err := aes.NewCipher(secret)
	if err != nil || len(secret) != aes.BlockSize {
		return nil, fmt.Errorf("its key has %d bytes, not 16", len(secret))
	}
	iv := k.iv
	if !k.has {
		binary.BigEndian.PutUint64(iv[8:], sequence)
	}
	return &decrypter{mode: cipher.NewCBCDecrypter(block, iv[:])}, nil
}

// feed gives what can be decrypted; it is good until the next call.
func (d *decrypter) feed(b []byte) []byte {
	d.hold = append(d.hold, b...)
	n := (len(d.hold) - 1) / aes.BlockSize * aes.BlockSize
	if n <= 0 {
		return nil
	}
	out := make([]byte, n)
	d.mode.CryptBlocks(out, d.hold[:n])
	d.hold = append(d.hold[:0], d.hold[n:]...)
	return out
}

// end gives the last block without its padding.
func (d *decrypter) end() []byte {
	if len(d.hold) != aes.BlockSize {
		return nil
	}
	out := make([]byte, aes.BlockSize)
	d.mode.CryptBlocks(out, d.hold)
	if pad := int(out[len(out)-1]); pad >= 1 && pad <= aes.BlockSize {
		return out[:len(out)-pad]
	}
	return out
}
