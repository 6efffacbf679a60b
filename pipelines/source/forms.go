package source

import (
	"encoding/json"
	"regexp"
	"slices"

	"github.com/reprise-ci/reprise/pipelines"
)

// maxGoal is the most bytes a goal may have: longer ones crowd out the issue.
const maxGoal = 10_000

// forms note what is wrong with a value that fits its type, by what the attribute @form of a
// field calls them.
var forms = map[string]func(m *MistakeList, n *Node){
	"pattern":  eachText(pipelines.BadPattern),
	"host":     eachText(pipelines.BadHost),
	"artifact": eachText(pipelines.BadArtifact),
	"once": func(m *MistakeList, n *Node) {
		m.repeated(n, n.Items, "%q again")
	},
	"names": func(m *MistakeList, n *Node) {
		var names []*Node
		for _, item := range n.Items {
			names = append(names, item.Get("name"))
		}
		m.repeated(n, names, "%q is already the name of another command here", "name")
	},
	"goal": func(m *MistakeList, n *Node) {
		if size := len(n.Text()); size > maxGoal {
			m.Add(n, nil, "%d bytes, expected at most %d; put the rest into a file of the repository and name it here", size, maxGoal)
		}
	},
	"regexp": func(m *MistakeList, n *Node) {
		if _, err := regexp.Compile(n.Text()); err != nil {
			m.Add(n, nil, "%v", err)
		}
	},
	"variables": func(m *MistakeList, n *Node) {
		for _, name := range n.FieldNames() {
			if why := pipelines.WithheldFromChecks(name); why != "" {
				m.Add(n, []any{name}, "%s", why)
			}
		}
	},
	"agents": func(m *MistakeList, n *Node) {
		for _, name := range n.FieldNames() {
			var agent pipelines.Agent
			_ = n.Get(name).decode(&agent) // what is right of it counts
			for _, wrong := range pipelines.WrongTools(agent) {
				m.Add(n.Get(name), wrong.Keys, "%s", wrong.Why)
			}
		}
	},
	"hooks": func(m *MistakeList, n *Node) {
		for i, item := range n.Items {
			var hook pipelines.Hook
			_ = item.decode(&hook) // what is right of it counts
			if why := hook.Wrong(); why != "" {
				m.Add(n, []any{i}, "%s", why)
			}
		}
	},
}

// eachText holds a text, or each text of a list, against what says why it is bad.
func eachText(bad func(string) string) func(m *MistakeList, n *Node) {
	return func(m *MistakeList, n *Node) {
		for _, text := range append(n.Items, n) {
			if text.Kind != ScalarNode || string(text.Scalar) == "null" { // it is wrong already
				continue
			}
			if why := bad(text.Text()); why != "" {
				m.Add(text, nil, "%q %s", text.Text(), why)
			}
		}
	}
}

// repeated notes each text of a list that is the same as one before it; keys lead to it from
// its item in n.
func (m *MistakeList) repeated(n *Node, list []*Node, format string, keys ...any) {
	var seen []string
	for i, item := range list {
		if text := item.Text(); text != "" && slices.Contains(seen, text) {
			m.Add(n, append([]any{i}, keys...), format, text)
		}
		seen = append(seen, item.Text())
	}
}

// decode reads what is right of a value.
func (n *Node) decode(into any) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
