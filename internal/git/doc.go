// Package git is the run's branch and the tree the agent works in, through the
// git binary.
//
// A Source is the user's repository; it is read and never changed, except for
// the one branch that belongs to the run. A Repo is one run on it. It lives in
// a folder of its own, outside the user's repository:
//
//	Root/git    a git directory that only this package writes: config, refs, index
//	Root/tree   the work tree, with a throw-away .git for the agent to look around in
//	Root/lock   held by the one process that works on the run
//
// The agent may do to Root/tree, its .git included, whatever it likes. Git reads
// configuration, hooks and drivers only from Root/git, so nothing the agent
// leaves behind is ever run by this program, which may hold a token. Objects
// go straight to the user's object store, so nothing is copied.
//
// The state folder (such as .reprise/issue-7) is treated apart from code: its
// files are committed byte for byte, whatever .gitattributes says, and are seen even
// when .gitignore hides them.
package git
