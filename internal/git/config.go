package git

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Setting is one entry of git's configuration.
type setting struct{ Key, Value string }

// Config is the user's configuration as git lists it, read once before any agent
// runs.
type configuration []setting

// ParseConfig reads what git config lists with -z.
func parseConfig(list []byte) (out configuration) {
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

// Get returns the value of a setting that counts: the last.
func (c configuration) Get(key string) string {
	for i := len(c) - 1; i >= 0; i-- {
		if c[i].Key == key {
			return c[i].Value
		}
	}
	return ""
}

// IgnoresCase says whether names in a repository, of which this is the folder with HEAD, are
// one file where they differ in capitals alone, as the configuration says. Where it says so of
// a file system that keeps them apart, perhaps because it came from another machine, git would
// lose a file that is renamed in this way.
func (c configuration) IgnoresCase(dir string) bool {
	upper, err := os.Stat(filepath.Join(dir, "HEAD"))
	lower, wrong := os.Stat(filepath.Join(dir, "head"))
	return c.Get("core.ignorecase") == "true" && err == nil && wrong == nil && os.SameFile(upper, lower)
}

// Network is what the user's configuration says about the network.
func (c configuration) Network() []setting {
	var out []setting
	for _, s := range c {
		section, _, _ := strings.Cut(s.Key, ".")
		if slices.Contains([]string{"http", "credential", "ssh", "safe"}, section) ||
			slices.Contains([]string{"core.sshcommand", "core.askpass", "core.gitproxy"}, s.Key) {
			out = append(out, s)
		}
	}
	return out
}

// BatchMode keeps ssh from asking questions on a terminal that this program
// has, which would wait for ever. It is left out for users who have set an ssh
// program of their own.
func (c configuration) BatchMode(env environ) []string {
	if c.Get("core.sshcommand") != "" || len(env.Pick("GIT_SSH", "GIT_SSH_COMMAND")) > 0 {
		return nil
	}
	return []string{"GIT_SSH_COMMAND=ssh -oBatchMode=yes"}
}

// Author gives the name or the address of the user, which part says, as git finds
// it for an author.
func (c configuration) Author(env environ, part string) string {
	for _, pair := range env.Pick("GIT_AUTHOR_" + part) {
		if _, value, _ := strings.Cut(pair, "="); value != "" {
			return value
		}
	}
	key := strings.ToLower(part)
	return cmp.Or(c.Get("author."+key), c.Get("user."+key))
}

// Identity is "Name <email>" without anything that would end it early; reprise where
// one of them is empty.
func identityOf(name, email string) string {
	clean := func(s, fallback string) string {
		return cmp.Or(strings.TrimSpace(strings.Map(func(c rune) rune {
			if c < ' ' || c == '<' || c == '>' {
				return -1
			}
			return c
		}, s)), fallback)
	}
	return clean(name, "reprise") + " <" + clean(email, "reprise@users.noreply.github.com") + ">"
}

// Quoted is a value in a configuration file of git.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// ShellWord makes one word of a shell's command line.
func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
