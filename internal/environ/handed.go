package environ

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/secrets"
)

// HandedOver is the variable by which a workflow hands over secrets that it cannot name
// one by one: lines NAME=value, or an object of JSON.
const HandedOver = "REPRISE_SECRETS"

// handedName is long, as the number of characters is written out in it.
var handedName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,99}$`)

// Unpack gives an environment with the secrets that were handed over as variables, and without the variable that had
// them all. An error names all mistakes, and no value.
func (e Env) Unpack() (Env, error) {
	text := e.Getenv(HandedOver)
	e.Environ = slices.DeleteFunc(slices.Clone(e.Environ), func(kv string) bool { return strings.HasPrefix(kv, HandedOver+"=") })
	if strings.TrimSpace(text) == "" {
		return e, nil
	}
	given, problems := handed(text)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case !handedName.MatchString(name):
			problems = append(problems, errors.New("a name is not that of a variable: it has to begin with a capital letter, and have only capital letters, digits and _; it is not shown, as it may be part of a value"))
		case reserved(name):
			problems = append(problems, fmt.Errorf("%s is a name that the runner, the system or reprise uses itself: give it another name", name))
		case e.Getenv(name) != "" && e.Getenv(name) != given[name]:
			problems = append(problems, fmt.Errorf("%s is set already: hand it over once", name))
		case strings.ContainsRune(given[name], 0):
			problems = append(problems, fmt.Errorf("%s has a zero byte, which no variable can have", name))
		}
	}
	if len(problems) > 0 {
		return e, fmt.Errorf("%s: %w", HandedOver, errors.Join(problems...))
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		e.Handed = append(e.Handed, secrets.Secret{Name: name, Value: given[name]})
		if e.Getenv(name) == "" {
			e.Environ = slices.DeleteFunc(e.Environ, func(kv string) bool { return kv == name+"=" }) // the first of two counts for some
			e.Environ = append(e.Environ, name+"="+given[name])
		}
	}
	e.Finder().Learn(e.Handed...)
	return e, nil
}

// reserved reports whether a name is not for a secret: what has it decides how programs
// start, or which job this is.
func reserved(name string) bool {
	for _, start := range []string{"GITHUB_", "RUNNER_", "ACTIONS_", "INPUT_", "REPRISE_", "LD_", "DYLD_", "GIT_", "XDG_", "LC_"} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return slices.Contains([]string{"PATH", "HOME", "SHELL", "USER", "TMPDIR", "TERM", "LANG", "IFS", "ENV", "BASH_ENV", "NODE_OPTIONS", "CI"}, name)
}

// handed parses the variable. Errors never quote its content.
func handed(text string) (given map[string]string, problems []error) {
	given = map[string]string{}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		if json.Unmarshal([]byte(text), &given) != nil {
			return nil, []error{errors.New(`it begins as JSON does and is no object of texts, such as {"NAME": "value"}`)}
		}
		return given, nil
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		_, twice := given[name]
		switch {
		case strings.TrimSpace(line) == "":
		case ok && !handedName.MatchString(name): // it may be part of a value
			problems = append(problems, fmt.Errorf("line %d has no name of a variable, of capital letters, digits and _, before its =; a value of several lines takes the form of JSON", n))
		case !ok:
			problems = append(problems, fmt.Errorf("line %d is not NAME=value; a value of several lines takes the form of JSON", n))
		case twice:
			problems = append(problems, fmt.Errorf("line %d has a name for the second time", n))
		default:
			given[name] = value
		}
	}
	return given, problems
}
