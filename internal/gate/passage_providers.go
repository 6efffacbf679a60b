package gate

import (
	_ "embed" // the table
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// customHeaders is a variable with headers that Claude Code adds to its requests.
// Some gateways know their users by one.
const customHeaders = "ANTHROPIC_CUSTOM_HEADERS"

// providers gives those whose keys a call would see, to be reached through a gate, and the keys' variables.
func (c Call) providers() (out []Provider, variables []string, err error) {
	own := http.Header{}
	addHeaders(own, process.Lookup(c.Env, customHeaders))
	if f := c.Federation; f != nil && !c.ownWay(Anthropic) {
		base, err := f.base()
		if err != nil {
			return nil, nil, err
		}
		out, variables = append(out, Provider{Name: f.way.Name, API: Anthropic, Base: base, Header: own.Clone(), Beta: f.way.Beta, Show: f.show}), append(variables, federatedKey)
	}
	for _, s := range table().Services {
		if c.Agent == "" || c.ownWay(s.API) {
			continue
		}
		header := http.Header{}
		for _, k := range s.Keys {
			value := process.Lookup(c.Env, k.Variable)
			if value == "" {
				continue
			}
			variables = append(variables, k.Variable)
			if header.Get(k.Header) == "" && (!k.Login || len(header) == 0) { // else programs prefer another key
				header.Set(k.Header, k.Prefix+value)
			}
		}
		if len(header) == 0 {
			continue
		}
		if s.API == Anthropic {
			maps.Copy(header, own)
		}
		base, err := addressIn(c.Env, s.Bases, s.Usual)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, Provider{Name: string(s.API), API: s.API, Base: base, Header: header})
	}
	return out, variables, nil
}

// addressIn is that of a service, as the user has set it in a variable or as it usually is.
func addressIn(env, variables []string, usual string) (*url.URL, error) {
	for _, name := range variables {
		value := process.Lookup(env, name)
		if value == "" {
			continue
		}
		u, err := url.Parse(value)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("%s is no address with http or https", name)
		}
		return u, nil
	}
	return url.Parse(usual)
}

// addHeaders adds those of a text with one "name: value" a line.
func addHeaders(h http.Header, text string) {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && !strings.ContainsAny(name, " \t") && name != "" {
			h.Set(name, strings.TrimSpace(value))
		}
	}
}

// ownWay reports whether a program reaches a service past the gate: with a login in a file, another company's cloud, or
// as the user's settings have it.
func (c Call) ownWay(api API) bool {
	for name, p := range table().Programs {
		if p.API == api && slices.ContainsFunc(p.leads(c.Env, c.Federation), func(cloud cloud) bool { return cloud.Everybody || name == c.Agent }) {
			return true
		}
	}
	if table().Programs[c.Agent].API != api {
		return false
	}
	switch c.Agent {
	case "claude":
		return claudeSettingsReach(c.Settings)
	case "codex":
		return c.Login && process.Lookup(c.Env, "CODEX_API_KEY") == "" || codexSettingsReach(string(c.Settings))
	}
	chosen := geminiChoice().FindSubmatch(c.Settings) // they may have comments in them
	return chosen != nil && string(chosen[1]) != "gemini-api-key"
}

// claudeSettingsReach reports whether settings of Claude Code say how it reaches
// its service.
func claudeSettingsReach(data []byte) bool {
	var s struct {
		Helper string            `json:"apiKeyHelper"`
		Env    map[string]string `json:"env"`
	}
	if err := json.Unmarshal(data, &s); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) { // a value that is no text is not ours to judge
		return false
	}
	for name := range s.Env {
		if strings.HasPrefix(name, "ANTHROPIC_") && !strings.HasSuffix(name, "_MODEL") || strings.HasPrefix(name, "CLAUDE_CODE_USE_") {
			return true
		}
	}
	return s.Helper != ""
}

// codexSettingsReach reports the same of Codex.
func codexSettingsReach(text string) bool {
	return slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
		name, _, _ := strings.Cut(strings.TrimSpace(line), "=")
		return slices.Contains([]string{"model_provider", "openai_base_url", "chatgpt_base_url"}, strings.TrimSpace(name)) ||
			strings.HasPrefix(strings.TrimSpace(line), "[model_providers")
	})
}

// GeminiChooses reports whether settings of Gemini choose a way to log in.
func GeminiChooses(text []byte) bool { return geminiChoice().Match(text) }

// geminiChoice is the way to log in that a user has chosen, as newer settings name it and as
// older ones did.
var geminiChoice = text.Pattern(`"(?:selectedType|selectedAuthType)"\s*:\s*"([^"]+)"`)

//go:embed providers.yaml
var tableFile []byte

// passageTables is what providers.yaml says.
type passageTables struct {
	Services  []service
	Addresses []string
	Programs  map[string]program
}

// service is where a provider is, and which variables say so.
type service struct {
	API    API `yaml:"api"`
	Usual  string
	Bases  []string
	Models string
	Keys   []secretKey
}

// secretKey is a variable with a key, and the header in which that is shown.
type secretKey struct {
	Variable, Header, Prefix string
	Login                    bool // it is made for one program
}

// program is one that comes with ways of its own to its models.
type program struct {
	API                   API `yaml:"api"`
	Folder, Instead, Home string
	Settings              []string
	Login                 string
	Hosts, Errands        []string
	Federations           []federation
	Clouds                []cloud
}

// cloud is a way to models through another company.
type cloud struct {
	Name, Variable   string
	Regions, Hosts   []string
	Settings, Logins []string
	Everybody        bool
}

var table = sync.OnceValue(func() passageTables {
	return text.TableIn(passageTables{}, tableFile)
})

// leads are the clouds to which variables lead a program with a login of its own, and not by a key that is made.
func (p program) leads(env []string, key *Federation) (out []cloud) {
	for _, c := range p.Clouds {
		if process.Lookup(env, c.Variable) != "" && (key == nil || key.way.Cloud != c.Variable) {
			out = append(out, c)
		}
	}
	return out
}

// hasKey reports whether a key for a service is set: one that any program can use, or a
// login that is made for one.
func hasKey(api API, env []string, login bool) bool {
	return slices.ContainsFunc(table().Services, func(s service) bool {
		return s.API == api && slices.ContainsFunc(s.Keys, func(k secretKey) bool { return k.Login == login && process.Lookup(env, k.Variable) != "" })
	})
}

// mayAsk says which models a call may ask: those named for the agent and, unless all are listed, any known to be no
// dearer. nil: any.
func (c Call) mayAsk() func(provider, model string) bool {
	if len(c.Models) == 0 && !c.Exact {
		return nil
	}
	named := slices.Clone(c.Models)
	for _, kv := range c.Env { // what an alias stands for
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "ANTHROPIC_") && strings.HasSuffix(name, "_MODEL") {
			named = append(named, value)
		}
	}
	return func(_, asked string) bool {
		return slices.ContainsFunc(named, func(name string) bool { return sameModel(name, asked) || !c.Exact && c.noDearer(asked, name) })
	}
}

// sameModel reports whether a service was asked for the model of a name: an alias
// such as opus or gemini-pro stands for any with it in its name.
func sameModel(name, asked string) bool {
	name, asked = plain(name), plain(asked)
	return name == asked || !strings.ContainsAny(name, "0123456789") && name != "" && strings.Contains(asked, name) ||
		name == "opusplan" && (strings.Contains(asked, "opus") || strings.Contains(asked, "sonnet")) ||
		name == "default" || name == "best"
}

// ModelName is the name of a model without what Bedrock and Vertex AI write around it.
func ModelName(name string) string {
	return inCloud().ReplaceAllString(name, "$1$2")
}

var inCloud = text.Pattern(`^(?:[a-z-]+\.)?anthropic\.(.+?)(?:-v\d+(?::\d+)?)?$|^(claude-[^@]+)@.+$`)

// plain is the name of a model without the date of its version and the like.
func plain(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(ModelName(name), "[1m]"), "-latest")
	return variant().ReplaceAllString(name, "")
}

var variant = text.Pattern(`(-\d{8}|-\d{4}-\d{2}-\d{2})+$`)

// noDearer reports whether both models have a known price, and one costs no more
// than the other, whatever it is used for.
func (c Call) noDearer(one, other string) bool {
	for _, u := range []metadata.Usage{{InputTokens: 1e6}, {CachedTokens: 1e6}, {OutputTokens: 1e6}} {
		for _, prompt := range []int64{0, 1e9} { // of requests of usual length, and of the longest
			a, known1 := c.Price(one, u, prompt)
			b, known2 := c.Price(other, u, prompt)
			if !known1 || !known2 || a > b {
				return false
			}
		}
	}
	return true
}

// hosts are those that a program has to reach by itself, with a login that cannot stay outside.
func (c Call) hosts() (out []string) {
	p, known := table().Programs[c.Agent]
	clouds := slices.DeleteFunc(p.leads(c.Env, c.Federation), func(cloud cloud) bool { return len(cloud.Hosts) == 0 })
	switch {
	case len(clouds) > 0:
		region := "us-east-1"
		for _, name := range slices.Backward(clouds[0].Regions) {
			if value := process.Lookup(c.Env, name); label().MatchString(value) {
				region = value
			}
		}
		for _, host := range clouds[0].Hosts {
			out = append(out, strings.ReplaceAll(host, "REGION", region))
		}
	case known && (c.ownWay(p.API) || c.Federation == nil && !hasKey(p.API, c.Env, false) && !hasKey(p.API, c.Env, true)): // not through the gate
		out = slices.Clone(p.Hosts)
	default:
		return nil
	}
	for _, name := range table().Addresses {
		out = append(out, hostsIn(process.Lookup(c.Env, name))...)
	}
	return append(out, hostsIn(string(c.Settings))...)
}

var (
	passageAddress = text.Pattern(`https?://[^\s"'<>\\]+`)
	label          = text.Pattern(`^[a-z0-9-]{1,40}$`)
)

// hostsIn lists the hosts of the addresses in a text of the user's.
func hostsIn(text string) (out []string) {
	for _, a := range passageAddress().FindAllString(text, -1) {
		u, err := url.Parse(a)
		if err != nil {
			continue
		}
		host := u.Host
		if u.Port() == "" {
			host = u.Hostname()
		}
		if pipelines.BadHost(host) == "" {
			out = append(out, host)
		}
	}
	return out
}
