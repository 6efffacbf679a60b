package engine

import (
	"os"
	"testing"

	"github.com/reprise-ci/reprise/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.InMemory()
	remove := testenv.Neutral()
	code := m.Run()
	remove()
	os.Exit(code)
}
