package git

import (
	"context"
	"time"
)

// Options say which run to open, and where.
type Options struct {
	Source *Source
	Root   string // the run's folder, made if missing; outside the user's repository and not below any .git
	Branch string // the run's branch, such as reprise/issue-7
	Base   string // branch or full hash that a new branch starts from; "" means what is checked out
	State  string // the state folder, from the top of the repository, such as .reprise/issue-7

	// Scrap is a file whose uncommitted content is in no patch, and not worth one when
	// it is all that a killed process left behind.
	Scrap string

	// Keep names the record of the run, such as issue-7, where the branch has it no
	// longer: refs/reprise/records/issue-7 has it then, at the remote and in the
	// user's repository. With "" it is kept nowhere.
	Keep string

	Remote string // name of the remote to push to, such as origin; "" neither fetches nor pushes
	Own    string // full name of the ref of the remote that commits go to in place of the branch; "": the branch
	DryRun bool   // try only: nothing of the user's repository or of the remote is written
	Aside  string // folder for the objects of a tree beside that of the run: its branch is in Root alone, and nobody is told of it; "": it is the run's

	// Token, if not nil, returns a token for the remote, asked for before each
	// call. It is used in place of the user's own credentials.
	Token func(context.Context) (string, error)

	// Patience is how long one call to the remote may take; 0 stands for 15
	// minutes.
	Patience time.Duration

	// TakeOther goes on from where the branch went elsewhere, if that cannot be
	// joined with what is here, and gives up the commits that are only here.
	TakeOther bool

	// Fit, if not nil, is asked about the newest commit of a branch that exists,
	// before anything is moved to it; read gives a file of that commit, as
	// ReadFile does. What it returns is the error of Open.
	Fit func(read func(path string) ([]byte, error)) error

	// Locked, if not nil, is called with the work tree's path once the run's
	// folder belongs to this process, before anything in the tree is looked at.
	// What it returns, if anything, is a warning.
	Locked func(tree string) string

	// Hold, if not nil, puts the git-lfs that converts files into a sandbox.
	Hold Hold

	Name, Email string // who commits; default: the user's configuration, else reprise
}
