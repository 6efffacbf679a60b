//go:build e2e

package main

import "testing"

// Every call, in every way.
func TestForgeGoesWrongInEveryWay(t *testing.T) { goWrong(t, faults()) }
