package gate

import (
	"strings"

	"github.com/reprise-ci/reprise/internal/gate/scan"
)

// Services have tools of their own, which cost something for each use besides
// tokens, and ways to be served sooner. The prices are those of their lists in November
// 2026, and where there are several, the highest, in millionths of a US dollar:
// https://platform.claude.com/docs/en/about-claude/pricing, https://developers.openai.com/api/docs/pricing
// and https://ai.google.dev/gemini-api/docs/pricing.
const (
	chatSearch      = 50_000 // a request of Chat Completions with web_search_options
	anthropicSearch = 10_000
	anthropicRun    = 50_000 // an hour of a container, which is the least but for five minutes
	geminiSearch    = 35_000
)

// openAIUses are the prices of OpenAI's tools, by the kind of item that a use is.
var openAIUses = map[string]int64{
	"web_search_call": 25_000, "file_search_call": 2_500, "code_interpreter_call": 30_000, "image_generation_call": 250_000,
}

// paid are tools that cost something for each use, by how their kinds begin.
var paid = []string{"web_search", "file_search", "code_interpreter", "image_generation", "code_execution"}

// use notes what the use of a tool costs.
func (m *meter) use(f scan.Field, v scan.Value) {
	said, ok := v.Text()
	switch {
	case !ok:
	case f == ofQuery:
		m.tools[0] += geminiSearch
	case m.api == Anthropic:
		if strings.Contains(said, "code_execution") {
			m.tools[0] += anthropicRun
		}
	case f == ofUseTwice:
		m.tools[1] += openAIUses[said]
	default:
		m.tools[0] += openAIUses[said]
	}
}

// toolsUsed gives what the tools cost that an answer has used so far, in millionths
// of a US dollar.
func (m *meter) toolsUsed() int64 {
	return max(m.tools[0], (m.tools[1]+1)/2) + m.most[ofSearches]*anthropicSearch
}

// fastest is what the first Claude models that answered faster cost. Those of today
// cost twice as much as usual.
const fastest = 6

// soonFactor is a factor for a model that is known by now.
func soonFactor(api API, factor float64, model string) float64 {
	if api == Anthropic && factor == fastest && (strings.Contains(model, "opus-4-8") || strings.Contains(model, "opus-5")) {
		return 2
	}
	return max(1, factor)
}

// tierFactor gives how many times the usual price is asked where an answer is wanted
// sooner, or in one country; 0 where it is the usual one.
func tierFactor(api API, said string) float64 {
	switch {
	case api == Anthropic && said == "fast":
		return fastest
	case api == Anthropic && said == "us":
		return 1.1
	case api == Gemini && strings.EqualFold(said, "priority"):
		return 2
	case api == OpenAI && (strings.EqualFold(said, "priority") || said == "fast"):
		return 2.5
	}
	return 0
}
