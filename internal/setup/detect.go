package setup

import "io/fs"

// Look examines the repository at the root of fsys. What it cannot read is as if
// it were not there.
func Detect(fsys fs.FS) Found {
	l := &look{repo: repository{fsys}}
	if folder, err := fs.Sub(fsys, WorkflowsFolder); err == nil {
		for _, w := range startedByWork(folder) {
			l.workflows = append(l.workflows, w.commands(&l.found)...)
		}
	}
	for _, r := range known().Tools {
		tool := by(r)
		if r.Tool == "node" {
			tool = node
		}
		l.each(tool)
	}
	l.dir = "."
	l.tasks()
	l.fromWorkflows()
	l.name()
	l.notIgnored()
	return l.found
}
