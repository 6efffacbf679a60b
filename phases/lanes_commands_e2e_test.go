//go:build e2e

package phases

import "testing"

// Many more runs than each time.
func TestManyCommandsWhilePartsAreAtWork(t *testing.T) { meddleIn(t, 10_000) }

func TestManyOrdersComeToTheSame(t *testing.T) { inAnyOrder(t, 10_000) }
