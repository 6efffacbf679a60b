//go:build slow

package scripts

import "testing"

// The scripts that take longest.
func TestSlowScripts(t *testing.T) { runScripts(t, "slow", "") }
