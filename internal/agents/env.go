package agents

import (
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/pipelines"
)

// commonVars are the variables every agent may see. A name may end in "*".
func commonVars() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
		// Where programs are that others have installed: rust's, and those of version managers.
		"RUSTUP_HOME", "PYENV_ROOT", "RBENV_ROOT", "NVM_DIR", "VOLTA_HOME", "ASDF_DATA_DIR", "MISE_DATA_DIR",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	}
}

// environ builds what an agent gets to see: the variables of base that are in
// allowed and not empty, as a secret is that nobody has stored, and those of set, which win.
func environ(base, allowed []string, set map[string]string) []string {
	var env []string
	for _, kv := range base {
		name, value, _ := strings.Cut(kv, "=")
		if _, mine := set[name]; mine || value == "" || pipelines.WithheldFromAll(name) != "" || !listed(allowed, name) {
			continue
		}
		env = append(env, kv)
	}
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

func listed(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}
