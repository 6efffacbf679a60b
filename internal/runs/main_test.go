package runs

import (
	"os"
	"testing"

	"github.com/reprise-ci/reprise/internal/testenv"
)

func TestMain(m *testing.M) {
	remove := testenv.Neutral()
	code := m.Run()
	remove()
	os.Exit(code)
}
