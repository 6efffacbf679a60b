// Package agents is the door to the agent programs. An agent gets one task,
// works on it, and says what came of it: Claude Code, Codex and Gemini are
// programs with typed streams, "command" is any program that reads a task and
// prints a result as JSON, and "rehearsal" is built in and needs neither key
// nor network.
//
// Every program gets only the environment it needs, never reprise's own tokens.
// Package process runs it under supervision, and package sandbox holds it. What it
// says about itself is read from the typed events of its stream, never from prose.
package agents

// Rehearsal is the agent that needs no program, key or network.
const Rehearsal = "rehearsal"
