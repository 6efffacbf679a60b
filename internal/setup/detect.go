package setup

import "io/fs"

// Look examines the repository at the root of fsys. What it cannot read is as if
// it were not there.
func Detect(fsys fs.FS) Found {
	l := &look{repo: repository{fsys}}
	l.workflows = l.repo.workflowCommands(&l.found)
	tools := map[string]func(*look, string) bool{"node": node, "dotnet": dotnet}
	for _, r := range known().Tools {
		tools[r.Tool] = by(r)
	}
	for _, name := range []string{"go", "node", "python", "cargo", "maven", "gradle", "dotnet", "ruby"} {
		l.each(tools[name])
	}
	l.dir = "."
	l.tasks()
	l.fromWorkflows()
	l.name()
	l.notIgnored()
	return l.found
}
