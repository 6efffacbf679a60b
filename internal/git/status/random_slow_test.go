//go:build slow

package status

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/ordinary"
)

func TestUnchangedIsWhatGitSaysAtLength(t *testing.T) {
	ordinary.Test(t, func(t *testing.T) { asGitSays(t, 30) })
}
