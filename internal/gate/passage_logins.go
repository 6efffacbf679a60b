package gate

import (
	"bytes"
	"cmp"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/pipelines"
)

// loginFile is a file of the user's that an agent program needs in its own home.
type loginFile struct {
	From, To string // To is below the program's home
	Login    bool   // it is a login, and no settings
	Renewed  bool   // the program puts a newer login there
}

// LoginFiles lists those of an agent, whether they are there or not: its login, and the
// settings that decide how it reaches its service. Home is that of the user.
func LoginFiles(agent, home string, env []string) (out []loginFile) {
	p, known := table().Programs[agent]
	if !known {
		return nil
	}
	lookup := func(name string) string {
		if name == "" {
			return ""
		}
		return process.Lookup(env, name)
	}
	from := cmp.Or(lookup(p.Instead), filepath.Join(cmp.Or(lookup(p.Home), home), p.Folder))
	own := func(name string, kind loginFile) {
		kind.From, kind.To = filepath.Join(from, name), filepath.Join(p.Folder, name)
		out = append(out, kind)
	}
	for _, name := range p.Settings {
		own(name, loginFile{})
	}
	if p.Login != "" {
		own(p.Login, loginFile{Login: true, Renewed: true})
	}
	for _, c := range p.leads(env, Federate(agent, env, nil)) {
		for i, name := range slices.Concat(c.Settings, c.Logins) {
			out = append(out, loginFile{From: filepath.Join(home, name), To: name, Login: i >= len(c.Settings)})
		}
	}
	return out
}

// heldKey is a login that an agent program holds itself: it cannot stay outside, and
// what is asked with it goes past the gate.
type heldKey struct {
	Program string   // claude, codex or gemini
	By      []string // names of files, or of clouds
}

// KeysHeldBy lists the logins that agents hold, by program: of a user with variables, of
// which HOME is one.
func KeysHeldBy(all map[string]pipelines.Agent, env []string) (out []heldKey) {
	uses := map[string]bool{}
	for _, a := range all {
		uses[a.Use] = true
	}
	for _, use := range slices.Sorted(maps.Keys(uses)) {
		if by := heldBy(use, env); len(by) > 0 {
			out = append(out, heldKey{use, by})
		}
	}
	return out
}

func heldBy(agent string, env []string) (by []string) {
	c := Call{Agent: agent, Env: env, Federation: Federate(agent, env, nil)}
	for _, f := range LoginFiles(agent, process.Lookup(env, "HOME"), env) {
		data, err := os.ReadFile(f.From) // what we cannot read, the program cannot either
		name := filepath.Base(f.From)
		switch {
		case err != nil:
		case f.Login && len(bytes.TrimSpace(data)) > 0:
			by = append(by, name)
		case name == "settings.json", name == "config.toml":
			c.Settings = data
			if c.ownWay(table().Programs[agent].API) && len(clouds(agent, env)) == 0 {
				by = append(by, name)
			}
		}
	}
	return append(by, clouds(agent, env)...)
}

// clouds are the names of those to which variables lead a program with a login of its own.
func clouds(agent string, env []string) (out []string) {
	for _, c := range table().Programs[agent].leads(env, Federate(agent, env, nil)) {
		out = append(out, c.Name)
	}
	return out
}

// KeyRequest asks a service for the list of its models with the key that an agent program has in a variable, which
// costs nothing; nil if there is none.
func KeyRequest(agent string, env []string) (*http.Request, error) {
	own := table().Programs[agent].API
	all, _, err := Call{Agent: agent, Env: env}.providers()
	i := slices.IndexFunc(all, func(p Provider) bool { return p.API == own })
	if err != nil || i < 0 || !hasKey(own, env, false) {
		return nil, err
	}
	s := slices.IndexFunc(table().Services, func(s service) bool { return s.API == own })
	r, err := http.NewRequest(http.MethodGet, strings.TrimRight(all[i].Base.String(), "/")+table().Services[s].Models, nil)
	if err != nil {
		return nil, err
	}
	r.Header = all[i].Header
	if own == Anthropic {
		r.Header.Set("Anthropic-Version", "2023-06-01")
	}
	return r, nil
}

// BasesOf lists the variables with other addresses of the services whose keys are in some variables.
func BasesOf(keys []string) (names []string) {
	for _, s := range table().Services {
		if slices.ContainsFunc(s.Keys, func(k secretKey) bool { return slices.Contains(keys, k.Variable) }) {
			names = append(names, s.Bases...)
		}
	}
	return names
}

// KeptKeys lists the variables with keys that a gate keeps for any program, in order.
func KeptKeys() (names []string) {
	for _, s := range table().Services {
		for _, k := range s.Keys {
			if !k.Login {
				names = append(names, k.Variable)
			}
		}
	}
	slices.Sort(names)
	return names
}

// KeyVariables lists the variables of which one is enough for an agent program at its service; of all programs for "".
func KeyVariables(agent string) (names []string) {
	for name, p := range table().Programs {
		if agent != "" && agent != name {
			continue
		}
		for _, s := range table().Services {
			if s.API == p.API {
				for _, k := range s.Keys {
					names = append(names, k.Variable)
				}
			}
		}
		for _, f := range p.Federations {
			if f.Cloud == "" { // else the variable of the cloud counts
				names = append(names, f.Asks)
			}
		}
		for _, c := range p.Clouds {
			names = append(names, c.Variable)
		}
	}
	return names
}
