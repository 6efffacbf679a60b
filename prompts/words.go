package prompts

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Catalogue is what reprise says to people about a run, in one language: the
// content of words/en.json or words/ja.json. Fields are words and sentences as
// they are; what takes values is a method, and its sentence is in Forms.
//
// A catalogue is shared by all who use it, so nobody may change its maps.
type Catalogue struct {
	Language string // "en" or "ja"

	Pipeline, Phase, Step, Status, Attempts, Cost, Elapsed, Agent, Model string
	Job, Branch, PullRequest, Artifact, Result, Report                   string
	Findings, Questions, Rollbacks, Commands, Progress                   string
	Removed, RemovedNote                                                 string // heading and explanation of what was taken out of the issue
	Stopped, WhatNow, None, DryRun                                       string

	Forms forms

	Steps       map[string]string // execute, review, revise, check
	Statuses    map[string]string // of runs, phases and attempts
	Verdicts    map[string]string // pass, pass_with_suggestions, fail
	Severities  map[string]string // blocker, suggestion
	Changes     map[string]string // of a finding: new, still_open, fixed
	Confidences map[string]string // of an agent in what it proposes: low, medium, high
	Kinds       map[string]string // of removals
	Events      map[string]string // what stands in the history of a run besides attempts
	Codes       map[string]Advice // by reason code
	Reasons     grouped           // by the code of a reason in the record, see Reason
	Log         map[string]string // of the log of a run, see Logged
	Show        grouped           // of what commands show of a run, see Shown
	Tell        SummaryWords
	Files       FileWords
	Sandbox     SandboxWords
	Comment     CommentWords
	Command     CommandWords
}

// forms are the sentences that the methods of Catalogue put values into.
type forms struct {
	Headline, Round, Spent, SpentOf, About, Tokens, Open string
	RolledBack, RolledBackBy, Automatic, RolledBackAsked string
	Removal, WaitingFor, WaitingForRole                  string
	Seconds, Minutes, Hours, WholeMinutes                string
	Listed, Sentences, Stop                              string // between names, between sentences, and at the end of one
	UnknownCode                                          Advice
}

// Advice explains a reason code.
type Advice struct {
	Meaning string // one sentence: what happened
	Do      string // one sentence: what to do about it
}

// grouped are words by their key. In the file they stand in groups whose names
// are for readers only, so a key is in one group.
type grouped map[string]string

// UnmarshalJSON puts all groups into one map.
func (g *grouped) UnmarshalJSON(data []byte) error {
	var groups map[string]map[string]string
	if err := json.Unmarshal(data, &groups); err != nil {
		return err
	}
	*g = grouped{}
	for _, group := range groups {
		for key, text := range group {
			if _, twice := (*g)[key]; twice {
				return fmt.Errorf("%q is in two groups", key)
			}
			(*g)[key] = text
		}
	}
	return nil
}

var (
	//go:embed words/en.json
	englishWords []byte
	//go:embed words/ja.json
	japaneseWords []byte

	english  = sync.OnceValue(func() Catalogue { return mustDecode(englishWords) })
	japanese = sync.OnceValue(func() Catalogue { return mustDecode(japaneseWords) })
)

// Words returns the catalogue of a language; of one it does not know, the
// English one. A catalogue is decoded when it is first asked for.
func Words(language string) Catalogue {
	if language == "ja" {
		return japanese()
	}
	return english()
}

// mustDecode reads one of the files that are part of the program.
func mustDecode(data []byte) Catalogue {
	c, err := decodeWords(data)
	if err != nil {
		panic(fmt.Sprintf("prompts: the words of reprise: %v", err)) // a test reads both files
	}
	return c
}

// decodeWords reads the words of one language. A key that Catalogue does not
// have is an error.
func decodeWords(data []byte) (Catalogue, error) {
	var c Catalogue
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return Catalogue{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return Catalogue{}, fmt.Errorf("there is more behind the words")
	}
	return c, nil
}
