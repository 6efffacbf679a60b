package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/internal/process"
)

// customHeaders is a variable with headers that Claude Code adds to its requests.
// Some gateways know their users by one.
const customHeaders = "ANTHROPIC_CUSTOM_HEADERS"

// providers gives those whose keys a call would see, to be reached through a gate, and the keys' variables.
func (c Call) providers() (out []Provider, variables []string, err error) {
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
			addHeaders(header, process.Lookup(c.Env, customHeaders))
		}
		base, err := s.base(c.Env)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, Provider{Name: string(s.API), API: s.API, Base: base, Header: header})
	}
	return out, variables, nil
}

// base is the address of a service, as the user has set it or as it usually is.
func (s service) base(env []string) (*url.URL, error) {
	for _, name := range s.Bases {
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
	return url.Parse(s.Usual)
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
		if p.API == api && slices.ContainsFunc(p.Clouds, func(cloud cloud) bool { return (cloud.Everybody || name == c.Agent) && cloud.leads(c.Env) }) {
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
var geminiChoice = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:selectedType|selectedAuthType)"\s*:\s*"([^"]+)"`)
})
