// Package phases carries out a pipeline: execute, review, revise, phase after
// phase, until every gate holds or a person is needed.
//
// The core is pure. Decide reads the plan and the record and says what comes
// next; Apply takes what came out of it and gives the next record. Neither
// asks a clock, a file or a network, so every way a run can go is a table
// test. Engine is the imperative part: one short loop around them that
// prompts agents, runs checks, and commits record and work together.
//
// There is no code for resuming. A run that was killed is started again, and
// Decide reads from the record what is left to do.
package phases
