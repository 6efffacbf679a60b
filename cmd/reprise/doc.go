// Command reprise takes an issue through a pipeline of phases with coding
// agents. Every phase runs execute, review and revise until its gates hold;
// the record of the run is committed to the branch together with the
// work; a rollback takes a run back, and its reason reaches the agent that
// revises.
//
// # A tour, from the bottom up
//
// Package metadata is the record of a run: metadata.json, its invariants, and
// how to save it so that no crash leaves a torn file.
//
// Package pipelines is what a run does: CUE in, plain Go out, every mistake at
// once with file, line and column.
//
// Package prompts is what reprise says to an agent, in every language it
// speaks, with text from outside behind fences.
//
// Package phases is the heart. Decide reads plan and record and says what
// comes next; Apply gives the next record; both are pure. Engine is the loop
// around them, and the only place where a record is committed.
//
// Package secrets is about what must not be seen: values of the user however
// they are written, and what has the shape of a key.
//
// Package agents is the door to the agent programs and to the rehearsal agent
// that needs none. It decides from typed events only, and leaves no process
// behind.
//
// Package git is the door to the branch and its work tree. It keeps a git
// directory of its own, so that nothing an agent wrote into git is ever run.
//
// Package github is the door to GitHub, where issues and commands come from and
// where a run is shown. It keeps the token from every other host, and knows what
// may be asked twice and when.
//
// This command wires them: workspace.go puts the pieces of one run together,
// run.go and its neighbours are the commands, view.go and comment.go show a
// run, and errors.go turns any error into what people see. On GitHub action.go
// is the entry: it reads what the event asks for, slash.go reads commands in
// comments, order.go says what each does to a run, and bot.go carries them out
// between the steps of a run that is at work.
package main
