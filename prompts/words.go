package prompts

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/prompts/clean"
)

// Catalogue is what reprise says to people about a run, in one language. The key of a text is its path in
// words/en.json, without the groups of reasons and of what is shown, and without "forms".
type Catalogue struct {
	Language string // "en" or "ja"
	words    map[string]string
}

// Advice explains a reason code.
type Advice struct {
	Meaning string // one sentence: what happened
	Do      string // one sentence: what to do about it
}

var (
	//go:embed words/en.json
	englishWords []byte
	//go:embed words/ja.json
	japaneseWords []byte

	english  = sync.OnceValue(func() Catalogue { return mustDecode("en", englishWords) })
	japanese = sync.OnceValue(func() Catalogue { return mustDecode("ja", japaneseWords) })
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
func mustDecode(language string, data []byte) Catalogue {
	var file map[string]any
	c := Catalogue{language, map[string]string{}}
	err := json.Unmarshal(data, &file)
	if err == nil {
		err = c.add("", file)
	}
	if err != nil {
		panic(fmt.Sprintf("prompts: the words of reprise: %v", err)) // a test reads both files
	}
	return c
}

// add takes in a group of the file.
func (c Catalogue) add(path string, group map[string]any) error {
	for name, v := range group {
		switch v := v.(type) {
		case map[string]any:
			below := path + name + "."
			if name == "forms" || path == "reasons." || path == "show." {
				below = path
			}
			if err := c.add(below, v); err != nil {
				return err
			}
		case string:
			if _, twice := c.words[path+name]; twice {
				return fmt.Errorf("%q is there twice", path+name)
			}
			c.words[path+name] = v
		default:
			return fmt.Errorf("%q is no text", path+name)
		}
	}
	return nil
}

// Say gives the text of a key, with the values of pairs for {name} in it; {name|one|many} goes with a
// number. Values are not looked at again.
func (c Catalogue) Say(key string, pairs ...any) string {
	values := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values[fmt.Sprint(pairs[i])] = fmt.Sprint(pairs[i+1])
	}
	return c.fill(key, values)
}

// counted is a word that goes with a number, such as {n|file|files}.
var counted = regexp.MustCompile(`\{(\w+)\|([^{}|]*)\|([^{}|]*)\}`)

func (c Catalogue) fill(key string, values map[string]string) string {
	text := counted.ReplaceAllStringFunc(c.words[key], func(form string) string {
		parts := counted.FindStringSubmatch(form)
		if values[parts[1]] == "1" {
			return parts[2]
		}
		return parts[3]
	})
	var pairs []string
	for name, v := range values {
		pairs = append(pairs, "{"+name+"}", v)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Word gives the word for a key of the record, such as the status waiting among statuses; for
// one without a word the key.
func (c Catalogue) Word(kind, key string) string {
	if word, ok := c.words[kind+"."+key]; ok {
		return word
	}
	return key
}

// Reason puts a reason of the record into words. One that it does not know, as
// a newer version has written it, is shown as it stands.
func (c Catalogue) Reason(code string, values map[string]string) string {
	if _, known := c.words["reasons."+code]; !known {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			code += fmt.Sprintf(" %s=%s", name, values[name])
		}
		return code
	}
	said := maps.Clone(values)
	for name, kind := range map[string]string{"step": "steps", "status": "statuses", "confidence": "confidences"} {
		if v, has := said[name]; has {
			said[name] = c.Word(kind, v)
		}
	}
	return c.fill("reasons."+code, said)
}

// Logged gives a line, or a part of one, of the log of a run. What has no words is its own.
func (c Catalogue) Logged(what string, pairs ...any) string {
	if _, known := c.words["log."+what]; !known {
		return what
	}
	return c.Say("log."+what, pairs...)
}

// Shown gives a line, or a part of one, of what commands show of a run in a terminal.
func (c Catalogue) Shown(what string, pairs ...any) string { return c.Say("show."+what, pairs...) }

// Stop ends a sentence.
func (c Catalogue) Stop() string { return c.Say("stop") }

// Headline says where a run is: phase n of m, by name, and the step.
func (c Catalogue) Headline(n, m int, phase, step string) string {
	return c.Say("headline", "n", n, "m", m, "phase", phase, "step", c.Word("steps", step))
}

// Spent says what was spent, in US dollars, of which budget; a budget of 0 is
// none. An estimated amount is marked so.
func (c Catalogue) Spent(usd, budget float64, estimated bool) string {
	amount := fmt.Sprintf("$%.2f", usd)
	switch {
	case usd > 0 && usd < 0.005:
		amount = "<$0.01"
	case estimated:
		amount = c.Say("about", "usd", amount)
	}
	if budget == 0 {
		return c.Say("spent", "usd", amount)
	}
	return c.Say("spentOf", "usd", amount, "budget", fmt.Sprintf("$%.2f", budget))
}

// Duration says how long something took, to the second, or to the minute from
// an hour on.
func (c Catalogue) Duration(d time.Duration) string {
	s := int(max(0, d).Round(time.Second) / time.Second)
	h, m, s := s/3600, s/60%60, s%60
	form := "seconds"
	switch {
	case h > 0:
		form = "hours"
	case m > 0:
		form = "minutes"
	}
	return c.Say(form, "h", h, "m", m, "s", s)
}

// RolledBack is one entry of the history of rollbacks, without its reason. By is the person, or with
// automatic the one who has asked the agent; empty: not known.
func (c Catalogue) RolledBack(from, to, toStep, by string, automatic bool) string {
	form := "rolledBackBy"
	switch {
	case automatic && by != "":
		form = "rolledBackAsked"
	case automatic:
		form = "automatic"
	case by == "":
		form = "rolledBack"
	}
	return c.Say(form, "from", from, "to", to, "step", c.Word("steps", toStep), "by", by)
}

// WaitingFor says for whom a phase waits: a role, or any person if empty.
func (c Catalogue) WaitingFor(role, phase string) string {
	if role == "" {
		return c.Say("waitingFor", "phase", phase)
	}
	return c.Say("waitingForRole", "role", role, "phase", phase)
}

// RemovedFrom lists what was taken out of a text, one line for each kind.
func (c Catalogue) RemovedFrom(removed []clean.Removal) (lines []string) {
	for _, r := range removed {
		lines = append(lines, c.Say("removal", "kind", c.Word("kinds", string(r.Kind)), "count", r.Count, "sample", r.Sample))
	}
	return lines
}

// Explain says what a reason code means and what to do.
func (c Catalogue) Explain(code string) Advice {
	if _, known := c.words["codes."+code+".meaning"]; known {
		return Advice{c.Say("codes." + code + ".meaning"), c.Say("codes." + code + ".do")}
	}
	return Advice{c.Say("unknownCode.meaning", "code", code), c.Say("unknownCode.do")}
}

// List puts names into one line.
func (c Catalogue) List(items []string) string { return strings.Join(items, c.Say("listed")) }

// Sentences puts reasons into one line.
func (c Catalogue) Sentences(all []string) string { return strings.Join(all, c.Say("sentences")) }
