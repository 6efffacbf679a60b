//go:build e2e

package git

import "testing"

// Many more trees than each time, for some ten minutes.
func TestAnyOrderOfPartsGivesTheSameOfManyTrees(t *testing.T) { confluent(t, 5000) }
