package prompts

import "strconv"

// CommentWords are words that only the comment on an issue needs.
type CommentWords struct {
	Suggestions string // heading of what passing reviews suggest
	Stderr      string // heading of what an agent's program wrote there
	Check       string // before the name of a check that fails
	Gate        string // before the text of a gate that does not hold
	CutOff      string // at the end of a comment that is too long
	Interrupted string // what became of the run
	MissesCI    string // the same, where CI does not come
	SeeToCI     string // what to do then
	LateCI      string // why nothing was done about CI that fails
	Unstarted   string // what became of a command whose job ended before reprise began
	BeginJob    string // what to do then
	Resume      string // what takes a run on that only has to be told so
	Halted      string // before the parts of a phase that do not go on
	Jobs        string // those of the run of a workflow that other parts are left to
	Choose      string // before the commands of which a person gives one
	Approves    string // what each of them does
	Rejects     string
	Proposed    string
	TakenBack   string // an agent was sure
	NotTaken    string // before why a rollback that an agent proposes was not carried out
	CarryOut    string // before the command that does
	Saw         string // heading of what an agent saw
	Now         string // before what a person can do with a run that is done
	Review      string // one of these: what to do with the pull request

	Forms struct{ Exit, AsksOne, AsksMany, Elsewhere, More, MoreLines, Changed, Back, Left, BeginAgain string }
}

// Changed says how many files and lines a phase has changed.
func (w CommentWords) Changed(files, added, deleted int) string {
	return counting(w.Forms.Changed, map[string]string{"n": strconv.Itoa(files), "added": strconv.Itoa(added), "deleted": strconv.Itoa(deleted)})
}

// Back says which command takes a run back, to one of the phases named.
func (w CommentWords) Back(phases string) string { return fill(w.Forms.Back, "phases", phases) }

// BeginAgain says what to do where a job ended before reprise began: which command to give.
func (w CommentWords) BeginAgain(command string) string {
	return fill(w.Forms.BeginAgain, "command", command)
}

// Left says how long a run will still take, as earlier ones did.
func (w CommentWords) Left(d string) string { return fill(w.Forms.Left, "time", d) }

// Exit says with which code a check ended.
func (w CommentWords) Exit(code int) string { return fill(w.Forms.Exit, "code", strconv.Itoa(code)) }

// Asks says who asks how many questions.
func (w CommentWords) Asks(phase string, n int) string {
	if n == 1 {
		return fill(w.Forms.AsksOne, "phase", phase)
	}
	return fill(w.Forms.AsksMany, "phase", phase, "n", strconv.Itoa(n))
}

// Elsewhere says that n parts are worked on by jobs.
func (w CommentWords) Elsewhere(n int, jobs, parts string) string {
	return counting(w.Forms.Elsewhere, map[string]string{"n": strconv.Itoa(n), "jobs": jobs, "parts": parts})
}

// More stands in the place of n entries that there is no room for.
func (w CommentWords) More(n int) string { return fill(w.Forms.More, "n", strconv.Itoa(n)) }

// MoreLines says that n lines are not shown, and which file has them.
func (w CommentWords) MoreLines(n int, file string) string {
	return fill(w.Forms.MoreLines, "n", strconv.Itoa(n), "file", file)
}

// CommandWords are what is said about commands in comments.
type CommandWords struct {
	Faults    map[string]string // what is wrong with one, by kind; {1}, {2} and {3} are what it names
	Values    map[string]string // what may stand in the place of PHASE, N and so on
	Summaries map[string]string // by command
	Flags     map[string]string // by flag

	MistakenAny                    string // what became of a comment without a command
	HelpTitle, HelpHead, HelpMore  string // of the list of all commands
	NeedsRun, Now, Text, FirstLine string // facts about a command
	PhaseStep                      string // what PHASE[:STEP] means in a usage
	Space                          string // between two sentences; Japanese has none

	Forms struct{ Mistaken, Needs, More string }
}

// Fault says what is wrong with a command, in the terms of that kind of fault.
func (w CommandWords) Fault(kind string, named []string) string {
	var pairs []string
	for i, n := range named {
		pairs = append(pairs, strconv.Itoa(i+1), n)
	}
	return fill(w.Faults[kind], pairs...)
}

// Mistaken says that a command was not carried out.
func (w CommandWords) Mistaken(command string) string {
	return fill(w.Forms.Mistaken, "command", command)
}

// Needs says which role a command needs at least.
func (w CommandWords) Needs(role string) string { return fill(w.Forms.Needs, "role", role) }

// More says which command explains another one.
func (w CommandWords) More(help string) string { return fill(w.Forms.More, "help", help) }
