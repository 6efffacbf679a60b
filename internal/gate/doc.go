// Package gate is what stands between one call of an agent and the network: an
// HTTP proxy on loopback that is opened for the call and closed with it.
//
// Requests to a model go through it under a placeholder, for which it puts in the
// real key. It reads from the answers, as they stream by, what was used, and
// refuses what goes past the limits of the call. Everything else goes through it as
// through any HTTP proxy, to the hosts that were allowed. What is within TLS stays
// closed to it: only requests to a model are addressed to the gate itself.
package gate
