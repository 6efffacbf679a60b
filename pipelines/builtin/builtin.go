// Package builtin has the pipelines that come with reprise, as files that people can copy.
package builtin

import "embed"

//go:embed *.cue
var files embed.FS

// Prefix begins the names of files that came with reprise, such as "builtin:full".
const Prefix = "builtin:"

// Reflect is the file, for Text, with the phase that a pipeline with reflect: true has at its
// end. It is no pipeline.
const Reflect = "reflect"

// Names lists the built-in pipelines, in the order in which they are asked whether they want
// an issue.
func Names() []string {
	return []string{"fix", "feature", "refactor", "test", "audit", "skill", "full"}
}

// Text gives what the file of that name says; there is none if ok is false.
func Text(name string) (text string, ok bool) {
	data, err := files.ReadFile(name + ".cue")
	return string(data), err == nil
}
