// Package engine carries out a run: a loop that asks package phases what comes
// next, lets an agent or a check do that, and commits record and work together.
//
// An Engine reaches the outside only through its ports: Agent, Checker, Provisions,
// Reporter, Saver and Steering, and the Tree and the secrets of its Journal. What an agent
// left behind is evaluated into an Outcome, and phases.Apply makes the next record of it.
// An error is something else: it stops the process and leaves the record as it was.
package engine
