package recording

import (
	"fmt"
	"os"
	"testing"
)

// The test binary runs itself again as the process that is to be killed, or as
// the one in a mount namespace of its own.
const roleEnv = "SNAG_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleEnv)
	if role == "" {
		os.Exit(m.Run())
	}
	run := map[string]func(dir string) error{"write": writeUntilKilled, "small-disk": writeOnSmallDisk}[role]
	if run == nil {
		fmt.Fprintf(os.Stderr, "no role %q\n", role)
		os.Exit(2)
	}
	if err := run(os.Getenv("SNAG_TEST_DIR")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
