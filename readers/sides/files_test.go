package sides

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWriteFiles puts the simulated captures where SIDES_FILES says, for a look by hand.
func TestWriteFiles(t *testing.T) {
	dir := os.Getenv("SIDES_FILES")
	if dir == "" {
		t.Skip("SIDES_FILES=DIR is not set")
	}
	for i, b := range beds {
		_, files := b.simulate(t, uint64(i+1))
		for k, f := range files {
			raw, err := os.ReadFile(f)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, string(rune('a'+i))+string(rune('0'+k))+".pcap"), raw, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
