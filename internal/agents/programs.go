package agents

import (
	_ "embed" // the programs
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed programs.yaml
var programsFile []byte

// knownProgram is what programs.yaml says of one.
type knownProgram struct {
	Install             string
	Variables, Sessions []string
	Clouds              map[string][]string
	Renewal             renewal
}

var programs = sync.OnceValue(func() (all map[string]knownProgram) {
	if err := yaml.Unmarshal(programsFile, &all); err != nil {
		panic("programs.yaml: " + err.Error()) // unreachable: every test reads it
	}
	return all
})
