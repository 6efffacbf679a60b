// Package passage is the way of one call of an agent to its models: which keys of
// its environment stay outside, behind a gate of its own, and what has come through
// when the call is over.
package passage
