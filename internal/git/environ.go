package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Environ is the environment of this process as it was when the Source was
// found. Every git command gets an environment built from it by name.
type environ []string

// TakeEnviron gives the environment of this process as it is now.
func takeEnviron() environ { return os.Environ() }

// Pick returns the variables with the given names. A name that ends in * is a
// prefix.
func (e environ) Pick(names ...string) []string {
	var out []string
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

// Path is PATH without the parts that are not absolute: what they lead to
// depends on the folder that git works in, which may be an agent's.
func (e environ) Path() string {
	var parts []string
	for _, pair := range e.Pick("PATH") {
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
	return append(e.Pick("TMPDIR", "GIT_EXEC_PATH"),
		"PATH="+e.Path(),
		"LC_ALL=C", "TZ=UTC",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_PAGER=cat", "GIT_EDITOR=false",
	)
}

// Local is the environment of a command that talks to nobody: no HOME, no
// configuration but the repository's, no transport.
func (e environ) Local() []string {
	return append(e.always(),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ALLOW_PROTOCOL=none")
}

// Network is the environment of a command that talks to the remote. What the
// user's configuration says about the network comes in as settings, as it was
// read before any agent ran; no configuration file is read again. HOME is for
// ssh and for credential helpers.
func (e environ) Network(settings []setting) []string {
	env := append(e.always(), e.Pick("HOME", "USER", "LOGNAME", "XDG_*", "DBUS_SESSION_BUS_ADDRESS",
		"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "GNUPGHOME",
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_SSL_*",
		"http_proxy", "https_proxy", "all_proxy", "no_proxy",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")...)
	return append(append(env, "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh"), settingsEnviron(settings)...)
}

// OfConfig are the variables that give git these settings, and no configuration
// file but the repository's.
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

// Discovery is the environment for finding the user's repository and reading
// the user's configuration: everything, but for the variables that would point
// git somewhere else, such as those that a hook gets.
func (e environ) Discovery() []string {
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
