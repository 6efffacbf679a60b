package gate

import (
	"net/url"
	"regexp"
	"sync"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/pipelines"
)

// hosts are those of the models of a program that goes to them in a way of its own,
// with a login that cannot stay outside: it has to reach them by itself.
func (c Call) hosts() (out []string) {
	set := func(name string) string { return process.Lookup(c.Env, name) }
	region := func(names ...string) string {
		for _, name := range names {
			if value := set(name); label().MatchString(value) {
				return value
			}
		}
		return "us-east-1"
	}
	switch {
	case c.Agent == "claude" && set(bedrock) != "":
		at := region("AWS_REGION", "AWS_DEFAULT_REGION")
		out = append(out, "bedrock-runtime."+at+".amazonaws.com", "bedrock."+at+".amazonaws.com", "sts."+at+".amazonaws.com", "sts.amazonaws.com", "oidc."+at+".amazonaws.com", "portal.sso."+at+".amazonaws.com")
	case c.Agent == "claude" && set(vertex) != "":
		out = append(out, region("CLOUD_ML_REGION")+"-aiplatform.googleapis.com", "aiplatform.googleapis.com", "oauth2.googleapis.com")
	case c.Agent == "claude" && c.goesAlone(Anthropic):
		out = append(out, "api.anthropic.com", "console.anthropic.com", "platform.claude.com")
	case c.Agent == "codex" && c.goesAlone(OpenAI):
		out = append(out, "api.openai.com", "chatgpt.com", "auth.openai.com")
	case c.Agent == "gemini" && c.goesAlone(Gemini):
		out = append(out, "generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com", "www.googleapis.com")
	default:
		return nil
	}
	for _, name := range []string{"ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"} {
		out = append(out, hostsIn(set(name))...)
	}
	return append(out, hostsIn(string(c.Settings))...)
}

// goesAlone reports whether the requests of a program to a service do not go through
// the gate.
func (c Call) goesAlone(api API) bool {
	if c.ownWay(api) {
		return true
	}
	for _, s := range services() {
		for _, k := range s.keys {
			if s.api == api && process.Lookup(c.Env, k.variable) != "" {
				return false
			}
		}
	}
	return true
}

var (
	passageAddress = regexp.MustCompile(`https?://[^\s"'<>\\]+`)
	label          = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9-]{1,40}$`) })
)

// hostsIn lists the hosts of the addresses in a text of the user's.
func hostsIn(text string) (out []string) {
	for _, a := range passageAddress.FindAllString(text, -1) {
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
