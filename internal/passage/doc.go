// Package passage connects one call of an agent with its models. It keeps the keys of
// the agent's environment outside, behind a gate that is made for the call, and says what
// has passed the gate when the call is over.
package passage
