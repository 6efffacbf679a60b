// Package branch is the branch of a run, which is all that a run knows of itself: each
// commit has the record, and with it the work that the record tells of.
//
// A Journal makes these commits, and no others are made. Tree is the way to git. Each
// commit takes or renews the lease on the run, so that two processes do not go on with it
// at the same time.
package branch
