//go:build e2e

package main

import (
	"testing"

	"pgregory.net/rapid"
)

// Every call, in every way.
func TestForgeGoesWrongInEveryWay(t *testing.T) { goWrong(t, faults(), 1) }

// Every route that something besides a run calls, in every way.
func TestErrandsGoWrongInEveryWay(t *testing.T) { errandsGoWrong(t, troubles(), 1) }

// Down from every call on.
func TestForgeGoesDownAtEveryCall(t *testing.T) { goDown(t, 1) }

// A command at every call of another job.
func TestCommandAtEveryCall(t *testing.T) { atCalls(t, 1) }

// Many more pairs of jobs.
func TestManyTwoJobsAnytime(t *testing.T) { anytime(t, 12) }

// Ten thousand cases: -rapid.checks=10000
func TestManyInterleave(t *testing.T) {
	t.Parallel()
	s := newArena(t)
	rapid.Check(t, func(rt *rapid.T) {
		if err := s.play(t, anything(shrinking{rt})); err != nil {
			rt.Fatal(err)
		}
	})
}

// shrinking draws with rapid, which makes numbers smaller where a case fails.
type shrinking struct{ *rapid.T }

func (s shrinking) between(least, most int, name string) int {
	return rapid.IntRange(least, most).Draw(s.T, name)
}

// A job that is gone at every one of its steps.
func TestGoneJobIsFollowedAtEveryCall(t *testing.T) { followed(t, 1) }
