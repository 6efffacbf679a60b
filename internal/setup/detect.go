package setup

import "io/fs"

// Look examines the repository at the root of fsys. What it cannot read is as if
// it were not there.
func Detect(fsys fs.FS) Found {
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
