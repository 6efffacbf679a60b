// Package phases decides how a run goes through its pipeline: execute, review,
// revise, phase after phase, until every gate holds or a person is needed.
//
// It is pure. Decide reads the plan and the record and says what comes next;
// Apply takes what came out of that and gives the next record. Rules, rollbacks,
// commands of people and the summary are functions of the same kind: same
// arguments, same answer. Nothing in here asks a clock, a file or a network, or
// puts a reason into words, so every way a run can go is a row in a table test.
// Package engine carries out what is decided here.
//
// There is no code for resuming. A run that was killed is started again, and
// Decide reads from the record what is left to do.
package phases
