package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// claudeStream reads the events of Claude Code.
type claudeStream struct {
	said
	servers servers
	message string         // the newest one, by its id
	earlier metadata.Usage // of the messages before it
	word    string         // for the newest error, as the program names it
	delay   time.Duration  // as the service asked
}

// line takes one line of the stream. What is no event is left out.
func (s *claudeStream) line(data []byte) process.Reaction {
	var e ClaudeEvent
	if !decode(data, &e) {
		return process.GoOn
	}
	switch {
	case e.Type == "system" && e.Subtype == "init":
		s.result.Session, s.result.Model = sessionOf(e.Session, s.result.Session), wordFrom(e.Model)
		s.hearServers(e)
		s.notify("")
	case e.Type == "system" && e.Subtype == "api_retry":
		return s.retry(e)
	case e.Type == "assistant":
		return s.assistant(e)
	case e.Type == "user" && len(e.Message.Content) > 0:
		return s.came(string(e.Message.Content[0].Content))
	case e.Type == "result":
		return s.end(e)
	}
	return process.GoOn
}

// hearServers hears which servers of tools are there. One that is still awaited may yet come.
func (s *claudeStream) hearServers(e ClaudeEvent) {
	for _, ours := range s.servers {
		for _, told := range e.Servers {
			if why := s.servers.unserved(ours.name, ""); told.Name == ours.name && told.Status != "connected" && told.Status != "pending" && !slices.Contains(s.result.Warnings, why) {
				s.result.Warnings = append(s.result.Warnings, why)
			}
		}
	}
}

// retry hears that the program tries again, as it would for minutes with a wrong key.
func (s *claudeStream) retry(e ClaudeEvent) process.Reaction {
	s.word = wordOf(e.Word)
	err := s.fault(e.Status, "", fmt.Sprintf("the model's service refused (%s)", describe(e.Status, s.word)))
	if err.Class == metadata.Auth {
		s.failed = err
		return process.GiveUp
	}
	if s.delay = delayOf(e.DelayMS / 1000); err.Class == metadata.RateLimited {
		err.RetryAfter = s.delay
	}
	s.trouble = err
	if err.Class == metadata.RateLimited && s.delay >= gate.Patience && s.result.Usage.Turns == 0 {
		s.failed = err // nothing is lost yet, and somebody else may have room
		return process.GiveUp
	}
	return process.GoOn
}

func (s *claudeStream) assistant(e ClaudeEvent) (then process.Reaction) {
	if s.word = wordOf(e.Word); s.word == "" {
		s.trouble = nil // it got over it
		s.count(wordFrom(e.Message.ID), e.Message.Usage)
	}
	s.result.Usage, _ = s.cli.priced(cmp.Or(wordFrom(e.Message.Model), s.result.Model), s.result.Usage)
	for _, b := range e.Message.Content {
		switch {
		case b.Type == "text":
			s.result.Text = b.Text
			s.notify(b.Text)
		case b.Type == "tool_use" && b.Name != "StructuredOutput": // that one is the answer
			s.result.ToolCalls++
			s.ran = s.ran || b.Name == "Bash"
			s.notify(b.Name + " " + target(b.Input, s.task.Dir))
			then = max(then, s.uses(b.Name+" "+string(b.Input)))
		}
	}
	return then
}

// count takes the usage of a message, which comes with each part of it, and
// adds up what is used so far.
func (s *claudeStream) count(id string, u ClaudeUsage) {
	if id != s.message || s.result.Usage.Turns == 0 {
		s.message, s.earlier = id, s.result.Usage
	}
	s.result.Usage = s.earlier
	s.result.Usage.Turns++
	s.add(u)
	s.result.Usage = sane(s.result.Usage)
}

func (s *claudeStream) add(u ClaudeUsage) {
	s.result.Usage.InputTokens += tokens(u.Input) + tokens(u.CacheCreation)
	s.result.Usage.CachedTokens += tokens(u.CacheRead)
	s.result.Usage.OutputTokens += tokens(u.Output)
}

// end takes the result. Its subtype says "success" even where the service
// refused: is_error has the last word.
func (s *claudeStream) end(e ClaudeEvent) process.Reaction {
	r := &s.result
	r.Session, r.Text, r.Structured = sessionOf(e.Session, r.Session), e.Result, e.Structured
	for _, d := range e.Denials {
		s.deny(d.Tool)
	}
	s.takeUsage(e)
	switch {
	case e.Subtype == "success" && e.IsError:
		s.failed = s.fault(e.APIStatus, e.Result, cmp.Or(process.OneLine(e.Result, 300), describe(e.APIStatus, s.word)))
		if s.failed.Class == metadata.RateLimited {
			s.failed.RetryAfter = max(s.failed.RetryAfter, s.delay)
		}
		return process.Done
	case e.Subtype == "success":
	case e.Subtype == "error_max_turns":
		r.Limit = "turns"
	case e.Subtype == "error_max_budget_usd":
		r.Limit = "budget"
	case e.Subtype == "error_max_structured_output_retries":
		r.Warnings = append(r.Warnings, "claude tried several times to give a structured answer, and could not")
	case s.task.Resume && e.Turns == 0:
		s.failed = s.cli.gone(s.task.Session)
		return process.Done
	default:
		why := strings.Join(e.Errors, "; ")
		s.failed = s.fault(0, why, fmt.Sprintf("it stopped with %s: %s", wordFrom(e.Subtype), process.OneLine(why, 300)))
		return process.Done
	}
	s.done = true
	return process.Done
}

// takeUsage takes the program's own figures. Where a limit ended it, the usage is
// zero and only the figures by model are right.
func (s *claudeStream) takeUsage(e ClaudeEvent) {
	defer func() { s.result.Usage = sane(s.result.Usage) }()
	if e.USD == 0 && e.Usage == (ClaudeUsage{}) && len(e.ModelUsage) == 0 {
		s.result.Usage.Turns = e.Turns
		return // nothing was billed, or nothing is told: what was seen counts
	}
	s.result.Usage = metadata.Usage{Turns: e.Turns, USD: e.USD}
	if e.Usage != (ClaudeUsage{}) {
		s.add(e.Usage)
		return
	}
	for _, m := range e.ModelUsage {
		s.add(ClaudeUsage(m))
	}
}

// fault is the error of a call that ended with a status and words. Why says it for people.
func (s *claudeStream) fault(status int, said, why string) *engine.AgentError {
	return s.cli.told(fmt.Sprintf("HTTP %d, %s: %s", status, s.word, said), errors.New(why))
}

// wordOf reads a word that may be missing, or an object.
func wordOf(raw json.RawMessage) (word string) {
	decode(raw, &word)
	return wordFrom(word)
}

// describe names an answer of the service.
func describe(status int, word string) string {
	switch {
	case status == 0 && (word == "" || word == "unknown"):
		return "no answer"
	case status == 0:
		return word
	case word == "":
		return fmt.Sprintf("HTTP %d", status)
	}
	return fmt.Sprintf("HTTP %d, %s", status, word)
}
