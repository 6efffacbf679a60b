// Package detect finds out how a repository is set up and checked, from the
// files that are in it: manifests, lock files, scripts, and the steps of its
// workflows. It runs nothing, and takes only what those files say plainly.
package detect

import "io/fs"

// Look examines the repository at the root of fsys. What it cannot read is as if
// it were not there.
func Look(fsys fs.FS) Found {
	l := &look{repo: repository{fsys}}
	l.workflows = l.repo.workflowCommands(&l.found)
	for _, tool := range []func(*look, string) bool{golang, node, python, cargo, maven, gradle, dotnet, ruby} {
		l.each(tool)
	}
	l.dir = "."
	l.tasks()
	l.fromWorkflows()
	l.name()
	l.notIgnored()
	return l.found
}
