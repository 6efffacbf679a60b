package process

import (
	"fmt"
	"slices"
	"strings"
)

// Lookup gives the value of a variable, the last one if there are several, as
// programs see it.
func Lookup(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// SetVar gives the variables with one of them changed or added.
func SetVar(env []string, name, value string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	return append(env, fmt.Sprintf("%s=%s", name, value))
}
