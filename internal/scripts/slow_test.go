//go:build slow

package scripts

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// The scripts that take longest.
func TestSlowScripts(t *testing.T) { runScripts(t, "slow", "") }

// Those of them that are about the sandbox.
func TestSlowSandboxScripts(t *testing.T) { runScripts(t, "slow_sandbox", testenv.OnDisk(t)) }
