package git

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// setting is one entry of git's configuration.
type setting struct{ Key, Value string }

// configuration is the user's configuration as git lists it, read once before any agent runs.
type configuration []setting

// parseConfig reads what git config lists with -z.
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

// ignoresCase says whether names that differ in capitals alone are one file: as configured, and as HEAD in dir shows.
// A setting from another machine would have git lose a file that is renamed in this way.
func (c configuration) ignoresCase(dir string) bool {
	upper, err := os.Stat(filepath.Join(dir, "HEAD"))
	lower, wrong := os.Stat(filepath.Join(dir, "head"))
	return c.Get("core.ignorecase") == "true" && err == nil && wrong == nil && os.SameFile(upper, lower)
}

// Network is what the user's configuration says about the network, and about signing.
func (c configuration) Network() (out []setting) {
	for _, s := range c {
		section, _, _ := strings.Cut(s.Key, ".")
		if slices.Contains([]string{"http", "credential", "ssh", "safe", "gpg"}, section) ||
			slices.Contains([]string{"core.sshcommand", "core.askpass", "core.gitproxy", "user.signingkey"}, s.Key) {
			out = append(out, s)
		}
	}
	return out
}

// batchMode keeps ssh from waiting for ever for an answer on a terminal, unless users have set an ssh of their own.
func (c configuration) batchMode(env environ) []string {
	if c.Get("core.sshcommand") != "" || len(env.pick("GIT_SSH", "GIT_SSH_COMMAND")) > 0 {
		return nil
	}
	return []string{"GIT_SSH_COMMAND=ssh -oBatchMode=yes"}
}

// author gives the user's name or address, as part says, as git finds it for an author.
func (c configuration) author(env environ, part string) string {
	for _, pair := range env.pick("GIT_AUTHOR_" + part) {
		if _, value, _ := strings.Cut(pair, "="); value != "" {
			return value
		}
	}
	key := strings.ToLower(part)
	return cmp.Or(c.Get("author."+key), c.Get("user."+key))
}

// nobody is an address that no account can have.
const nobody = "reprise@reprise.invalid"

// identityOf is "Name <email>" without what would end it early; reprise where one is empty.
func identityOf(name, email string) string {
	clean := func(s, fallback string) string {
		return cmp.Or(strings.TrimSpace(strings.Map(func(c rune) rune {
			if c < ' ' || c == '<' || c == '>' {
				return -1
			}
			return c
		}, s)), fallback)
	}
	return clean(name, "reprise") + " <" + clean(email, nobody) + ">"
}

// quoted is a value in a configuration file of git.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// environ is the environment when the Source was found. Every git command gets one built from it by name.
type environ []string

func takeEnviron() environ { return os.Environ() }

// pick returns the variables with the given names. A name that ends in * is a prefix.
func (e environ) pick(names ...string) (out []string) {
	for _, pair := range e {
		name, _, _ := strings.Cut(pair, "=")
		if slices.ContainsFunc(names, func(want string) bool {
			prefix, wild := strings.CutSuffix(want, "*")
			return name == want || wild && strings.HasPrefix(name, prefix)
		}) {
			out = append(out, pair)
		}
	}
	return out
}

// Path is PATH without relative parts, which depend on the folder that git works in, perhaps an agent's.
func (e environ) Path() string {
	var parts []string
	for _, pair := range e.pick("PATH") {
		for _, dir := range filepath.SplitList(strings.TrimPrefix(pair, "PATH=")) {
			if filepath.IsAbs(dir) {
				parts = append(parts, dir)
			}
		}
	}
	return strings.Join(parts, string(filepath.ListSeparator))
}

// always are the variables that every git command gets.
func (e environ) always() []string {
	return append(e.pick("TMPDIR", "GIT_EXEC_PATH"),
		"PATH="+e.Path(),
		"LC_ALL=C", "TZ=UTC",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_PAGER=cat", "GIT_EDITOR=false",
	)
}

// local is for commands that talk to nobody: no HOME, no transport, no configuration but the repository's.
func (e environ) local() []string {
	return append(e.always(),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ALLOW_PROTOCOL=none")
}

// Network is for commands that talk to the remote. The user's settings about the network are as read before any
// agent ran; no configuration file is read again. HOME is for ssh and for credential helpers.
func (e environ) Network(settings []setting) []string {
	env := append(e.always(), e.pick("HOME", "USER", "LOGNAME", "XDG_*", "DBUS_SESSION_BUS_ADDRESS",
		"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "GNUPGHOME",
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_SSL_*",
		"http_proxy", "https_proxy", "all_proxy", "no_proxy",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")...)
	return append(append(env, "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh"), settingsEnviron(settings)...)
}

// settingsEnviron are the variables that give git these settings, and no configuration but the repository's.
func settingsEnviron(settings []setting) []string {
	env := []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null",
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)),
	}
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s.Key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s.Value))
	}
	return env
}

// discovery is for finding the user's repository and configuration: all but what points git elsewhere, as in a hook.
func (e environ) discovery() []string {
	var env []string
	for _, pair := range e {
		name, _, _ := strings.Cut(pair, "=")
		keep := name == "GIT_EXEC_PATH" || name == "GIT_CEILING_DIRECTORIES" ||
			strings.HasPrefix(name, "GIT_CONFIG_") // files, and settings with their count
		if name != "PATH" && (keep || !strings.HasPrefix(name, "GIT_")) {
			env = append(env, pair)
		}
	}
	return append(env, "PATH="+e.Path(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_ALLOW_PROTOCOL=none")
}
