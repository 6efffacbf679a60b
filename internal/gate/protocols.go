package gate

import (
	_ "embed" // the protocols
	"sync"
)

//go:embed protocols.yaml
var protocolsFile []byte

// field is something that is read from requests or answers.
type field string

// What is read from a request.
const (
	asksFor    field = "model"
	background field = "background" // the answer is fetched later, where nothing counts it
	tool       field = "tool"       // the kind of a tool
	connector  field = "connector"  // a tool of the provider that reaches elsewhere
	address    field = "address"    // of something that the provider is to fetch
	longest    field = "longest"    // answer, in tokens
	answers    field = "answers"    // to the one request
	stored     field = "stored"     // what the request goes on from, which the provider keeps
	template   field = "template"   // what the provider keeps of a request, which may be anything
	helper     field = "helper"     // another model, which a tool asks
	place      field = "place"      // where a tool works
	elsewhere  field = "elsewhere"  // an address of models, to which the real key would go
	tier       field = "tier"       // how soon the answer is wanted, which has a price
	streams    field = "stream"     // whether the answer comes in events
	saysUsage  field = "says_usage" // whether those say what was used
	searchable field = "option"     // the answer may be searched for in the web
)

// What is read from an answer.
const (
	ofModel     field = "model"
	ofInput     field = "input"
	ofInputTool field = "input_tool" // beside ofInput
	ofRead      field = "read"
	ofWrite     field = "write"
	ofHour      field = "hour" // of ofWrite
	ofOutput    field = "output"
	ofThoughts  field = "thoughts" // beside ofOutput
	ofSearches  field = "searches" // of the web
	ofWords     field = "words"    // what the model says
	ofUse       field = "use"      // a tool of the provider, by its name
	ofUseTwice  field = "use_twice"
	ofQuery     field = "query" // a search
)

// protocol is what protocols.yaml says of one.
type protocol struct {
	Asks, Free      []string
	Request, Answer map[field][]string
	Uses            map[string]int64 // what the use of a tool costs
	Search, Option  int64            // what a search costs, and the option to search
	Tiers           map[string]float64
	Statuses        map[int]string
	Otherwise       string

	inRequest, inAnswer map[string]field // by path
}

// protocols are those of protocols.yaml.
var protocols = sync.OnceValue(func() map[API]*protocol {
	all := tableIn[map[API]*protocol](protocolsFile, "protocols")
	for _, p := range all {
		p.inRequest, p.inAnswer = byPath(p.Request, all["gateways"].Request), byPath(p.Answer)
	}
	return all
})

// byPath turns lists of paths around.
func byPath(lists ...map[field][]string) map[string]field {
	out := map[string]field{}
	for _, list := range lists {
		for f, paths := range list {
			for _, path := range paths {
				out[fold(path)] = f
			}
		}
	}
	return out
}
