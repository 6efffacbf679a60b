package git

import (
	"cmp"
	"slices"
	"strings"
)

// setting is one entry of git's configuration.
type setting struct{ key, value string }

// config is the user's configuration as git lists it, read once before any agent
// runs.
type config []setting

// parseConfig reads what git config lists with -z.
func parseConfig(list []byte) (out config) {
	for entry := range strings.SplitSeq(string(list), "\x00") {
		// An entry without a line break is a key without a value, which means true.
		key, value, ok := strings.Cut(entry, "\n")
		if !ok {
			value = "true"
		}
		if key != "" {
			out = append(out, setting{key, value})
		}
	}
	return out
}

// get returns the value of a setting that counts: the last.
func (c config) get(key string) string {
	for i := len(c) - 1; i >= 0; i-- {
		if c[i].key == key {
			return c[i].value
		}
	}
	return ""
}

// network is what the user's configuration says about the network.
func (c config) network() []setting {
	var out []setting
	for _, s := range c {
		section, _, _ := strings.Cut(s.key, ".")
		if slices.Contains([]string{"http", "credential", "ssh", "safe"}, section) ||
			slices.Contains([]string{"core.sshcommand", "core.askpass", "core.gitproxy"}, s.key) {
			out = append(out, s)
		}
	}
	return out
}

// batchMode keeps ssh from asking questions on a terminal that this program
// has, which would wait for ever. It is left out for users who have set an ssh
// program of their own.
func (c config) batchMode(env environ) []string {
	if c.get("core.sshcommand") != "" || len(env.pick("GIT_SSH", "GIT_SSH_COMMAND")) > 0 {
		return nil
	}
	return []string{"GIT_SSH_COMMAND=ssh -oBatchMode=yes"}
}

// author gives the name or the address of the user, which part says, as git finds
// it for an author.
func (c config) author(env environ, part string) string {
	for _, pair := range env.pick("GIT_AUTHOR_" + part) {
		if _, value, _ := strings.Cut(pair, "="); value != "" {
			return value
		}
	}
	key := strings.ToLower(part)
	return cmp.Or(c.get("author."+key), c.get("user."+key))
}

// configQuoted is a value in a configuration file of git.
func configQuoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
