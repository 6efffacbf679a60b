//go:build e2e

package git

import "testing"

// Many more trees than each time.
func TestAnyOrderOfPartsGivesTheSameOfManyTrees(t *testing.T) { confluent(t, 500) }
