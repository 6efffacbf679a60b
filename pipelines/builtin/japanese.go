package builtin

import (
	"cmp"
	_ "embed"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/pipelines"
)

//go:embed ja.yaml
var japanese []byte

// ownWords is what a built-in pipeline says in another language: titles and goals
// by phase, gates by how they read in English.
type ownWords struct {
	Description string
	Titles      map[string]string
	Goals       map[string]string
	Gates       map[string]string
}

// Speak puts what a pipeline says in the words of a built-in one into the pipeline's language.
func Speak(p *pipelines.Pipeline) error {
	if p.Language != "ja" {
		return nil
	}
	var all map[string]ownWords
	if err := yaml.Unmarshal(japanese, &all); err != nil {
		return fmt.Errorf("the Japanese words of the built-in pipelines: %w", err)
	}
	for name, words := range all {
		text, ok := Text(name)
		if !ok {
			return fmt.Errorf("the Japanese words of the built-in pipelines: there is no pipeline %q", name)
		}
		english := strings.Join(strings.Fields(text), " ")
		says := func(text string) bool { return strings.Contains(english, text) }
		if says(fmt.Sprintf("description: %q", p.Description)) {
			p.Description = words.Description
		}
		for _, list := range [][]pipelines.Phase{p.Phases, p.Spare} {
			for i := range list {
				words.putInto(&list[i], says)
			}
		}
	}
	return nil
}

// putInto puts what one phase says into these words.
func (words ownWords) putInto(ph *pipelines.Phase, says func(text string) bool) {
	if goal := words.Goals[ph.Name]; goal != "" && says(`goal: """ `+strings.Join(strings.Fields(ph.Goal), " ")+` """`) {
		ph.Goal = strings.TrimSpace(goal)
		ph.Title = cmp.Or(ph.Title, words.Titles[ph.Name])
	}
	gates := make([]string, len(ph.Gates))
	for i, g := range ph.Gates {
		if gates[i] = g; words.Gates[g] != "" {
			gates[i] = words.Gates[g]
		}
	}
	if len(gates) > 0 {
		ph.Gates = gates
	}
}
