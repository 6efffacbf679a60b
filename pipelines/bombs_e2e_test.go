//go:build e2e

package pipelines

import "testing"

// Every bomb that only the limits end, with the limits as they are.
func TestSlowBombs(t *testing.T) { refuse(t, child(t), slowBombs()) }
